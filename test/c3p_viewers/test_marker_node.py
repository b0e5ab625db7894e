# SPDX-License-Identifier: Apache-2.0
"""The marker node against a robot that runs: idle without listeners, and right with them."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Path  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from c3p_ros.node import SENSOR_DATA  # noqa: E402
from c3p_viewers.marker_node import LOOK_PERIOD, MarkerNode  # noqa: E402
from c3p_viewers.scene.live import TOPICS  # noqa: E402


def heard(node):
    """Return the topics that a node subscribes."""
    return {subscription.topic_name.lstrip('/') for subscription in node.subscriptions}


def test_a_robot_that_drives_is_drawn_while_somebody_looks(in_process_robot):
    bench = in_process_robot
    # patient: what a busy machine brings late is drawn as well
    node = bench.add(MarkerNode, timeout=30.0)
    assert not heard(node) & set(TOPICS)
    scenes, paths = bench.collect(MarkerArray, 'marker/scene'), bench.collect(Path, 'marker/path')
    bench.wait_for(lambda: scenes, 'a scene')
    assert heard(node) >= set(TOPICS)
    assert scenes[0].markers[0].action == Marker.DELETEALL
    spaces = set()

    def all_seen():
        for scene in scenes:
            spaces.update(m.ns for m in scene.markers)
        scenes.clear()
        return spaces >= {'rolling_lines', 'axle_lines', 'twist', 'torque'} and paths and len(
            paths[-1].poses) > 3

    bench.command_until(all_seen, 'twist, torques and a path', 0.2, 0.0, 0.3)
    assert paths[-1].header.frame_id == 'odom'
    end = paths[-1].poses[-1].pose.position
    assert abs(end.x) + abs(end.y) > 0.0


def test_a_node_without_listeners_is_idle_before_and_after(bench):
    node = bench.add(MarkerNode, timeout=30.0)
    # only the one that looks, and that of the diagnostics
    assert max(1e9 / timer.timer_period_ns for timer in bench.timers(node)) <= 1.0 / LOOK_PERIOD
    scenes = bench.collect(MarkerArray, 'marker/scene')
    bench.wait_for(lambda: heard(node) >= set(TOPICS), 'subscriptions')
    names = [*node.robot.steering_joints, *node.robot.wheel_joints]
    publisher = bench.publisher(JointState, 'joint_states', SENSOR_DATA)
    message = JointState(name=names, position=[0.1] * 6)
    bench.publish_until(publisher, message, lambda: scenes, 'a scene')
    bench.talker.destroy_subscription(next(
        s for s in bench.talker.subscriptions if s.topic_name == '/marker/scene'))
    bench.wait_for(lambda: not heard(node) & set(TOPICS), 'no subscriptions')
    assert max(1e9 / timer.timer_period_ns for timer in bench.timers(node)) <= 1.0 / LOOK_PERIOD
    # somebody else comes, and gets the whole scene anew
    later = bench.collect(MarkerArray, 'marker/scene')
    bench.wait_for(lambda: heard(node) >= set(TOPICS), 'subscriptions')
    bench.wait_for(publisher.get_subscription_count, 'joint states')
    bench.publish_until(publisher, message, lambda: later, 'a scene')
    assert later[0].markers[0].action == Marker.DELETEALL


def test_a_bad_message_is_refused_and_the_next_one_drawn(bench):
    node = bench.add(MarkerNode, timeout=30.0)
    scenes = bench.collect(MarkerArray, 'marker/scene')
    bench.wait_for(lambda: heard(node) >= set(TOPICS), 'subscriptions')
    publisher = bench.publisher(JointState, 'joint_states', SENSOR_DATA)
    bench.publish_until(publisher, JointState(name=['elbow'], position=[1.0]),
                        lambda: node.diagnostics.refused('joint_states'), 'a refusal')
    assert not scenes
    names = [*node.robot.steering_joints, *node.robot.wheel_joints]
    bench.publish_until(publisher, JointState(name=names, position=[0.1] * 6), lambda: scenes,
                        'a scene')


def test_scales_may_change_while_it_runs(bench):
    node = bench.add(MarkerNode, timeout=30.0)
    assert bench.set_parameter('marker', 'slip_time', 5.0).successful
    assert node._live.settings.slip_time == 5.0
    assert not bench.set_parameter('marker', 'slip_time', -1.0).successful
