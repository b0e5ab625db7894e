# SPDX-License-Identifier: Apache-2.0
"""The recorder against real publishers, in this process and in its own."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from synthetic import notes_of, opened, read_topics, topics_of  # noqa: E402

from c3p_bags.recorder.recorder_node import RecorderNode  # noqa: E402
from c3p_bags.storage.bag_parameters import suite_version  # noqa: E402
from c3p_bags.storage.bag_writer import BagError  # noqa: E402
from c3p_bags.storage.topics import message_class  # noqa: E402
from c3p_ros.executor import make_executor  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402

JOINTS = [f'{k}_joint_{i}' for k in ('steering', 'wheel') for i in (1, 2, 3)]
LIMIT = 120.0


class Bench:
    """A recorder and a publishing node with one executor, in a ROS context of their own."""

    def __init__(self, bag):
        self.bag = bag
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('talker', context=self.context, namespace='/bench')
        # an executor belongs to one context, and the suite's helper uses the default one
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.recorder = None

    def start(self, **parameters):
        parameters = {'bag': str(self.bag), **parameters}
        self.recorder = RecorderNode(
            context=self.context, namespace='/bench',
            parameter_overrides=[Parameter(k, value=v) for k, v in parameters.items()])
        self.executor.add_node(self.recorder)
        return self.recorder

    def spin(self, until, what):
        end = time.monotonic() + LIMIT
        while not until():
            assert time.monotonic() < end, f'{what} did not happen within {LIMIT} s'
            self.executor.spin_once(timeout_sec=0.02)

    def publisher(self, kind, topic, profile=10):
        publisher = self.node.create_publisher(kind, topic, profile)
        self.spin(publisher.get_subscription_count, f'a subscription to {topic}')
        return publisher

    def recorded(self, topic):
        return self.recorder.writer.counts[self.node.resolve_topic_name(topic)]

    def close(self):
        if self.recorder is not None:
            self.recorder.destroy_node()
        self.node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path / 'bag')
    yield bench
    bench.close()


def joint_state(k):
    message = JointState(name=JOINTS, position=[float(k)] * 6, velocity=[0.0] * 6)
    message.header.stamp.sec = 1000 + k
    return message


def test_a_thousand_messages_and_none_is_lost(bench):
    bench.start()
    publisher = bench.publisher(JointState, 'joint_states')
    for k in range(1000):
        publisher.publish(joint_state(k))
        # bursts, so that the queue is used
        if k % 50 == 49:
            bench.spin(lambda k=k: bench.recorded('joint_states') == k + 1, 'recording')
    bench.recorder.destroy_node()
    found = [m.message.position[0] for m in read_topics(bench.bag, ['/bench/joint_states'])]
    assert found == list(range(1000))
    info = yaml.safe_load((bench.bag / 'metadata.yaml').read_text())
    assert info['rosbag2_bagfile_information']['storage_identifier'] == 'mcap'
    with AnyReader([bench.bag]) as reader:
        assert reader.topics['/bench/joint_states'].msgcount == 1000
    bench.recorder = None


def test_recorded_bytes_are_the_published_message(bench):
    bench.start(compression='zstd')
    publisher = bench.publisher(TwistStamped, 'cmd_vel', 1)
    message = TwistStamped()
    message.twist.linear.x, message.header.frame_id = 0.1 + 0.2, 'base_link'
    publisher.publish(message)
    bench.spin(lambda: bench.recorded('cmd_vel'), 'recording')
    bench.recorder.close()
    (entry,) = read_topics(bench.bag, ['/bench/cmd_vel'])
    assert entry.message.twist.linear.x == 0.1 + 0.2
    assert entry.message.header.frame_id == 'base_link'


@pytest.mark.skipif(message_class('tf2_msgs/msg/TFMessage') is not None,
                    reason='tf2_msgs is installed, so frames are published, not computed')
def test_frames_that_nobody_can_publish_are_computed(bench):
    bench.start()
    joints = bench.publisher(JointState, 'joint_states')
    odom = bench.publisher(Odometry, 'odom')
    message = Odometry(child_frame_id='base_link')
    message.header.frame_id, message.pose.pose.position.x = 'odom', 2.5
    message.pose.pose.orientation.w = 1.0
    joints.publish(joint_state(1))
    odom.publish(message)
    bench.spin(lambda: bench.recorder.writer.counts['/tf'] == 2, 'computing frames')
    bench.recorder.close()
    frames = {t.child_frame_id: t for m in read_topics(bench.bag, ['/tf'])
              for t in m.message.transforms}
    assert frames['base_footprint'].header.frame_id == 'odom'
    assert frames['base_footprint'].transform.translation.x == 2.5
    assert frames['wheel_link_3'].header.stamp.sec == 1001
    assert {'/tf_static', '/bench/robot_description'} <= set(topics_of(bench.bag))


def test_published_descriptions_are_taken_with_late_durability(bench):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    early = bench.node.create_publisher(String, 'robot_description', latched)
    early.publish(String(data='<robot/>'))
    bench.start(frames='never')
    bench.spin(lambda: bench.recorded('robot_description'), 'recording')
    bench.recorder.close()
    (entry,) = read_topics(bench.bag, ['/bench/robot_description'])
    assert entry.message.data == '<robot/>'


@pytest.mark.parametrize('early', [True, False])
def test_another_type_and_best_effort_are_recorded_too(bench, early):
    # as from another process: within one, a topic has one type
    context = rclpy.Context()
    rclpy.init(context=context)
    other = rclpy.create_node('other', context=context, namespace='/bench')
    if not early:
        bench.start()
    plain = other.create_publisher(Twist, 'cmd_vel', 10)
    weak = other.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    if early:
        bench.spin(lambda: bench.node.count_publishers('cmd_vel'), 'discovery')
        bench.start()

    def talk():
        plain.publish(Twist())
        weak.publish(joint_state(1))
        return bench.recorded('cmd_vel') and bench.recorded('joint_states')

    try:
        bench.spin(talk, 'adapting')
    finally:
        other.destroy_node()
        context.try_shutdown()
    bench.recorder.close()
    assert topics_of(bench.bag)['/bench/cmd_vel'][0] == 'geometry_msgs/msg/Twist'


def test_a_topics_file_of_ones_own(bench, tmp_path):
    file = tmp_path / 'topics.yaml'
    file.write_text('topics: {mine: std_msgs/msg/Float64, other: no_such_msgs/msg/Thing}')
    recorder = bench.start(topics_file=str(file), frames='never')
    bench.publisher(Float64, 'mine').publish(Float64(data=1.0))
    bench.spin(lambda: bench.recorded('mine'), 'recording')
    status = recorder.diagnostics.status()
    assert 'no_such_msgs/msg/Thing is not installed' in status.message
    assert {v.key: v.value for v in status.values}['/bench/mine'] == '1'


@pytest.mark.parametrize('content', ['', 'topics: 3', 'topics: {a: b}', '{', None])
def test_a_topics_file_that_is_none_is_refused(bench, tmp_path, content):
    file = tmp_path / 'topics.yaml'
    if content is not None:
        file.write_text(content)
    with pytest.raises(ParameterError, match='topics.yaml'):
        bench.start(topics_file=str(file))


def test_an_existing_bag_is_refused(bench):
    bench.bag.mkdir()
    with pytest.raises(BagError, match='exists already'):
        bench.start()


def test_a_full_disk_ends_the_recording_and_not_the_process(bench, monkeypatch):
    recorder = bench.start(frames='never')

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(recorder.writer, 'write', full)
    publisher = bench.publisher(JointState, 'joint_states')
    publisher.publish(joint_state(0))
    bench.spin(lambda: recorder.writer is None, 'the end of the recording')
    publisher.publish(joint_state(1))
    assert 'No space left' in recorder.diagnostics.status().message


def test_the_parameters_of_those_who_publish_are_in_the_bag(bench):
    bench.node.declare_parameter('gain', 2.5)
    bench.node.declare_parameter('gains', [1, 2])
    bench.node.declare_parameter('name', 'talker')
    bench.start(frames='never', robot='c3p')
    bench.publisher(JointState, 'joint_states')
    bench.spin(lambda: bench.recorded('recorder/parameters'), 'asking for parameters')
    bench.recorder.close()
    (node, values), = opened(lambda bag: bag.parameters, bench.bag).items()
    assert node == '/bench/talker'
    assert (values['gain'], values['gains'], values['name']) == (2.5, [1, 2], 'talker')
    assert values['use_sim_time'] is False
    assert notes_of(bench.bag) == {'c3p_version': suite_version(), 'c3p_robot': 'c3p'}


def test_an_error_keeps_what_was_before_it(bench):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    early = bench.node.create_publisher(String, 'robot_description', latched)
    early.publish(String(data='<robot/>'))
    # the file need not list what the recorder needs
    file = bench.bag.parent / 'topics.yaml'
    file.write_text('topics: {joint_states: sensor_msgs/msg/JointState, '
                    'robot_description: std_msgs/msg/String}')
    recorder = bench.start(**{'topics_file': str(file), 'frames': 'never',
                              'node_parameters': False, 'snapshot.seconds': 600.0,
                              'snapshot.after': 0.0, 'snapshot.most': 2})
    bench.spin(lambda: bench.recorded('robot_description'), 'the description')
    publisher = bench.publisher(JointState, 'joint_states')
    for k in range(20):
        publisher.publish(joint_state(k))
    bench.spin(lambda: bench.recorded('joint_states') == 20, 'recording')
    health = bench.publisher(DiagnosticArray, '/diagnostics')
    health.publish(DiagnosticArray(status=[DiagnosticStatus(
        level=DiagnosticStatus.ERROR, name='hardware_interface: state', message='silent')]))
    bench.spin(lambda: recorder.writer.snapshots and not recorder.writer.writing, 'a snapshot')
    # and a second one, because somebody asks for it
    client = bench.node.create_client(Trigger, 'recorder/snapshot')
    bench.spin(client.service_is_ready, 'the service')
    answers = []
    for ended in (2, 2):
        asked = client.call_async(Trigger.Request())
        bench.spin(asked.done, 'an answer')
        answers.append(asked.result())
        bench.spin(lambda n=ended: len(recorder.writer.snapshots) == n
                   and not recorder.writer.writing, 'the end of a snapshot')
    assert [a.success for a in answers] == [True, False]
    assert answers[0].message == str(bench.bag / 'snapshot_02')
    assert recorder.metrics()['snapshots'] == 2
    for name, reason in (('snapshot_01', 'hardware_interface: state: silent'),
                         ('snapshot_02', '~/snapshot')):
        assert notes_of(bench.bag / name)['c3p_trigger'] == reason
        found = [m.message for m in read_topics(bench.bag / name)]
        assert found[0].data == '<robot/>'
        assert [m.position[0] for m in found[1:] if hasattr(m, 'position')] == list(range(20))


@pytest.mark.real_time
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_stopping_the_process_leaves_a_complete_bag(tmp_path, number):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('talker', context=context)
    publisher = node.create_publisher(JointState, 'joint_states', 10)
    process = subprocess.Popen(
        [sys.executable, '-m', 'c3p_bags.recorder.recorder_node', '--ros-args', '-p',
         f'bag:={tmp_path / "bag"}'], env=dict(os.environ), stderr=subprocess.DEVNULL)
    try:
        executor = rclpy.executors.SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + LIMIT
        while not publisher.get_subscription_count():
            assert process.poll() is None and time.monotonic() < end, 'no recorder'
            executor.spin_once(timeout_sec=0.01)
        # its diagnostics tell that messages arrive
        heard = []
        node.create_subscription(message_class('diagnostic_msgs/msg/DiagnosticArray'),
                                 '/diagnostics', heard.append, 10)
        sent = 0
        while not any(v.key == '/joint_states' for m in heard for s in m.status
                      for v in s.values):
            assert time.monotonic() < end, 'the recorder reports no joint states'
            publisher.publish(joint_state(sent))
            sent += 1
            executor.spin_once(timeout_sec=0.005)
        process.send_signal(number)
        assert process.wait(LIMIT) == 0
        executor.shutdown()
    finally:
        process.kill()
        process.wait()
        node.destroy_node()
        context.try_shutdown()
    found = np.array([m.message.position[0] for m in read_topics(tmp_path / 'bag',
                                                                 ['/joint_states'])])
    assert len(found) > 0
    # discovery may cost the first ones; after that every message is there
    assert np.array_equal(found, np.arange(found[0], found[0] + len(found)))


def test_the_executor_of_the_suite_delivers_raw_messages():
    """EventsExecutor passes raw bytes; with message info it would fail."""
    rclpy.init()
    try:
        node, executor, got = rclpy.create_node('raw'), make_executor(), []
        executor.add_node(node)
        node.create_subscription(Float64, 'raw_number', got.append, 10, raw=True)
        publisher = node.create_publisher(Float64, 'raw_number', 10)
        end = time.monotonic() + LIMIT
        while not got and time.monotonic() < end:
            publisher.publish(Float64(data=1.0))
            executor.spin_once(timeout_sec=0.05)
        assert isinstance(got[0], bytes)
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
