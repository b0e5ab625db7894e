# SPDX-License-Identifier: Apache-2.0
"""Names of nodes of a topic's endpoints, of which rmw may not know all yet."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros.endpoints import UNNAMED, node_of, nodes_of  # noqa: E402


def end(name, space='/lab/'):
    return SimpleNamespace(node_namespace=space, node_name=name)


UNDISCOVERED = end('_NODE_NAME_UNKNOWN_', '_NODE_NAMESPACE_UNKNOWN_')


@pytest.mark.parametrize(('of', 'shown'), [
    (end('simulation'), '/lab/simulation'), (end('simulation', '/'), '/simulation'),
    (UNDISCOVERED, UNNAMED)])
def test_an_endpoint_has_the_name_of_its_node_once_that_is_discovered(of, shown):
    assert node_of(of) == shown


def test_nodes_are_named_once_and_hidden_and_undiscovered_ones_left_out():
    ends = [end('b'), UNDISCOVERED, end('a'), end('_ros2cli_7'), end('b')]
    assert nodes_of(ends) == ['/lab/a', '/lab/b']
