# SPDX-License-Identifier: Apache-2.0
"""A damaged or missing cache of machine code costs time, and never a start or a result."""

import importlib.util
import shutil
import warnings

import numpy as np
import pytest

pytest.importorskip('numba', reason='pip install numba')

from c3p_kernels import code_cache, compiled
from c3p_kernels.code_cache import MachineCodeWarning

SOURCE = """
from c3p_kernels.compiled import kernel


@kernel
def doubled(value):
    return 2 * value + {addend}
"""


@pytest.fixture(autouse=True)
def first_of_its_process(monkeypatch):
    # the code lies beside the sources of a test, wherever that of the suite is kept
    monkeypatch.setattr(code_cache.caching.config, 'CACHE_DIR', '')
    monkeypatch.setattr(code_cache, '_given', set())


@pytest.fixture
def source(tmp_path):
    """Return a source file with a kernel."""
    return written(tmp_path / 'kernels_of_a_test.py', 1)


def written(path, addend):
    path.write_text(SOURCE.format(addend=addend), encoding='utf-8')
    # Python compares bytecode with the seconds and the size of its source, which may be the same
    for bytecode in path.parent.glob('__pycache__/*.pyc'):
        bytecode.unlink()
    return path


def results(path):
    """Import a source anew; return the results of its kernel, texts of warnings and the hits."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(found)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        found.loader.exec_module(module)
        values = module.doubled(3), module.doubled(1.5)
    told = [f'{one.message}' for one in seen if one.category is MachineCodeWarning]
    return values, told, sum(module.doubled.stats.cache_hits.values())


def emptied(path):
    path.write_bytes(b'')


def cut(path):
    path.write_bytes(path.read_bytes()[:200])


def halved(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) // 2])


def noise(path):
    path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size))


def zeros_in_it(path):
    """Put blocks of zeros where the file system had not yet written: it loads, and does wrong."""
    whole = bytearray(path.read_bytes())
    middle = len(whole) // 2
    whole[middle:middle + 64] = bytes(64)
    path.write_bytes(whole)


def one_bit(path):
    whole = bytearray(path.read_bytes())
    whole[-len(whole) // 3] ^= 16
    path.write_bytes(whole)


@pytest.mark.parametrize('damage', [emptied, cut, halved, noise, zeros_in_it, one_bit])
@pytest.mark.parametrize('ending', ['nbi', '1.nbc', '2.nbc'])
def test_a_damaged_file_is_compiled_and_written_again(source, ending, damage):
    assert results(source) == ((7, 4.0), [], 0)
    assert results(source) == ((7, 4.0), [], 2)
    file, = source.parent.glob(f'__pycache__/*.{ending}')
    damage(file)
    values, told, hits = results(source)
    assert values == (7, 4.0) and hits < 2
    if (ending, damage) != ('nbi', one_bit):
        # a bit of an index may make an entry that is looked for by nothing
        assert len(told) == 1 and f'{file.parent}' in told[0] and 'power cut' in told[0]
    assert '\n' not in ''.join(told)
    code_cache._given.clear()
    assert results(source) == ((7, 4.0), [], 2)


@pytest.mark.parametrize('ending', ['nbi', '1.nbc'])
def test_a_folder_in_the_place_of_a_file_leaves_its_kernel_uncached(source, ending):
    results(source)
    file, = source.parent.glob(f'__pycache__/*.{ending}')
    file.unlink()
    file.mkdir()
    values, told, _ = results(source)
    assert values == (7, 4.0)
    assert 'cannot be kept' in told[-1] and 'NUMBA_CACHE_DIR' in told[-1]


def test_code_of_an_older_source_is_not_loaded_for_an_index_written_before_its_data(source):
    """As where power fails between both: the index is of the new source, the data of the old."""
    results(source)
    old, = source.parent.glob('__pycache__/*.1.nbc')
    kept = old.read_bytes()
    assert results(written(source, 2))[0] == (8, 5.0)
    old.write_bytes(kept)
    values, told, _ = results(source)
    assert values == (8, 5.0) and 'another version of the source' in told[0]


def test_code_for_other_types_is_not_loaded_where_two_processes_gave_one_number(source):
    results(source)
    one, other = (source.parent / f'__pycache__/{name}' for name in sorted(
        path.name for path in source.parent.glob('__pycache__/*.nbc')))
    shutil.copy(one, other)
    values, told, _ = results(source)
    assert values == (7, 4.0) and 'other types' in told[0]


def test_a_cache_of_numba_alone_is_replaced_without_a_word(source, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(compiled, 'CodeCache', code_cache.caching.FunctionCache)
        results(source)
        assert results(source) == ((7, 4.0), [], 2)
    assert results(source) == ((7, 4.0), [], 0)
    assert results(source) == ((7, 4.0), [], 2)


def test_a_full_or_closed_place_is_one_warning_with_its_remedy(source, monkeypatch):
    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(code_cache.caching.IndexDataCacheFile, '_save_data', full)
    values, told, _ = results(source)
    assert values == (7, 4.0) and len(told) == 1
    assert 'No space left on device' in told[0] and 'NUMBA_CACHE_DIR' in told[0]


@pytest.fixture
def closed_places(monkeypatch):
    """No folder can be written to: a read-only installation, and no home."""
    def closed(*_):
        raise PermissionError(13, 'Permission denied')

    caching = code_cache.caching
    monkeypatch.setattr(caching._CacheLocator, 'ensure_cache_path', closed)
    monkeypatch.setattr(caching.IndexDataCacheFile, '_open_for_write', closed)


def test_without_a_writable_place_each_process_compiles(source, closed_places):
    values, told, hits = results(source)
    assert values == (7, 4.0) and hits == 0 and len(told) == 1
    assert 'cannot be kept' in told[0] and 'NUMBA_CACHE_DIR' in told[0]


def test_code_beside_read_only_sources_is_loaded(source, request):
    results(source)
    request.getfixturevalue('closed_places')
    assert results(source) == ((7, 4.0), [], 2)
