# SPDX-License-Identifier: Apache-2.0
"""What the doctor tests in processes of their own, and of places that cannot be written to."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import python_path

from c3p_bringup.doctor import apart, code
from c3p_bringup.doctor.check import Level, ok

ROOT = Path(__file__).parents[3]


def good():
    """Return a result."""
    return ok('a', 'there')


def at_its_end():
    """End as a C library that exits."""
    print('the last words', file=sys.stderr, flush=True)
    os._exit(102)


def asleep():
    """Take longer than anybody waits."""
    signal.pause()


@pytest.fixture
def importable(monkeypatch):
    monkeypatch.setenv('PYTHONPATH', python_path(ROOT, ROOT / 'test', Path(__file__).parent))


def test_a_check_in_its_own_process_returns_its_result_or_is_a_failure(importable, monkeypatch):
    assert apart.apart(good, 'a', 'remedy') == good()
    ended = apart.apart(at_its_end, 'b', 'remedy')
    assert ended.level is Level.FAIL and ended.remedy == 'remedy'
    assert ended.text == 'the last words (exit code 102)'
    monkeypatch.setattr(apart, 'PATIENCE', 0.2)
    assert apart.apart(asleep, 'c', 'remedy').text == 'no result within 0.2 s'


@pytest.mark.parametrize(('variable', 'value', 'failed'), [
    ('RMW_IMPLEMENTATION', 'rmw_of_nobody_cpp', {'middleware', 'robots on the air'}),
    ('ROS_DOMAIN_ID', '233', {'ROS_DOMAIN_ID', 'robots on the air'})])
def test_the_doctor_reports_to_its_end_what_would_end_it(variable, value, failed):
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    done = subprocess.run([sys.executable, '-m', 'c3p_bringup', 'doctor'], cwd=ROOT, text=True,
                          capture_output=True, env={**os.environ, variable: value})
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert {line[7:29].strip() for line in lines if line.startswith('  FAIL')} == failed
    assert lines[-1].endswith('2 that will not work')


def test_damaged_machine_code_is_a_warning(tmp_path):
    pytest.importorskip('numba', reason='pip install numba')
    folder = tmp_path / 'c3p_some/__pycache__'
    folder.mkdir(parents=True)
    for source in (ROOT / 'c3p_kernels/__pycache__').glob('elementary.wrap-*.nb?'):
        (folder / source.name).write_bytes(source.read_bytes())
    index, *_ = folder.glob('*.nbi')
    data, *_ = folder.glob('*.nbc')
    assert code.readable(index) and code.readable(data)
    for file in (index, data):
        kept = file.read_bytes()
        for damage in (b'', kept[:20], kept[:len(kept) // 2]):
            file.write_bytes(damage)
            assert not code.readable(file), len(damage)
            (check,) = code.checks(tmp_path)
            assert check.level is Level.WARN and f'{file}' in check.text
        file.write_bytes(kept)
    changed = bytearray(data.read_bytes())
    changed[len(changed) // 2] ^= 1
    data.write_bytes(changed)
    assert not code.readable(data)


def test_a_place_of_machine_code_that_is_closed_is_a_warning_with_its_remedy(monkeypatch):
    cache = pytest.importorskip('c3p_kernels.code_cache', reason='pip install numba')

    def closed(*_):
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr(cache.caching._CacheLocator, 'ensure_cache_path', closed)
    (check,) = code.checks()
    assert check.level is Level.WARN and 'Permission denied' in check.text
    assert 'NUMBA_CACHE_DIR' in check.remedy
