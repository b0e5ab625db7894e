# SPDX-License-Identifier: Apache-2.0
"""A publisher that goes and comes back, again and again: each node that watches it lives on."""

import subprocess
import sys
import time
from functools import partial
from itertools import chain

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import rclpy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_hardware.hardware_interface_node import HardwareInterfaceNode  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.diagnostics import ERROR, OK, WARN  # noqa: E402
from c3p_ros.session import Session  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

TIMES = 10
# a process takes seconds to start and to be missed
KILLS = 5
# each node that watches, and the topics that others publish for it
WATCHED = {SensedKinematicsNode: ['joint_states'], VelocityControllerNode: ['joint_states'],
           HardwareInterfaceNode: ['wheel_effort'], SimulationNode: ['wheel_effort'],
           Ros2ControlBridgeNode: ['wheel_effort', 'joint_states']}
# publishes its number in the suite's messages until it is killed
TALKER = """
import sys, time
import rclpy
from sensor_msgs.msg import JointState
number, *topics = sys.argv[1:]
rclpy.init()
node = rclpy.create_node('source')
publishers = [node.create_publisher(JointState, topic, 10) for topic in topics]
message = JointState()
message.header.frame_id = number
while True:
    for publisher in publishers:
        publisher.publish(message)
    time.sleep(0.01)
"""


@pytest.fixture
def session(request):
    """A session as every process of the suite has it; a parameter is the kind of executor."""
    with Session(executor=getattr(request, 'param', 'events')) as session:
        yield session


def watchers(session):
    """Return {namespace: node}, of which each watches the topics in its namespace."""
    # without anything that moves time or the graph by itself
    values = {SimulationNode: {'publish_clock': True, 'lockstep': True},
              HardwareInterfaceNode: {'autostart': 'unconfigured'}}
    return {f'/watched{k}': session.add(kind, values.get(kind), namespace=f'watched{k}')
            for k, kind in enumerate(WATCHED)}


def topics_of(nodes):
    """Return the names of all topics that the nodes watch, of other publishers."""
    return list(chain.from_iterable(
        [f'{space}/{topic}' for topic in WATCHED[type(node)]] for space, node in nodes.items()))


def reported(node):
    """Return level and text of what a node says about publishers."""
    return node.diagnostics._conditions.get('publishers', (OK, ''))


def wait(session, condition, what):
    """Spin until `condition` is true."""
    end = time.monotonic() + RealTime.patience

    def over():
        assert time.monotonic() < end, what
        return condition()

    session.until(over, period=0.02)


@pytest.mark.real_time
@pytest.mark.parametrize('session', ['events', 'single'], indirect=True)
def test_a_second_publisher_comes_and_goes(session):
    nodes = watchers(session)
    topics = topics_of(nodes)
    first = session.add(partial(rclpy.create_node, 'source'))
    for topic in topics:
        first.create_publisher(JointState, topic, 1)
    for k in range(TIMES):
        second = rclpy.create_node('source')
        for topic in topics:
            second.create_publisher(JointState, topic, 1)
        # silence does not show that a single one publishes
        wait(session, lambda: all(reported(node)[0] == ERROR for node in nodes.values()),
             f'two publishers, time {k}')
        assert all('has 2 publishers (/source, ' in reported(node)[1] for node in nodes.values())
        second.destroy_node()
        wait(session, lambda: all(reported(node)[0] == OK for node in nodes.values()),
             f'one publisher, time {k}')


@pytest.mark.real_time
@pytest.mark.slow
def test_a_killed_publisher_is_started_again(session):
    nodes, heard = watchers(session), {}
    topics = topics_of(nodes)
    listener = session.add(partial(rclpy.create_node, 'listener'))

    def hear(topic, message):
        number = message.header.frame_id
        heard[topic, number] = heard.get((topic, number), 0) + 1

    for topic in topics:
        listener.create_subscription(JointState, topic, partial(hear, topic), 10)
    for k in range(KILLS + 1):
        talker = subprocess.Popen([sys.executable, '-c', TALKER, str(k), *topics])
        try:
            # of this publisher alone, for longer than the watch needs
            wait(session, lambda k=k: all(heard.get((topic, str(k)), 0) > 120 for topic in topics),
                 f'messages of the publisher, start {k}')
            level = WARN if k else OK
            wait(session, lambda level=level: all(
                reported(node)[0] == level for node in nodes.values()), f'{nodes}, start {k}')
            said = [reported(node)[1] for node in nodes.values()]
            assert all(('one of them publishes' in text) == bool(k) for text in said), said
        finally:
            talker.kill()
            talker.wait()
