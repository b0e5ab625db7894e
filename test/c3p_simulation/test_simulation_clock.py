# SPDX-License-Identifier: Apache-2.0
"""A robot whose system clock is set, and one that is paused: nodes stepped by hand, no clock."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402

from c3p_controller import position_controller_node as position  # noqa: E402
from c3p_controller import velocity_controller_node as velocity  # noqa: E402
from c3p_kinematics import sensed_kinematics_node as kinematics  # noqa: E402
from c3p_ros import node as suite  # noqa: E402
from c3p_ros.wire import READERS  # noqa: E402
from c3p_simulation import simulation_node as simulation  # noqa: E402

PERIOD, HOUR = 0.005, 3_600_000_000_000


class HandClock:
    """The clocks of every node, which the test moves."""

    def __init__(self):
        self.steady, self.system = 100.0, 10**18

    def go(self, seconds):
        self.steady += seconds
        self.system += round(1e9 * seconds)

    def monotonic(self):
        return self.steady

    def time_ns(self):
        return self.system

    def perf_counter(self):
        return self.steady

    def sleep(self, seconds):
        raise AssertionError('nothing sleeps here')


class HandRobot:
    """Simulation and chain in this process, whose messages the test carries by hand."""

    def __init__(self, bench, monkeypatch):
        self.clock = HandClock()
        for module in (suite, simulation, velocity):
            monkeypatch.setattr(module, 'time', self.clock)
        # its thread would look at the clock on the wall
        monkeypatch.setattr(simulation.Worker, 'start', lambda worker: None)
        self.nodes = {}
        for name, kind, values in (
                ('simulation', simulation.SimulationNode, {}),
                ('kinematics', kinematics.SensedKinematicsNode, {}),
                ('velocity', velocity.VelocityControllerNode, {
                    'start_silence': 0.05, 'mpc.latency': 0.0}),
                ('position', position.PositionControllerNode, {})):
            self.nodes[name] = bench.add(kind, **values)
        self.carried, self.locks, self.sent_joints = [], [], []
        # as a subscriber keeps its own
        self._readers = {}
        self._catch('simulation', '_joint_pub', self._joints)
        self._catch('kinematics', '_odom', self._odometry)
        self._catch('velocity', '_output._publisher', self._effort)
        self._catch('velocity', '_lock._publisher', self._lock)
        commands = self.nodes['position']._commands
        commands.send = lambda twist, stamp, frames, preview=None: self._command(
            np.array(twist), stamp)
        commands.listeners.count = 1
        commands.listeners.look = lambda now: None
        self.commands, self.stopped = [], set()
        self.cycle()

    def _catch(self, node, path, take):
        owner = self.nodes[node]
        *way, last = path.split('.')
        for name in way:
            owner = getattr(owner, name)

        class Wire:
            def publish(wire, message):
                take(message)

        setattr(owner, last, Wire())

    def _read(self, kind, message):
        data = message if isinstance(message, bytes) else serialize_message(message)
        if kind not in self._readers:
            self._readers[kind] = READERS[kind]()
        return self._readers[kind](data)

    def _joints(self, message):
        read = self._read(simulation.JointState, message)
        self.sent_joints = [('kinematics', '_on_joints', read), ('velocity', '_on_joints', read)]
        self.carried += self.sent_joints

    def repeat(self, seconds):
        """Send the last joint states again in each cycle: a broadcaster without new ones."""
        data = list(self.sent_joints)
        self.stopped.add('simulation')
        for _ in range(round(seconds / PERIOD)):
            stamp = self.clock.system + round(1e9 * PERIOD)
            self.carried += [(name, callback, message._replace(stamp=stamp))
                             for name, callback, message in data]
            self.cycle()
        self.stopped.clear()
        self.cycle(periods=round(seconds / PERIOD))

    def _odometry(self, message):
        self.carried += [('velocity', '_on_odom', self._read(Odometry, message)),
                         ('position', '_on_odom', self._read(Odometry, message))]

    def _effort(self, message):
        self.carried.append(('simulation', '_on_effort',
                             self._read(simulation.JointState, message)))

    def _lock(self, message):
        self.locks.append(message.data)
        watch = getattr(self.nodes.get('position'), '_lock', None)
        if watch is not None:
            watch._on_lock(message)

    def _command(self, twist, stamp):
        self.commands.append(twist)
        self.nodes['velocity'].interlock.command(twist, self.clock.steady, 0)

    def cycle(self, seconds=PERIOD, periods=1):
        """Let time go on, then one cycle with everything that it causes, and the watchdogs."""
        self.clock.go(seconds)
        if 'simulation' not in self.stopped:
            self.nodes['simulation']._advance(periods)
        while self.carried:
            name, callback, message = self.carried.pop(0)
            if name not in self.stopped:
                getattr(self.nodes[name], callback)(message)
        for name, node in self.nodes.items():
            if name not in self.stopped and seconds < 4 * suite.WATCH_PERIOD:
                node._on_watch()

    def run(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            self.cycle()

    def drive(self, *goal):
        """Begin a drive and go on until the robot is under way."""
        self.run(0.6)
        assert not self.nodes['velocity'].interlock.lock
        self.nodes['position']._drive_to(np.array(goal))
        self.run(2.0)
        assert self.speed > 0.3

    @property
    def pose(self):
        return self.nodes['simulation'].plant.truth().pose

    @property
    def speed(self):
        return float(np.hypot(*self.nodes['simulation'].plant.truth().twist[:2]))

    @property
    def life(self):
        return self.nodes['position']._goals.life


@pytest.fixture
def robot(bench, monkeypatch):
    """A robot that the test steps; nothing in it looks at a clock of the computer."""
    return HandRobot(bench, monkeypatch)


@pytest.mark.parametrize('step', [HOUR, -HOUR, HOUR // 3600, -HOUR // 3600, -HOUR // 7200])
def test_a_clock_that_is_set_locks_and_the_drive_goes_on(robot, step):
    robot.drive(1.5, 0.0, 0.0)
    before = robot.pose
    robot.clock.system += step
    locks = []
    for _ in range(300):
        robot.cycle()
        locks.append(robot.nodes['velocity'].interlock.lock)
        # the wheels brake or follow; nothing jumps
        assert robot.speed < 0.55
    assert any(locks) and not locks[-1]
    assert robot.life.number == 1 and robot.nodes['position']._commands.opening.count >= 1
    assert np.hypot(*(robot.pose - before)[:2]) > 0.1
    robot.run(5.0)
    assert robot.life.held
    assert robot.pose[:2] == pytest.approx([1.5, 0.0], abs=0.02)
    # the odometry includes the motion during the lock
    sensed = robot.nodes['kinematics']._odometry.pose
    assert sensed == pytest.approx(robot.pose, abs=0.01)


def test_a_clock_that_is_set_moves_no_robot_that_stands(robot):
    robot.run(1.0)
    for step in (HOUR, -HOUR, -HOUR // 3600):
        robot.clock.system += step
        robot.run(2.0)
        assert (robot.pose == 0.0).all() and not robot.commands


@pytest.mark.parametrize('pause', [0.25, 0.6, 1.0])
def test_a_stall_of_the_process_does_not_lose_the_goal(robot, pause):
    robot.drive(1.5, 0.0, 0.0)
    # the watchdogs slept as well; the simulation makes up for all of it, its wheels braked
    robot.cycle(pause, periods=round(pause / PERIOD))
    assert 'nothing to answer' in robot.locks[-1]
    robot.run(6.0)
    assert robot.life.held and robot.life.number == 1
    assert robot.pose[:2] == pytest.approx([1.5, 0.0], abs=0.02)


@pytest.mark.parametrize('part', ['simulation', 'kinematics', 'velocity', 'position'])
@pytest.mark.parametrize('pause', [0.3, 1.0])
def test_a_stall_of_a_part_does_not_lose_the_goal(robot, part, pause):
    robot.drive(1.5, 0.0, 0.0)
    robot.stopped.add(part)
    robot.run(pause)
    robot.stopped.clear()
    if part == 'simulation':
        robot.cycle(periods=round(pause / PERIOD))
    robot.run(6.0)
    assert robot.life.held and robot.life.number == 1
    assert robot.pose[:2] == pytest.approx([1.5, 0.0], abs=0.03)
    assert robot.nodes['kinematics']._odometry.pose == pytest.approx(robot.pose, abs=0.03)


@pytest.mark.parametrize('pause', [0.1, 0.3, 0.9])
def test_a_stall_of_hardware_behind_a_broadcaster_does_not_lose_the_goal(robot, pause):
    """The last state comes again and again with new stamps; then all that was driven at once."""
    robot.drive(1.5, 0.0, 0.0)
    before = len(robot.locks)
    robot.repeat(pause)
    robot.run(6.0)
    # a silence that is longer than the watchdogs locks, as one without messages does
    assert any('joint_states' in lock or 'answer' in lock for lock in robot.locks[before:]) == (
        pause > 0.2)
    assert robot.life.held and robot.life.number == 1
    assert robot.pose[:2] == pytest.approx([1.5, 0.0], abs=0.03)
    assert robot.nodes['kinematics']._odometry.pose == pytest.approx(robot.pose, abs=0.03)
    assert robot.nodes['kinematics']._estimate.repeated == round(pause / PERIOD)


def test_odometry_that_stays_away_ends_the_goal_with_a_reason(robot):
    robot.drive(1.5, 0.0, 0.0)
    robot.stopped.add('kinematics')
    robot.run(0.5)
    assert robot.life.running and not robot.commands[-1].any()
    robot.run(1.2)
    assert not robot.life.running
    status = robot.nodes['position'].diagnostics.status().message
    assert 'given up: no odometry for 1.5' in status and 'odom_patience' in status
    robot.stopped.clear()
    robot.run(2.0)
    assert robot.speed < 0.01


def test_odometry_that_comes_back_elsewhere_ends_the_goal(robot):
    robot.drive(1.5, 0.0, 0.0)
    robot.stopped.add('kinematics')
    robot.run(0.8)
    robot.nodes['kinematics']._odometry.reset((7.0, 0.0, 0.0))
    robot.stopped.clear()
    robot.run(2.0)
    assert not robot.life.running and not robot.life.held and robot.speed < 0.01
    assert 'came back 6.' in robot.nodes['position'].diagnostics.status().message
