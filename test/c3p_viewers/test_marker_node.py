# SPDX-License-Identifier: Apache-2.0
"""The marker node against a robot that runs: idle without listeners, and right with them."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry, Path  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from c3p_ros.node import LATCHED, SENSOR_DATA  # noqa: E402
from c3p_rough_ground.node.rough_ground_node import RoughGroundNode  # noqa: E402
from c3p_rough_ground.worlds.terrain_files import load_terrain  # noqa: E402
from c3p_viewers.marker_node import LOOK_PERIOD, MarkerNode  # noqa: E402
from c3p_viewers.sources.moment_reader import MARKER_TOPICS as TOPICS  # noqa: E402


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
    # only the one that looks, and that of the diagnostics, which are early once
    bench.wait_for(lambda: max(1e9 / timer.timer_period_ns for timer in bench.timers(node))
                   <= 1.0 / LOOK_PERIOD, 'idle timers')
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
    assert node.markers.settings.slip_time == 5.0
    assert not bench.set_parameter('marker', 'slip_time', -1.0).successful


def points_of(marker):
    return np.array([(p.x, p.y, p.z) for p in marker.points])


def tricycle(bench, **options):
    """Add the marker node of a tricycle; returns what it publishes."""
    bench.add(MarkerNode, robot='pvc_tricycle', timeout=30.0, **options)
    return (bench.collect(MarkerArray, 'rough_ground/terrain', LATCHED),
            bench.collect(MarkerArray, 'rough_ground/contact_paths', LATCHED),
            bench.collect(MarkerArray, 'rough_ground/camber'))


@pytest.mark.timeout(400)
def test_the_tricycle_is_drawn_on_its_ground_from_its_topics(bench):
    # its contacts are found from joint states and odometry: compared with those of the simulation
    node = bench.add(RoughGroundNode, terrain='hills', start_pose=[1.0, -0.5, 0.3])
    terrain, paths, camber = tricycle(bench, terrain='hills', terrain_size=8.0, path_points=5,
                                      path_spacing=0.01, path_rate=20.0)
    bench.wait_for(lambda: terrain and camber and paths and len(
        paths[-1].markers[0].points) == 6, 'the ground, the camber and full paths')
    marker, = terrain[0].markers
    points = points_of(marker)
    assert marker.header.frame_id == 'odom' and len(points) == 3 * 2 * 40 * 40
    assert np.isfinite(points).all() and len(marker.colors) == len(points)
    assert (points.min(axis=0)[:2] == -4.0).all() and (points.max(axis=0)[:2] == 4.0).all()
    assert [len(m.points) for m in paths[-1].markers] == [6] * 6
    contact, centre = (np.concatenate([points_of(m) for m in part]) for part in (
        paths[-1].markers[:3], paths[-1].markers[3:]))
    np.testing.assert_allclose(contact[:, 2], load_terrain('hills').height(*contact.T[:2]),
                               rtol=0, atol=1e-9)
    # a wheel of 0.3 m
    np.testing.assert_allclose(np.linalg.norm(contact - centre, axis=1), 0.3, atol=0.01)
    near = np.linalg.norm(contact.reshape(3, 6, 3)[:, -1] - node.run.contact_point, axis=1)
    assert near.max() < 0.3
    assert {m.header.frame_id for m in camber[0].markers[1:]} == {'base_link'}


@pytest.mark.timeout(400)
def test_another_vehicle_has_ground_and_paths_and_no_camber(bench):
    bench.add(RoughGroundNode, robot='rover', terrain='gentle', publish_clock=False)
    bench.add(MarkerNode, robot='rover', timeout=30.0, terrain='gentle', terrain_size=4.0,
              path_points=5, path_spacing=0.01, path_rate=20.0)
    terrain, paths, camber = (bench.collect(MarkerArray, f'rough_ground/{name}', *quality)
                              for name, quality in (('terrain', [LATCHED]),
                                                    ('contact_paths', [LATCHED]), ('camber', [])))
    bench.wait_for(lambda: terrain and paths and len(paths[-1].markers[0].points) == 6,
                   'the ground and full paths')
    # four contacts and four centres
    assert [len(m.points) for m in paths[-1].markers] == [6] * 8 and not camber


@pytest.mark.timeout(400)
def test_the_ground_follows_the_tricycle(bench):
    terrain, _, _ = tricycle(bench, terrain='flat', terrain_size=2.0)
    publisher = bench.publisher(Odometry, 'odom', SENSOR_DATA)
    joints = bench.publisher(JointState, 'joint_states', SENSOR_DATA)
    node = bench.nodes['marker']
    state = JointState(name=['steering_joint_1', 'wheel_joint_1', 'camber_joint_2',
                             'wheel_joint_2', 'camber_joint_3', 'wheel_joint_3'],
                       position=[0.0] * 6)
    for count, x in enumerate((0.0, 0.4, 3.0), 1):
        odometry = Odometry()
        odometry.header.frame_id = 'odom'
        odometry.pose.pose.position.x, odometry.pose.pose.position.z = x, 0.3
        odometry.pose.pose.orientation.w = 1.0
        bench.wait_for(lambda: heard(node) >= {'odom'}, 'subscriptions')
        bench.publish_until(joints, state, lambda: node.markers.reader.received('joint_states'),
                            'joint states')
        bench.publish_until(publisher, odometry, lambda count=count: len(terrain) >= (
            1 if count < 3 else 2), 'a ground')
    # within the middle half it stays
    assert len(terrain) == 2
    assert np.mean(points_of(terrain[1].markers[0]), axis=0)[0] == pytest.approx(3.0, abs=1e-9)


def test_without_odometry_the_camber_is_drawn_alone(bench):
    terrain, paths, camber = tricycle(bench)
    node = bench.nodes['marker']
    bench.wait_for(lambda: heard(node) >= {'joint_states'}, 'subscriptions')
    publisher = bench.publisher(JointState, 'joint_states', SENSOR_DATA)
    message = JointState(name=['steering_joint_1', 'wheel_joint_1', 'camber_joint_2',
                               'wheel_joint_2', 'camber_joint_3', 'wheel_joint_3'],
                         position=[0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    bench.publish_until(publisher, message, lambda: camber, 'the camber')
    assert 'camber 11.46 deg' in {m.text for m in camber[0].markers}
    assert not terrain and not paths
