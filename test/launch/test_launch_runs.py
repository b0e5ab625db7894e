# SPDX-License-Identifier: Apache-2.0
"""The launch files, started, used and stopped."""

import os
import re
import time
from pathlib import Path

import pytest

NEEDS = 'needs launch and launch_ros, which come with a ROS 2 installation'
rclpy = pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from patience import patient_parameters  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

# nothing takes longer unless it is broken; the first start compiles the kernels, s
START, DRIVE = 300.0, 120.0


class Driver:
    """Sends a goal and sees where the robot truly is."""

    def __init__(self, namespace):
        """Listen to the simulated robot in `namespace`."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = rclpy.create_node('driver', context=self.context, namespace=namespace)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.truth, self.efforts = None, 0
        self.goal = self.node.create_publisher(PoseStamped, 'goal_pose', 1)
        self.node.create_subscription(Odometry, 'ground_truth/odom', self.on_truth, 10)
        self.node.create_subscription(JointState, 'wheel_effort', self.on_effort, 1)
        self.said = []
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self.on_diagnostics, 50)

    def on_truth(self, message):
        self.truth = message.pose.pose.position

    def on_diagnostics(self, message):
        """Keep what is not well, for the text of a failure."""
        self.said += [text for s in message.status if s.level != DiagnosticStatus.OK
                      and (text := f'{s.name}: {s.message}') not in self.said[-5:]]

    def on_effort(self, _):
        self.efforts += 1

    def wait(self, condition, timeout):
        """Return whether `condition` came true in time."""
        end = time.monotonic() + timeout
        while not condition() and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.1)
        return condition()

    def commanded(self):
        """Return whether robot and chain run, and a goal would be heard."""
        return (self.truth is not None and self.efforts > 100
                and self.goal.get_subscription_count() > 0)

    def drive(self, y):
        """Drive `y` ahead; return the distance that is left."""
        assert self.wait(self.commanded, START)
        message = PoseStamped()
        message.pose.position.y, message.pose.orientation.w = y, 1.0
        self.goal.publish(message)
        self.wait(lambda: abs(self.truth.y - y) < 0.05, DRIVE)
        return abs(self.truth.y - y)

    def close(self):
        """Leave the network."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def driver(prefix):
    drivers = []

    def make(namespace=''):
        drivers.append(Driver(namespace))
        return drivers[-1]
    yield make
    for one in drivers:
        one.close()


@pytest.mark.parametrize('sim, law, form, namespace', [
    ('analytic', '', 'one-process', ''), ('analytic', 'paper', 'one-process', 'robot1'),
    ('mujoco', 'mpc', 'one-process', '')])
def test_simulated_robot_is_commanded_by_its_law(sim, law, form, namespace, launch_file, driver):
    if sim == 'mujoco':
        pytest.importorskip('mujoco', reason='pip install .[sim]')
    running = launch_file('bringup.launch.py', f'sim:={sim}', f'nodes:={form}',
                          f'controller:={law}', f'namespace:={namespace}')
    one = driver(namespace)
    assert one.wait(one.commanded, START), one.said
    code, output = running.interrupt()
    assert code == 0, output
    assert 'SIGTERM' not in output, output
    assert 'Traceback' not in output and 'FATAL' not in output, output


@pytest.mark.real_time
def test_simulated_robot_reaches_its_goal(launch_file, driver, tmp_path):
    running = launch_file('bringup.launch.py', 'sim:=analytic', 'nodes:=processes',
                          'controller:=mpc', 'namespace:=robot1',
                          f'params_file:={patient_parameters(tmp_path, "/**/")}')
    one = driver('robot1')
    assert one.drive(0.3) < 0.05, one.said
    code, output = running.interrupt()
    assert code == 0, output
    assert 'SIGTERM' not in output, output
    assert 'Traceback' not in output and 'FATAL' not in output, output


@pytest.mark.real_time
def test_a_robot_on_emulated_cards_moves_once_it_is_armed(launch_file, driver, tmp_path):
    form, namespace = 'processes', 'robot1'
    running = launch_file('bringup.launch.py', 'sim:=analytic', 'hardware:=emulated',
                          f'nodes:={form}', f'namespace:={namespace}',
                          f'params_file:={patient_parameters(tmp_path, "/**/")}')
    one = driver(namespace)
    enable = one.node.create_client(SetBool, 'hardware_interface/enable')
    recover = one.node.create_client(Trigger, 'hardware_interface/recover')
    answers = []

    def armed():
        # refused until the controllers send zeros; a busy computer may have kept the cards waiting
        if answers and not answers[-1].done():
            return False
        if answers and answers[-1].result().success:
            return True
        recover.call_async(Trigger.Request())
        answers.append(enable.call_async(SetBool.Request(data=True)))
        return False

    assert one.wait(lambda: one.truth is not None and one.efforts > 100
                    and enable.service_is_ready(), START)
    assert abs(one.truth.y) < 1e-3
    assert one.wait(armed, START), [a.result().message for a in answers if a.done()]
    assert one.drive(0.3) < 0.05, one.said
    code, output = running.interrupt()
    assert code == 0, output
    assert 'SIGTERM' not in output, output
    assert 'Traceback' not in output and 'FATAL' not in output, output


def test_start_steering_reaches_the_simulated_robot(launch_file, driver):
    running = launch_file('bringup.launch.py', 'sim:=analytic', 'start_steering:=[0.1, 0.2, 0.3]')
    one, seen = driver(), {}
    one.node.create_subscription(
        JointState, 'joint_states',
        lambda m: seen.update(zip(m.name, m.position, strict=True)), 10)
    assert one.wait(lambda: seen, START)
    assert [round(seen[f'steering_joint_{i}'], 2) for i in (1, 2, 3)] == [0.1, 0.2, 0.3]
    running.interrupt()


@pytest.mark.timeout(400)
def test_the_tricycle_climbs_until_ctrl_c(launch_file, driver):
    tf2_msgs = pytest.importorskip('tf2_msgs.msg', reason=NEEDS)
    running = launch_file('rough_ground.launch.py', 'terrain:=flat', 'drive_rate:=2.0',
                          'namespace:=robot1', 'use_sim_time:=true')
    one, seen = driver('robot1'), {}
    for kind, topic, name in ((JointState, 'joint_states', 'joints'), (Odometry, 'odom', 'odom'),
                              (tf2_msgs.TFMessage, 'tf', 'tf')):
        one.node.create_subscription(kind, topic, lambda m, key=name: seen.update({key: m}), 10)
    # a minute of compilation, where these kernels have never run before
    assert one.wait(lambda: len(seen) == 3 and seen['odom'].pose.pose.position.x > 0.1, 300.0)
    place = seen['odom'].pose.pose.position
    assert (round(place.y, 6), round(place.z, 6)) == (0.0, 0.3)
    assert 'camber_joint_2' in seen['joints'].name
    frames = {(t.header.frame_id, t.child_frame_id) for t in seen['tf'].transforms}
    assert frames == {('odom', 'base_link')}
    code, output = running.interrupt()
    assert code == 0, output
    assert 'Traceback' not in output, output


@pytest.mark.parametrize('namespace', ['', 'robot1'])
def test_recording_leaves_a_bag_with_one_tree_of_frames(namespace, launch_file, driver, tmp_path):
    highlevel = pytest.importorskip('rosbags.highlevel')
    running = launch_file('bringup.launch.py', 'sim:=analytic', 'record:=true',
                          f'bag_path:={tmp_path}/bag', f'namespace:={namespace}')
    prefix, counted = f'/{namespace}' if namespace else '', {}
    one = driver(namespace)
    # the recorder says in its diagnostics what it has, and finds the publishers when it does
    one.node.create_subscription(DiagnosticArray, '/diagnostics', lambda message: counted.update(
        (value.key, value.value) for status in message.status if 'recorder' in status.name
        for value in status.values), 10)
    assert one.wait(lambda: int(counted.get(f'{prefix}/odom', 0)) > 100 and int(
        counted.get(f'{prefix}/tf_static', 0)), START), counted
    code, output = running.interrupt()
    assert code == 0, output
    with highlevel.AnyReader([tmp_path / 'bag']) as bag:
        counts = {topic: info.msgcount for topic, info in bag.topics.items() if info.msgcount}
        assert {f'{prefix}/{name}' for name in ('joint_states', 'odom', 'wheel_effort', 'tf',
                                                'tf_static')} <= set(counts)
        assert {topic for topic in counts if '/tf' in topic} == {f'{prefix}/tf',
                                                                 f'{prefix}/tf_static'}
        children = {frame.child_frame_id for connection, _, data in bag.messages()
                    if connection.topic == f'{prefix}/tf'
                    for frame in bag.deserialize(data, connection.msgtype).transforms}
    # published or computed
    assert {'base_footprint', 'steering_link_1', 'wheel_link_3'} <= children


def test_ctrl_c_while_starting_is_clean(launch_file):
    running, line = launch_file('bringup.launch.py', 'sim:=analytic'), ''
    while not (started := re.search(r'process started with pid \[(\d+)\]', line)):
        line = running.process.stdout.readline()
        assert running.process.poll() is None
    # it imports its nodes; launch itself loses a process that it is about to announce: a signal
    # in the middle of that line ends its callback
    maps = Path('/proc') / started.group(1) / 'maps'
    while 'rclpy' not in maps.read_text():
        assert running.process.poll() is None
    code, output = running.interrupt()
    assert code == 0, output


@pytest.mark.parametrize('given, reason', [
    ('robot:=nonsense', "robot 'nonsense' is unknown"),
    ('start_steering:=[0.1, 0.2]', 'start_steering has 2 values; must have 1 or 3')])
@pytest.mark.parametrize('form', ['one-process', 'processes'])
def test_node_that_cannot_start_ends_everything_with_its_reason(form, given, reason, launch_file):
    code, output = launch_file('bringup.launch.py', 'sim:=analytic', f'nodes:={form}', given).end()
    assert code == 1
    assert reason in output
    assert 'stopping all processes' in output


def test_display_starts_and_stops(others, launch_file):
    running = launch_file('display.launch.py', 'namespace:=robot1')
    lines = []
    while sum('stand-in' in line for line in lines) < 3:
        lines.append(running.process.stdout.readline())
        assert running.process.poll() is None, lines
    assert all('__ns:=/robot1' in line for line in lines if 'stand-in' in line)
    code, output = running.interrupt()
    assert code == 0, output
