# SPDX-License-Identifier: Apache-2.0
"""A second publisher is named and acted upon; one that goes frees the topic."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import rclpy  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from robots import C3P  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_hardware.hardware_interface_node import HardwareInterfaceNode  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_hardware.wheel_gate import GateSettings, WheelGate  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.cycle import Lifelines  # noqa: E402
from c3p_ros.diagnostics import ERROR, OK, WARN  # noqa: E402
from c3p_ros.publisher_watch import PERIOD, PublisherWatch, SequenceProbe  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

ZERO, PUSH = np.zeros(3), np.array([1.2, 1.2, 1.2])


class Graph:
    """As much of a node as the watch uses, with publishers {topic: [(namespace, name)]}."""

    def __init__(self, sole=True):
        self.ends, self.told, self.timers, self.asked = {}, [], [], 0
        self.at_end = lambda action: None
        self.parameters = SimpleNamespace(value=SimpleNamespace(sole_publisher=sole))
        self.diagnostics = SimpleNamespace(condition=lambda *c: self.told.append(c))

    def resolve_topic_name(self, topic):
        return f'/left/{topic}'

    def create_timer(self, period, callback, clock):
        self.timers.append((period, callback))

    def count_publishers(self, topic):
        return len(self.ends.get(topic, ()))

    def get_publishers_info_by_topic(self, topic):
        self.asked += 1
        return [SimpleNamespace(node_namespace=space, node_name=name)
                for space, name in self.ends.get(topic, ())]


def test_a_second_publisher_is_named_and_gone_frees_the_topic():
    graph, acted = Graph(), []
    watch = PublisherWatch(graph, 'wheel_effort', 'joint_states', act=acted.append)
    (period, callback), = graph.timers
    assert callback.__self__ is watch and period == PERIOD <= 0.25
    graph.ends['/left/wheel_effort'] = [('/left', 'velocity_controller')]
    # the same topic of another robot is another topic
    graph.ends['/right/wheel_effort'] = [('/right', 'velocity_controller')]
    assert watch.look() == '' and graph.told[-1] == ('publishers', OK, '')
    # names cost more than counts
    assert graph.asked == 0
    graph.ends['/left/wheel_effort'].append(('/', 'rogue'))
    reason = watch.look()
    assert 'wheel_effort has 2 publishers' in reason and '/rogue' in reason
    assert '/left/velocity_controller' in reason and 'stop or remap' in reason
    assert graph.told[-1] == ('publishers', ERROR, reason) and acted[-1] == reason
    graph.ends['/left/wheel_effort'].pop(0)
    assert watch.look() == '' and acted == ['', reason, '']


class Numbers:
    """A probe that gives what a test puts into `waiting`."""

    def __init__(self, node, topic):
        self.waiting, self.topic, self.closed = [], topic, False
        node.probe = self

    def numbers(self):
        found, self.waiting = self.waiting, []
        return found

    def close(self):
        self.closed = True


def test_a_node_started_twice_and_an_unknown_node_are_publishers_too():
    graph = Graph()
    watch = PublisherWatch(graph, 'joint_states', act=lambda reason: None, probe=Numbers)
    graph.ends['/left/joint_states'] = [('/left', 'simulation')] * 2
    for k in range(50):  # both publish, each counts by itself
        reason = watch.look(0.1 * k)
        assert '/left/simulation, 2 of them' in reason and 'killed' in reason
        graph.probe.waiting += [700 + k, 1 + k]
    graph.ends['/left/joint_states'] = [
        ('/left', 'simulation'), ('_NODE_NAMESPACE_UNKNOWN_', '_NODE_NAME_UNKNOWN_')]
    assert 'an unknown node' in watch.look(9.0)


def test_a_node_that_was_killed_and_started_again_is_free_after_a_second():
    graph, acted = Graph(), []
    watch = PublisherWatch(graph, 'joint_states', act=acted.append, probe=Numbers)
    graph.ends['/left/joint_states'] = [('/left', 'simulation')] * 2
    for k in range(10):
        assert watch.look(0.1 * k)
        graph.probe.waiting += range(20 * k + 1, 20 * k + 21)
    assert graph.probe.topic == '/left/joint_states'
    assert watch.look(1.0) == '' and acted[-1] == ''
    assert graph.told[-1][1] == WARN and 'one of them publishes' in graph.told[-1][2]
    # the other one was only held up, and goes on
    graph.probe.waiting += [221, 57, 222, 58]
    assert watch.look(1.1) and acted[-1] and graph.told[-1][1] == ERROR
    # and another node is never taken for the same one
    graph.ends['/left/joint_states'][1] = ('/left', 'rogue')
    graph.probe.waiting += range(300, 400)
    assert watch.look(5.0)
    graph.ends['/left/joint_states'].pop()
    probe = graph.probe
    assert watch.look(5.1) == '' and probe.closed and graph.told[-1] == ('publishers', OK, '')
    # silence shows nothing
    graph.ends['/left/joint_states'] *= 2
    assert watch.look(6.0) and watch.look(9.0)


def test_switched_off_nothing_is_counted():
    graph = Graph(sole=False)
    PublisherWatch(graph, 'joint_states', act=lambda reason: None)
    assert not graph.timers


# -- what is done about it ------------------------------------------------------------------------

def test_a_held_gate_brakes_past_zeros_and_opens_by_a_zero_afterwards():
    gate = WheelGate(C3P, GateSettings(0.2, 0.1))
    gate.command(ZERO, 0.0)
    assert gate.open
    gate.hold('two publishers')
    for torque in (PUSH, ZERO, PUSH):
        gate.command(torque, 0.1)
        assert gate.torque_at(0.1, np.ones(3)) == pytest.approx(-0.1 * np.ones(3))
    assert gate.reason == 'two publishers'
    gate.hold('')
    gate.command(PUSH, 0.2)
    assert not gate.open and not gate.torque_at(0.2, ZERO).any()
    gate.command(ZERO, 0.3)
    assert gate.open and not gate.reason


def test_a_chain_whose_first_part_has_two_publishers_is_lost():
    chain = Lifelines('joint_states', 'odom', timeout=0.2)
    chain.beat('joint_states', 1.0)
    chain.beat('odom', 1.0)
    chain.surplus('joint_states has 2 publishers (/a, /b)')
    assert chain.lost(1.0) == ['single publisher of joint_states']
    assert chain.ages(1.0) == 'see publishers'
    assert chain.lost(2.0) == ['single publisher of joint_states', 'joint_states']
    chain.surplus('')
    assert chain.lost(1.0) == []


def looks(node):
    """Return what the watch of a node finds now, without waiting for its timer."""
    (watch,) = [t.callback.__self__ for t in node.timers
                if isinstance(getattr(t.callback, '__self__', None), PublisherWatch)]
    return watch.look()


@pytest.mark.parametrize(('factory', 'topics', 'own'), [
    (SimulationNode, ('wheel_effort', 'joint_states'), 'joint_states'),
    (HardwareInterfaceNode, ('wheel_effort', 'joint_states'), 'joint_states'),
    (Ros2ControlBridgeNode, ('wheel_effort', 'joint_states'), ''),
    (SensedKinematicsNode, ('joint_states',), ''),
    (VelocityControllerNode, ('joint_states',), '')])
def test_each_node_names_a_second_publisher_of_its_topics(context, factory, topics, own):
    """Within a process the graph is known at once."""
    node = factory(context=context, namespace='robot', parameter_overrides=(
        [Parameter('lockstep', value=True), Parameter('publish_clock', value=True)]
        if factory is SimulationNode else []))
    talker = rclpy.create_node('rogue', namespace='robot', context=context)
    try:
        assert looks(node) == ''
        for topic in topics:
            first = None if topic == own else node.create_publisher(JointState, topic, 1)
            assert looks(node) == ''
            rogue = talker.create_publisher(JointState, topic, 1)
            assert f'{topic} has 2 publishers' in looks(node) and '/robot/rogue' in looks(node)
            status = node.diagnostics.status()
            assert status.level == ERROR and '/robot/rogue' in status.message
            talker.destroy_publisher(rogue)
            assert looks(node) == '' and 'publishers' not in node.diagnostics.status().message
            if first is not None:
                node.destroy_publisher(first)
    finally:
        talker.destroy_node()
        node.destroy_node()


def test_sequence_numbers_are_those_of_each_publisher(context):
    node = SensedKinematicsNode(context=context)
    talkers = [rclpy.create_node('twin', context=context) for _ in range(2)]
    try:
        first, second = (t.create_publisher(JointState, 'joint_states', 10) for t in talkers)
        (watch,) = [t.callback.__self__ for t in node.timers
                    if isinstance(getattr(t.callback, '__self__', None), PublisherWatch)]
        assert watch.look(0.0)
        for k in range(30):
            first.publish(JointState())
            watch.look(0.1 * k)
        assert watch.look(3.0) == ''
        second.publish(JointState())
        assert '/twin, 2 of them' in watch.look(3.1)
        talkers[1].destroy_publisher(second)
        assert watch.look(3.2) == '' and not watch._probes
    finally:
        for talker in talkers:
            talker.destroy_node()
        node.destroy_node()


class StrictSubscription:
    """Subscription of rclpy 10: it is removed from its node's list as it is destroyed."""

    def __init__(self, node):
        self._node, self.destroyed = node, 0

    def destroy(self):
        self._node._subscriptions.remove(self)
        self.destroyed += 1


class StrictNode:
    """Node of rclpy 10, which destroys what is in its list."""

    def __init__(self):
        self._subscriptions, self.inputs = [], set()

    def create_subscription(self, *_, **__):
        self._subscriptions.append(StrictSubscription(self))
        return self._subscriptions[-1]

    def destroy_subscription(self, subscription):
        if subscription in self._subscriptions:
            subscription.destroy()


def test_a_probe_is_kept_from_the_executor_and_destroyed_by_its_node():
    node = StrictNode()
    probe = SequenceProbe(node, '/joint_states')
    assert not node._subscriptions
    probe.close()
    assert not node._subscriptions and probe._subscription.destroyed == 1
