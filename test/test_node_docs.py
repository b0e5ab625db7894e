# SPDX-License-Identifier: Apache-2.0
"""docs/nodes.md against the schemas and against the nodes as they are created."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/nodes.md').read_text(encoding='utf-8')


def script(name='write_node_docs'):
    """Return a module of scripts/."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / f'scripts/{name}.py')
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


# without ROS 2 there are no nodes to look at, and `bench` skips
try:
    CONTRACTS = script('node_contracts')
    STARTS = [(name, options) for name in CONTRACTS.DOCUMENTED
              for options in CONTRACTS.VARIANTS.get(name, ({},))]
except ModuleNotFoundError:
    STARTS = [('sensed_kinematics', {})]


def test_parameter_tables_are_those_of_the_schemas():
    assert script().rewritten(PAGE) == PAGE, 'run: python scripts/write_node_docs.py'


def test_a_schema_without_a_table_is_named():
    with pytest.raises(ValueError, match='no table for .*inverse_dynamics'):
        script().rewritten(PAGE.replace('<!-- parameters: inverse_dynamics -->', ''))


def test_a_table_without_a_schema_is_named():
    with pytest.raises(ValueError, match='a table for nobody'):
        script().rewritten(PAGE + '<!-- parameters: nobody -->\n<!-- end -->\n')


def test_schemas_read_without_ros_are_those_of_the_nodes():
    parameters = pytest.importorskip('c3p_ros.parameters', reason='needs rclpy')
    for path in ROOT.glob('c3p_*/**/*_parameters.yaml'):
        (node,) = [n for n in script().schemas() if path.name == f'{n}_parameters.yaml']
        assert parameters.read_schema(path) == script().schemas()[node]


@pytest.mark.parametrize('name, options', STARTS, ids=str)
# a node compiles its kernels before it starts: for rough_ground a minute of work, once
@pytest.mark.timeout(400)
def test_topics_and_services_are_those_of_the_node(name, options, bench):
    node = bench.add(CONTRACTS.node_class(name), **options)
    tables = CONTRACTS.tables(PAGE)
    written, offered = tables['common'] | tables[name], CONTRACTS.offers(node)
    for place, value in offered.items():
        assert place in written, (f'{name}: {place} {value} is not in docs/nodes.md; '
                                  'run: python scripts/write_node_docs.py')
        assert written[place][:2] == value, f'{name}: {place}'
    for place, row in written.items():
        assert row.meaning, f'{name}: {place}: nobody wrote what it means'
        # a condition on a parameter holds exactly; others need a package or a listener
        condition = CONTRACTS.CONDITION.fullmatch(row.when)
        if condition:
            value = getattr(node.parameters.value, condition[1])
            assert (value in condition[2].split(', ')) == (place in offered), (place, value)
        assert place in offered or row.when, f'docs/nodes.md: {name} does not have {place}'


def test_a_table_takes_type_and_quality_from_the_node_and_keeps_what_was_written():
    contracts = pytest.importorskip('rclpy') and CONTRACTS
    page = (f'<!-- topics: common -->\n{contracts.HEAD}\n<!-- end -->\n'
            f'<!-- topics: one -->\n{contracts.HEAD}\n'
            '| publishes | `odom` | old/msg/Type | latest | | where it is |\n'
            '| publishes | `gone` | a/msg/B | latest | | nobody has it |\n'
            '| service | `~/sometimes` | a/srv/C | | d is installed | believed |\n<!-- end -->\n')
    offered = {('publishes', 'odom'): ('nav_msgs/msg/Odometry', 'reliable'),
               ('subscribes', 'new'): ('a/msg/D', 'latched')}
    lines = contracts.rewritten(page, {'one': offered}).splitlines()
    assert lines[-4:-1] == [
        '| publishes | `odom` | nav_msgs/msg/Odometry | reliable | | where it is |',
        '| service | `~/sometimes` | a/srv/C | | d is installed | believed |',
        '| subscribes | `new` | a/msg/D | latched | | |']
    with pytest.raises(ValueError, match="no table for .*'other'"):
        contracts.rewritten(page, {'other': offered})


def test_links_between_pages_lead_somewhere():
    pages = [*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')]
    for page in pages:
        for target in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', page.read_text(encoding='utf-8')):
            # pictures are made by the quick start
            if not target.endswith(('.png', '.svg')):
                assert (page.parent / target).exists(), f'{page.name} links to {target}'
