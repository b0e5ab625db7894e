# SPDX-License-Identifier: Apache-2.0
"""The table of nodes against what setup.py installs and against the classes themselves."""

import re
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs rclpy')

from c3p_bringup import programs  # noqa: E402
from c3p_bringup.nodes import (  # noqa: E402
    CHAIN,
    NODES,
    ROBOTS,
    executable_of,
    module_of,
    node_class,
)
from c3p_bringup.programs import PROGRAMS  # noqa: E402

ROOT = Path(__file__).parents[2]


def test_setup_installs_every_program_of_the_table_and_every_node_is_one():
    text = (ROOT / 'setup.py').read_text(encoding='utf-8')
    names = re.findall(r"'(\w+)'", re.search(r'PROGRAMS = \((.*?)\)', text, re.DOTALL)[1])
    assert sorted(names) == sorted(PROGRAMS)
    assert {executable_of(name) for name in NODES} < set(names)
    for module, function in PROGRAMS.values():
        assert callable(getattr(import_module(module), function))
    with pytest.raises(AttributeError, match='no_program: not a program; these are'):
        getattr(programs, 'no_program')  # noqa: B009


def test_robots_are_made_of_nodes_of_the_table():
    assert {*CHAIN, *(name for robot in ROBOTS.values() for name in robot)} <= set(NODES)
    assert len(set(CHAIN)) == len(CHAIN)


@pytest.mark.parametrize('name', CHAIN)
def test_a_class_is_defined_in_the_module_that_runs_it(name):
    assert node_class(name).__module__ == module_of(name)
