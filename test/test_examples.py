# SPDX-License-Identifier: Apache-2.0
"""The examples of all docstrings run, and print what is written."""

import doctest
import importlib

import pytest
from source_tree import SOURCES, module_name

PROMPT = '>>> '
MODULES = [module_name(path) for path in SOURCES if PROMPT in path.read_text(encoding='utf-8')]


@pytest.mark.parametrize('name', MODULES)
def test_examples_print_what_is_written(name, capfd):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith('c3p_'):
            raise
        pytest.skip(f'needs {error.name}')
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed, capfd.readouterr().out
    with open(module.__file__, encoding='utf-8') as source:
        assert tried == sum(line.lstrip().startswith(PROMPT) for line in source), (
            'doctest finds examples of functions, classes and modules only')
