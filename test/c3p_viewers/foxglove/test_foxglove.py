# SPDX-License-Identifier: Apache-2.0
"""The Foxglove server, asked by a real client over a real socket."""

import json
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

pytest.importorskip('foxglove', reason='pip install .[view]')
pytest.importorskip('websockets', reason='pip install websockets')

from foxglove_client import FoxgloveClient  # noqa: E402
from synthetic import read_raw, topics_of  # noqa: E402

from c3p_description.reading.loader import robot_description  # noqa: E402
from c3p_description.reading.mesh_files import mesh_file  # noqa: E402
from c3p_viewers.foxglove.bag_player import BagPlayer  # noqa: E402
from c3p_viewers.foxglove.scene_channel import NUMBERS, SCENE  # noqa: E402
from c3p_viewers.foxglove.server import FoxgloveServer  # noqa: E402

MESH = 'package://c3p/c3p_description/meshes/tyre.stl'


@pytest.fixture(scope='module')
def urdf():
    return robot_description('c3p')


@pytest.fixture
def player(robot, urdf, viewed_bag):
    playing = BagPlayer(viewed_bag, robot, urdf, port=0)
    # not before the test asks
    playing.playing = False
    thread = threading.Thread(target=playing.run)
    thread.start()
    yield playing
    playing.close()
    thread.join()


def test_topics_come_with_their_definition_and_late_listeners_get_what_is_latched(urdf):
    server = FoxgloveServer('c3p', port=0, description=urdf)
    try:
        assert server.add('/robot_description', 'std_msgs/msg/String', latched=True)
        assert server.add('/odom', 'nav_msgs/msg/Odometry')
        assert not server.add('/own', 'own_msgs/msg/Unknown')
        server.write_message('/robot_description', 7, server.types.types['std_msgs/msg/String'](
            'hello'))
        with FoxgloveClient(server.url) as client:
            client.subscribe('/odom', '/robot_description')
            channel = client.channels['/odom']
            assert (channel['encoding'], channel['schemaEncoding']) == ('cdr', 'ros2msg')
            assert channel['schemaName'] == 'nav_msgs/msg/Odometry'
            assert 'MSG: geometry_msgs/TwistWithCovariance' in channel['schema']
            client.until(lambda: client.heard['/robot_description'])
            when, data = client.heard['/robot_description'][0]
            message = server.types.deserialize_cdr(data, 'std_msgs/msg/String')
            assert (when, message.data) == (7, 'hello') and not client.heard['/odom']
            # meshes of the description, and nothing else
            assert client.fetch(MESH) == mesh_file(MESH).read_bytes()
            for forbidden in ('package://c3p/setup.py', 'package://c3p/../../../etc/passwd',
                              'file:///etc/passwd', '/etc/passwd', ''):
                assert client.fetch(forbidden) is None
            assert server.listened('/odom')
            client.unsubscribe('/odom')
            client.until(lambda: not server.listened('/odom'))
    finally:
        server.close()


def test_a_port_that_is_taken_is_told_with_a_remedy():
    server = FoxgloveServer('c3p', port=0)
    try:
        with pytest.raises(ValueError, match='--port'):
            FoxgloveServer('c3p', port=server.port)
    finally:
        server.close()


def test_a_bag_is_played_to_its_end_and_nothing_is_lost(player, viewed_bag):
    topics = topics_of(viewed_bag)
    with FoxgloveClient(player.server.url) as client:
        assert 'playbackControl' in client.info['capabilities']
        start = client.info['dataStartTime']
        assert start['sec'] * 10**9 + start['nsec'] == player.start
        client.subscribe(*topics, SCENE, NUMBERS)
        # six seconds in much less
        answer = client.play(speed=20.0, seek=player.start)
        assert answer.sought and answer.now == player.start and answer.speed == 20.0
        client.until(lambda: client.states[-1].status == 3)
        compared = ('/joint_states', '/odom', '/tf', '/cmd_vel')
        # states overtake messages that wait
        client.until(lambda: all(len(client.heard[t]) >= topics[t][1] for t in compared))
        for topic in compared:
            recorded = [(m.time, m.data) for m in read_raw(viewed_bag, [topic])]
            # byte for byte, with the times of the recording, in order
            assert client.heard[topic] == recorded, topic
        assert client.heard['/robot_description']
        told = [json.loads(data) for _, data in client.heard[NUMBERS]]
        assert {2, 0} == {numbers['suspect'] for numbers in told}
        # entities of the scene are protobuf, with their names in them
        assert any(b'rolling_line_1' in data for _, data in client.heard[SCENE])


def test_the_app_pauses_seeks_and_goes_on(player):
    with FoxgloveClient(player.server.url) as client:
        client.subscribe('/joint_states', '/goal_pose', '/tf_static')
        middle = player.start + 2_000_000_000
        answer = client.play(pause=True, seek=middle)
        assert (answer.status, answer.now) == (1, middle)
        # what was latched before is there, though nothing plays
        client.until(lambda: client.heard['/goal_pose'] and client.heard['/tf_static'])
        client.heard['/joint_states'].clear()
        assert client.play(speed=4.0).status == 0
        client.until(lambda: len(client.heard['/joint_states']) > 5)
        times = np.array([when for when, _ in client.heard['/joint_states']])
        assert times[0] >= middle and (np.diff(times) > 0).all()
        # back to the start, and beyond the ends to them
        assert client.play(pause=True, seek=1).now == player.start
        assert client.play(pause=True, seek=2**62).now == player.end
        client.heard['/joint_states'].clear()
        client.play(speed=4.0, seek=player.start)
        client.until(lambda: client.heard['/joint_states'])
        assert client.heard['/joint_states'][0][0] < middle


@pytest.mark.real_time
def test_live_topics_are_subscribed_only_while_somebody_looks(open_bench, robot):
    from geometry_msgs.msg import TwistStamped
    from sensor_msgs.msg import JointState

    from c3p_viewers.foxglove.live_topics import FoxgloveLive

    said = []
    live = FoxgloveLive(open_bench.talker, robot, 'c3p', port=0, report=said.append)
    joints = open_bench.talker.create_publisher(JointState, 'joint_states', 10)
    command = open_bench.talker.create_publisher(TwistStamped, 'cmd_vel', 10)
    n = robot.count
    state = JointState(name=[*robot.steering_joints, *robot.wheel_joints],
                       position=[0.1] * 2 * n, velocity=[0.0] * 2 * n, effort=[0.0] * 2 * n)

    def published():
        state.header.stamp = open_bench.now()
        joints.publish(state)
        command.publish(TwistStamped())
        open_bench.spin_once()

    def meet(condition):
        client.until(lambda: published() or condition())

    try:
        with FoxgloveClient(live.server.url) as client:
            meet(lambda: {'/joint_states', '/cmd_vel', SCENE} <= set(client.channels))
            assert joints.get_subscription_count() == command.get_subscription_count() == 0
            client.subscribe('/cmd_vel')
            meet(lambda: client.heard['/cmd_vel'])
            assert joints.get_subscription_count() == 0
            # the scene is computed from topics that nobody looks at
            client.subscribe(SCENE, NUMBERS)
            meet(lambda: client.heard[SCENE] and client.heard[NUMBERS])
            assert not client.heard['/joint_states']
            assert json.loads(client.heard[NUMBERS][-1][1])['steering_deg'] == pytest.approx(
                np.degrees([0.1] * n))
            client.unsubscribe('/cmd_vel', SCENE, NUMBERS)
            meet(lambda: joints.get_subscription_count() == 0
                 and command.get_subscription_count() == 0)
    finally:
        live.close()
    assert not said


@pytest.mark.real_time
def test_frames_are_computed_where_nobody_can_publish_them(open_bench, robot):
    from sensor_msgs.msg import JointState

    from c3p_bags.recorder.frames import TF
    from c3p_bags.storage.topics import message_class
    from c3p_viewers.foxglove.live_topics import FoxgloveLive

    if message_class(TF) is not None:
        pytest.skip('tf2_msgs is installed: robot_state_publisher publishes the frames')
    live = FoxgloveLive(open_bench.talker, robot, 'c3p', port=0)
    joints = open_bench.talker.create_publisher(JointState, 'joint_states', 10)
    names = [*robot.steering_joints, *robot.wheel_joints]
    state = JointState(name=names, position=[0.1] * len(names), velocity=[0.0] * len(names))
    try:
        with FoxgloveClient(live.server.url) as client:
            client.subscribe('/tf', '/tf_static', '/robot_description')
            client.until(lambda: joints.publish(state) or open_bench.spin_once()
                         or client.heard['/tf'])
            moving = live.server.types.deserialize_cdr(client.heard['/tf'][-1][1], TF)
            assert {t.child_frame_id for t in moving.transforms} == {
                f'{kind}_link_{i}' for kind in ('steering', 'wheel') for i in (1, 2, 3)}
            client.until(lambda: client.heard['/tf_static'] and client.heard['/robot_description'])
    finally:
        live.close()


def test_a_live_robot_is_seen_as_it_moves(bench, robot):
    """The source of Rerun's and MuJoCo's windows, with publishers that come later."""
    from geometry_msgs.msg import TwistStamped
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    from c3p_viewers.sources.live import live_moments

    moments = live_moments(bench.talker, robot)
    assert moments() is None
    # as a driver may publish: best effort, joints in another order
    joints = bench.talker.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    command = bench.talker.create_publisher(TwistStamped, 'cmd_vel', 10)
    names = [*robot.wheel_joints, *robot.steering_joints]
    state = JointState(name=names, position=[1.0, 2.0, 3.0, 0.1, 0.2, 0.3], velocity=[0.0] * 6)
    asked = TwistStamped()
    asked.twist.linear.x = 0.25

    def seen():
        state.header.stamp = bench.now()
        joints.publish(state)
        command.publish(asked)
        moment = moments()
        return moment if moment is not None and moment.command is not None else None

    moment = bench.wait_for(seen, 'a moment with the command')
    np.testing.assert_allclose(moment.steering, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(moment.wheel_angle, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(moment.command, [0.25, 0.0, 0.0])
    assert moment.pose is None and moment.residual is None


@pytest.mark.real_time
def test_the_command_serves_live_topics_until_ctrl_c(open_bench, robot):
    from sensor_msgs.msg import JointState

    joints = open_bench.talker.create_publisher(JointState, 'joint_states', 10)
    process = subprocess.Popen(
        [sys.executable, '-m', 'c3p_bringup', 'view', '--viewer', 'foxglove', '--port', '0'],
        stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        # the address is the first that it says
        url = re.match(r'ws://[\d.:]+\d', process.stderr.readline()).group()
        state = JointState(name=[*robot.steering_joints, *robot.wheel_joints],
                           position=[0.2] * 6, velocity=[0.0] * 6)
        with FoxgloveClient(url) as client:
            client.until(lambda: joints.publish(state) or open_bench.spin_once()
                         or '/joint_states' in client.channels)
            client.subscribe('/joint_states')
            client.until(lambda: joints.publish(state) or open_bench.spin_once()
                         or client.heard['/joint_states'])
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()
