# SPDX-License-Identifier: Apache-2.0
"""The bridge to and from ros2_control, on real topics against the behaviour of the real ones."""

import math
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from fake_ros2_control import (  # noqa: E402
    PERIOD,
    ForwardController,
    Manager,
    OwnedRobot,
    StateBroadcaster,
    TopicSystem,
    topic_systems,
)
from nav_msgs.msg import Odometry  # noqa: E402
from ros_bench import CHAIN  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_description import load, robot_description  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_ros.messages import stamp_to_ns  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

C3P = load('c3p')
WHEELS, STEERING = list(C3P.wheel_joints), list(C3P.steering_joints)
# an order that is not that of the robot
ORDER = ['wheel_joint_3', 'wheel_joint_1', 'wheel_joint_2']
INTERLEAVED = {name: name in WHEELS for pair in zip(STEERING, WHEELS, strict=True)
               for name in pair}
COMMANDS, STATES = 'hardware/joint_commands', 'hardware/joint_states'
NAME, AT_REST = 'ros2_control_bridge', 0.01


def renamed(factory, name='', **topics):
    """Return a node's factory with another name and topics."""
    rules = {**topics, **({'__node': name} if name else {})}
    words = ['--ros-args', *(word for rule in rules.items() for word in ('-r', ':='.join(rule)))]
    return lambda **options: factory(cli_args=words, **options)


def hardware_bridge(bench, **parameters):
    """Start the bridge that stands before hardware of the suite."""
    return bench.add(renamed(Ros2ControlBridgeNode, 'hardware_bridge', joint_states=STATES,
                             wheel_effort='hardware/wheel_effort'),
                     direction='from_ros2_control', **parameters)


def add_chain(bench, latency):
    """Start the control chain for a robot whose answer takes `latency` seconds."""
    law = {'velocity_controller': {'controller': 'mpc', 'mpc.latency': latency,
                                   'acceleration_limit': 0.4},
           'position_controller': {'controller': 'mpc'}}
    bench.odom = bench.collect(Odometry, 'odom', 10, keep=1)
    for factory in CHAIN:
        bench.add(factory, **law.get(factory.__module__.split('.')[-1].removesuffix('_node'), {}))


def go(bench, pose, condition, what):
    """
    Send a goal until the condition.

    A pause of the machine locks the chain and closes gates. A goal that is not reached is given up
    after 10 s (progress_timeout); only then does a new one begin with the zero that opens.
    """
    due = [0.0]

    def step():
        if time.monotonic() >= due[0]:
            due[0] = time.monotonic() + 12.0
            bench.goal(*pose)
        return condition()

    bench.wait_for(step, what, 60.0)


def arrived(bench, pose, speed):
    """Return a condition: the goal counts as reached, the robot is near it and rests."""
    return lambda: (bench.value('position_controller', 'goal reached') == 'True'
                    and speed() < AT_REST and np.allclose(pose()[:2], [0.0, 0.3], atol=0.05))


def warns(bench, node, text):
    """Return a condition: the node's diagnostics say this."""
    return lambda: node in bench.health and text in bench.health[node].message


def efforts(torque, stamp):
    """Return a wheel_effort message."""
    message = JointState(name=WHEELS, effort=[float(t) for t in torque])
    message.header.stamp = stamp
    return message


@pytest.fixture
def owned(bench):
    """A robot that ros2_control owns, with a bridge; `bench.controller` is the forward one."""
    bench.hardware = OwnedRobot(C3P)
    bench.controller = ForwardController(bench.talker, 'wheel_effort_controller', ORDER,
                                         bench.hardware.commands)
    bench.broadcaster = StateBroadcaster(bench.talker, bench.hardware.states)
    bench.manager = Manager(bench.talker, [bench.hardware],
                            [bench.broadcaster, bench.controller])
    bench.add(Ros2ControlBridgeNode, joints=ORDER)
    return bench


def send_until(bench, torque, condition, what):
    """Send one torque again and again, as a chain does, until the condition."""
    publisher = bench.publisher(JointState, 'wheel_effort', 1)
    bench.publish_until(publisher, efforts(torque, bench.now()), condition, what, bench.now)


def told(bench, torque):
    """Return a condition: the forward controller holds this torque, in its own order."""
    wanted = [torque[WHEELS.index(name)] for name in ORDER]
    return lambda: bench.controller.data is not None and np.allclose(bench.controller.data, wanted,
                                                                     rtol=0, atol=1e-9)


def test_our_nodes_drive_a_robot_that_ros2_control_owns(owned):
    # the command takes effect in the cycle after that of its joint states
    add_chain(owned, latency=PERIOD)
    owned.wait_until_unlocked()
    go(owned, (0.0, 0.3, 0.0), arrived(owned, lambda: owned.hardware.plant.truth().pose,
                                       owned.hardware.speed), 'arrival')
    assert not owned.controller.fault
    # extra joints, another order and NaN efforts of the broadcaster disturb nobody
    said = [message for one in owned.said.values() for message in one]
    assert not [message for message in said if 'joint_states refused' in message
                and 'stale' not in message]
    owned.wait_for(lambda: float(owned.value(NAME, 'age_p50_ms') or 'nan') > 0.0, 'figures')


def test_a_lost_chain_is_braked_through_the_forward_controller_and_moves_only_after_zero(owned):
    add_chain(owned, latency=PERIOD)
    owned.wait_until_unlocked()
    # a pause of the machine locks the chain
    owned._repeat(lambda: owned.command(0.0, 0.3 * (owned.value('velocity_controller', 'locked')
                                                    == 'no'), 0.0),
                  lambda: owned.hardware.speed() > 0.25, 'moving', 15.0)
    owned.remove('velocity_controller')
    owned.wait_for(lambda: owned.hardware.speed() < AT_REST, 'rest')
    owned.wait_for(warns(owned, NAME, 's old, at most 0.200 s: they brake'), 'the reason', 1.5)
    # torque without a zero before it stays outside
    begin, start = owned.hardware.plant.truth().pose.copy(), time.monotonic()
    send_until(owned, [1.0, 0.0, -1.0], lambda: time.monotonic() > start + 0.4, 'time')
    assert owned.hardware.plant.truth().pose == pytest.approx(begin, abs=0.01)
    send_until(owned, [0.0] * 3, lambda: owned.value(NAME, 'wheels') == 'driven', 'opening')
    send_until(owned, [0.2, 0.1, -0.1], told(owned, [0.2, 0.1, -0.1]), 'torque')


def test_the_bridge_leaves_zeros_behind(owned):
    send_until(owned, [0.0] * 3, lambda: owned.nodes[NAME]._gate.open, 'opening')
    send_until(owned, [0.3, 0.2, 0.1], told(owned, [0.3, 0.2, 0.1]), 'torque')
    owned.remove(NAME)
    owned.wait_for(told(owned, [0.0] * 3), 'the last zeros', 2.0)


def test_without_joint_states_lost_commands_end_in_zeros(bench):
    """A rate that was measured long ago must not drive the wheel."""
    bench.hardware = OwnedRobot(C3P)
    bench.controller = ForwardController(bench.talker, 'wheel_effort_controller', ORDER, {})
    bench.add(Ros2ControlBridgeNode, joints=ORDER)
    states = bench.publisher(JointState, 'joint_states')
    moving = JointState(name=[*STEERING, *WHEELS], position=[0.0] * 6,
                        velocity=[0.0] * 3 + [0.8] * 3)
    bench.publish_until(states, moving, told(bench, [-0.08] * 3), 'braking', bench.now)
    bench.wait_for(told(bench, [0.0] * 3), 'zeros')
    bench.wait_for(warns(bench, NAME, 'no joint_states, so they coast'), 'the reason')


def test_torques_are_limited_and_stale_or_broken_ones_refused(owned):
    send_until(owned, [0.0] * 3, lambda: owned.nodes[NAME]._gate.open, 'opening')
    limit = C3P.torque_limit[0]
    send_until(owned, [50.0, -50.0, 0.0], told(owned, [limit, -limit, 0.0]), 'the limit')
    publisher = owned.publisher(JointState, 'wheel_effort', 1)
    for torque, late, reason in ((0.1, 1.0, 'stale'), (math.nan, 0.0, 'effort of wheel_joint_1')):
        message = efforts([torque] * 3, owned.now())
        owned.publish_until(publisher, message, warns(owned, NAME, reason), reason,
                            lambda late=late: owned.now(-late))
    assert owned.controller.data != pytest.approx([0.1] * 3)


def test_a_controller_that_does_not_listen_is_told(bench):
    bench.add(Ros2ControlBridgeNode)
    bench.wait_for(warns(bench, NAME, 'no subscriber on /wheel_effort_controller/commands'), 'it')
    # a zero that nobody hears opens nothing
    publisher, begin = bench.publisher(JointState, 'wheel_effort', 1), time.monotonic()
    bench.publish_until(publisher, efforts([0.0] * 3, bench.now()),
                        lambda: time.monotonic() > begin + 0.2, 'time', bench.now)
    assert not bench.nodes[NAME]._gate.open
    bench.controller = ForwardController(bench.talker, 'wheel_effort_controller', ORDER, {})
    send_until(bench, [0.0] * 3, lambda: bench.nodes[NAME]._gate.open, 'opening')


@pytest.mark.parametrize('joints', [['wheel_joint_1'], [*WHEELS, 'steering_joint_1']])
def test_an_order_that_does_not_fit_ends_the_node(bench, joints):
    with pytest.raises(ParameterError, match='ros2_control_bridge: joints = .*driven joints'):
        bench.add(Ros2ControlBridgeNode, joints=joints)


@pytest.fixture(params=['aligned', 'interleaved'])
def system(bench, request):
    """A topic system whose commands become wheel_effort of hardware; `bench.sent` collects it."""
    joints = dict.fromkeys(WHEELS, True) if request.param == 'aligned' else INTERLEAVED
    bench.system = TopicSystem(bench.talker, joints, COMMANDS, STATES)
    bench.sent = bench.collect(JointState, 'hardware/wheel_effort', 1)
    hardware_bridge(bench)
    Manager(bench.talker, [bench.system], [])
    return bench


def sends(bench, torque):
    """Return a condition: the last wheel_effort is this torque."""
    return lambda: bench.sent and np.allclose(bench.sent[-1].effort, torque, rtol=0, atol=1e-9)


def set_commands(bench, torque):
    """Write command interfaces as a controller does."""
    bench.system.commands.update(zip(WHEELS, torque, strict=True))


def vary(bench, torque, condition, what):
    """Write torques that a law could give: never twice the same, all within 1e-9."""
    def write():
        set_commands(bench, [t + 1e-10 * math.sin(1e3 * time.monotonic()) for t in torque])
        return condition()
    bench.wait_for(write, what)


def test_commands_are_passed_with_the_stamp_now_once_a_controller_writes(system):
    # NaN until then: no torque, and no consent to the first one that comes
    system.wait_for(warns(system, 'hardware_bridge', 'no controller writes'), 'the reason')
    torque = [0.3, -0.2, 0.1]
    start, begin = time.monotonic(), system.talker.get_clock().now().nanoseconds
    vary(system, torque, lambda: time.monotonic() > start + 0.3 and len(system.sent) > 5, 'time')
    assert not np.any([m.effort for m in system.sent])
    set_commands(system, [0.0] * 3)
    system.wait_for(lambda: system.nodes['hardware_bridge']._gate.open, 'opening')
    vary(system, torque, sends(system, torque), 'the torque')
    assert list(system.sent[-1].name) == WHEELS
    stamps = [stamp_to_ns(m.header.stamp) for m in system.sent]
    assert begin < stamps[-1] <= system.talker.get_clock().now().nanoseconds
    assert sorted(stamps) == stamps
    # a controller that stops writing leaves NaN again
    set_commands(system, [math.nan] * 3)
    system.wait_for(sends(system, [0.0] * 3), 'no torque')
    system.wait_for(warns(system, 'hardware_bridge', 'no controller writes'), 'the reason')


def test_a_system_that_is_deactivated_says_nothing_and_the_timeout_brakes(system):
    set_commands(system, [0.0] * 3)
    system.wait_for(lambda: system.nodes['hardware_bridge']._gate.open, 'opening')
    vary(system, [0.5] * 3, sends(system, [0.5] * 3), 'the torque')
    system.system.active = False
    states = system.publisher(JointState, STATES)
    turning = JointState(name=[*WHEELS, *STEERING], position=[0.0] * 6,
                         velocity=[0.8, -0.4, 0.2] + [0.0] * 3, effort=[math.nan] * 6)
    system.publish_until(states, turning, sends(system, [-0.08, 0.04, -0.02]), 'braking',
                         system.now)
    system.wait_for(warns(system, 'hardware_bridge', 's old, at most 0.200 s'), 'the reason')


def test_torques_that_a_forward_controller_holds_for_ever_are_stopped(system):
    """Who commanded it has died: the topic system goes on with fresh stamps."""
    set_commands(system, [0.0] * 3)
    system.wait_for(lambda: system.nodes['hardware_bridge']._gate.open, 'opening')
    set_commands(system, [0.4, 0.3, 0.2])
    system.wait_for(sends(system, [0.4, 0.3, 0.2]), 'the torque')
    written = system.system.written
    system.wait_for(sends(system, [0.0] * 3), 'the stop')
    assert system.system.written > written
    system.wait_for(warns(system, 'hardware_bridge', 'frozen_timeout'), 'the reason')


def test_counts_that_fit_nothing_are_refused_with_the_remedy(bench):
    bench.sent = bench.collect(JointState, 'hardware/wheel_effort', 1)
    system = TopicSystem(bench.talker, {**INTERLEAVED, 'steering_joint_1': True}, COMMANDS, STATES)
    system.commands = dict.fromkeys(system.commands, 0.0)
    hardware_bridge(bench)
    Manager(bench.talker, [system], [])
    bench.wait_for(warns(bench, 'hardware_bridge', '4 efforts for 6 joints, 3 of them driven'
                         ': ambiguous; put the driven joints into a '
                         '<ros2_control> block of their own'), 'the refusal')
    assert not bench.nodes['hardware_bridge']._gate.open
    assert not np.any([message.effort for message in bench.sent])


def test_the_threshold_of_the_plugin_silences_efforts_that_are_reached_and_ours_does_not(bench):
    """With the default threshold a torque that the hardware reports as reached is not sent."""
    quiet = TopicSystem(bench.talker, dict.fromkeys(WHEELS, True), 'quiet', STATES, 1e-5)
    ours = TopicSystem(bench.talker, dict.fromkeys(WHEELS, True), COMMANDS, STATES, -1.0)
    # state-only joints in a block of their own: silent with the default, a message with -1
    casters = TopicSystem(bench.talker, dict.fromkeys(STEERING, False), 'casters', STATES, 1e-5)
    for one in (quiet, ours, casters):
        one.commands = dict.fromkeys(one.commands, 0.1)
        one.latest = JointState(name=WHEELS, effort=[0.1] * 3)
        one.read()
        one.write()
    assert (quiet.written, ours.written, casters.written) == (0, 1, 0)


def test_the_whole_circle_drives_hardware_of_the_suite_through_ros2_control(bench):
    """Chain, bridge, forward controller, topic system, bridge, hardware, broadcaster, chain."""
    bench.truth = bench.collect(Odometry, 'ground_truth/odom', 10, keep=1)
    bench.add(renamed(SimulationNode, joint_states=STATES, wheel_effort='hardware/wheel_effort'))
    system, = topic_systems(bench.talker, robot_description('c3p', {'hardware': 'topic'}))
    controller = ForwardController(bench.talker, 'wheel_effort_controller', WHEELS,
                                   system.commands)
    broadcaster = StateBroadcaster(bench.talker, system.states)
    # also before the first state, when all is NaN
    manager = Manager(bench.talker, [system], [broadcaster, controller])
    hardware_bridge(bench)
    bench.add(Ros2ControlBridgeNode)
    # a period each in the simulation, and on the way to and from the manager
    add_chain(bench, latency=3 * PERIOD)
    bench.wait_until_unlocked()
    go(bench, (0.0, 0.3, 0.0), arrived(bench, bench.pose, bench.speed), 'arrival')
    assert not controller.fault and not manager.failed
    assert 'efforts for' not in str(bench.said), bench.story()
    # the bridge before ros2_control ends in the middle of a drive; it leaves zeros
    go(bench, (0.0, 2.0, 0.0), lambda: bench.speed() > 0.2, 'driving')
    bench.remove(NAME)
    bench.wait_for(lambda: controller.data == [0.0] * 3, 'zeros', 2.0)
    # and a dead one does not: what the controller then holds is stopped by the other bridge
    begin = time.monotonic()
    controller.data = [0.3, -0.3, 0.1]
    bench.wait_for(lambda: bench.health['hardware_bridge'].message.count('frozen_timeout'),
                   'the stop')
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest')
    assert time.monotonic() - begin > 0.3
