# SPDX-License-Identifier: Apache-2.0
"""The table of nodes against what setup.py installs and against the classes themselves."""

import re
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs rclpy')

from c3p_bringup.nodes import (  # noqa: E402
    CHAIN,
    NODES,
    ROBOTS,
    executable_of,
    module_of,
    node_class,
)

ROOT = Path(__file__).parents[2]


def test_setup_installs_every_node_from_the_module_of_the_table():
    installed = dict(re.findall(r"'(\w+_node)': '([\w.]+):main'",
                                (ROOT / 'setup.py').read_text(encoding='utf-8')))
    assert installed == {executable_of(name): module_of(name) for name in NODES}


def test_robots_are_made_of_nodes_of_the_table():
    assert {*CHAIN, *(name for robot in ROBOTS.values() for name in robot)} <= set(NODES)
    assert len(set(CHAIN)) == len(CHAIN)


@pytest.mark.parametrize('name', CHAIN)
def test_a_class_is_defined_in_the_module_that_runs_it(name):
    assert node_class(name).__module__ == module_of(name)
