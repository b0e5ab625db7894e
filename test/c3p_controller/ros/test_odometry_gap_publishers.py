# SPDX-License-Identifier: Apache-2.0
"""Publishers to which a goal belongs: a restarted robot ends it, late discovery does not."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_controller.ros.robot_watch import OdometryGap  # noqa: E402


class Graph:
    """A node's view of the publishers of topics; one is added by `appear`."""

    def __init__(self, **topics):
        self.topics = topics

    def get_publishers_info_by_topic(self, topic):
        return [SimpleNamespace(endpoint_gid=[number]) for number in self.topics.get(topic, ())]


def test_a_publisher_that_is_discovered_after_the_goal_is_not_a_new_one():
    graph = Graph(odom=[1])
    gap = OdometryGap(graph, 0.2)
    gap.mark()
    graph.topics['joint_states'] = [2]
    assert gap.new() == ''
    gap.discover()
    assert gap.new() == ''
    # once known, it is held to as if it had been there at the goal
    graph.topics['joint_states'] = [3]
    gap.discover()
    assert gap.new() == 'joint_states from a new publisher'


def test_a_publisher_beside_the_known_one_is_new():
    graph = Graph(odom=[1], joint_states=[2])
    gap = OdometryGap(graph, 0.2)
    gap.mark()
    graph.topics.update(odom=[1, 4], joint_states=[2, 3])
    gap.discover()
    assert gap.new() == 'odom, joint_states from a new publisher'


def test_a_publisher_that_left_and_is_listed_again_is_not_new():
    graph = Graph(odom=[1], joint_states=[2])
    gap = OdometryGap(graph, 0.2)
    gap.mark()
    graph.topics['joint_states'] = []
    gap.discover()
    assert gap.new() == ''
    graph.topics['joint_states'] = [2]
    assert gap.new() == ''
