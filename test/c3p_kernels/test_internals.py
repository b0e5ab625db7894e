# SPDX-License-Identifier: Apache-2.0
"""What is not public in Numba is imported in one file, which names each part that has changed."""

import pytest
from source_tree import EVERYTHING, SOURCES, imports, name_of

from c3p_kernels.compiled import COMPILED

HOME = 'c3p_kernels/internals.py'
# below these names Numba promises nothing
PRIVATE = ('numba.core', 'numba.np', 'numba.cpython', 'numba.typed', 'llvmlite')

needs_compiler = pytest.mark.skipif(not COMPILED, reason='no compiler')


def private(path):
    return [module for module in imports(path) if module.startswith(PRIVATE)]


def test_no_other_file_imports_what_is_not_public_in_numba():
    of_sources = {name_of(path) for path in SOURCES if private(path)}
    assert of_sources == {HOME}
    # tools and benchmarks do not either; tests change parts of it to see what happens
    assert not [name_of(path) for path in EVERYTHING
                if private(path) and not name_of(path).startswith(('c3p_', 'test/'))]


def test_its_names_are_used_in_the_room_of_kernels_alone():
    users = {name_of(path) for path in SOURCES if 'c3p_kernels.internals' in imports(path)}
    assert users and all(name.startswith('c3p_kernels/') for name in users)


@needs_compiler
def test_the_installed_numba_is_as_it_is_used():
    from c3p_kernels import internals

    assert list(internals.changed()) == []
    internals.check()


@needs_compiler
def test_each_part_that_changed_is_named(monkeypatch):
    from c3p_kernels import internals

    def populate_array(array, data, shape, strides, itemsize):
        """As of a Numba without `meminfo`."""

    def dumps():
        """As of a Numba that takes nothing."""

    changed = [(populate_array, *internals.CALLED[-1][1:]), (dumps, 1, ())]
    monkeypatch.setattr(internals, 'CALLED', (*internals.CALLED, *changed))
    monkeypatch.setattr(internals, 'READ', ((internals.cgutils, ('unpack_tuple', 'gone')),))
    array, nothing, gone = internals.changed()
    assert 'populate_array takes (array, data, shape, strides, itemsize)' in array
    assert "unexpected keyword argument 'meminfo'" in array
    assert 'dumps takes (): too many positional arguments' in nothing
    assert gone == 'numba.core.cgutils has no gone'
    with pytest.raises(TypeError, match='meminfo.*; .*dumps.*; .*has no gone'):
        internals.check()


@needs_compiler
def test_everything_that_is_called_is_checked():
    from c3p_kernels import internals

    # those that are names of modules, classes to derive from, and a function of C
    others = {'AbstractTemplate', 'AttributeTemplate', 'Compiler', 'caching', 'cgutils',
              'default_manager', 'loads', 'CALLED', 'READ', 'changed', 'check'}
    for name in set(internals.__all__) - others:
        one = getattr(internals, name)
        assert (any(owner is one for owner, _ in internals.READ)
                or any(function in (one, getattr(one, '__init__', None))
                       for function, *_ in internals.CALLED)), name
