# SPDX-License-Identifier: Apache-2.0
"""What stops the wheels when the effort controller of ros2_control is deactivated in a drive."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from fake_ros2_control import (  # noqa: E402
    PERIOD,
    ForwardController,
    GroupEffortController,
    Manager,
    StateBroadcaster,
    topic_systems,
)
from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from test_ros2_control_bridge import (  # noqa: E402
    AT_REST,
    C3P,
    STATES,
    WHEELS,
    efforts,
    hardware_bridge,
    renamed,
    warns,
)

from c3p_description import robot_description  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

# default of frozen_timeout, s
FROZEN = 0.3
# until its effect is a message: a cycle of the manager and of the simulation, s
CYCLES = 4 * PERIOD
# between two commands, s: a zero order hold of the bench
PUBLISHED = 0.025
# ahead, with the steering at zero, N·m
DRIVING = np.full(C3P.efforts, 0.3)


class Driver:
    """Chain that drives ahead: torques of a law, never twice the same."""

    def __init__(self, bench):
        self.bench, self.torque, self.count = bench, np.zeros(C3P.efforts), 0
        self.publisher = bench.publisher(JointState, 'wheel_effort', 1)

    def step(self):
        """Publish one command."""
        self.count += 1
        varied = self.torque + 1e-9 * (self.count % 7) * (self.torque != 0.0)
        self.publisher.publish(efforts(varied, self.bench.now()))

    def until(self, condition, what, timeout=5.0):
        """Publish until `condition`."""
        self.bench._repeat(self.step, condition, what, timeout)

    def during(self, seconds):
        """Publish for `seconds`."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, 'time', seconds + 1.0)


def circle(bench, controller):
    """Start hardware of the suite behind a topic system, with a controller of this class."""
    bench.truth = bench.collect(Odometry, 'ground_truth/odom', 10, keep=1)
    bench.sent = bench.collect(JointState, 'hardware/wheel_effort', 10)
    bench.add(renamed(SimulationNode, joint_states=STATES, wheel_effort='hardware/wheel_effort'))
    system, = topic_systems(bench.talker, robot_description('c3p', {'hardware': 'topic'}))
    bench.controller = controller(bench.talker, 'wheel_effort_controller', WHEELS, system.commands)
    Manager(bench.talker, [system],
            [StateBroadcaster(bench.talker, system.states), bench.controller])
    hardware_bridge(bench)
    bench.add(Ros2ControlBridgeNode)
    return bench


def accelerate(bench, driver, speed):
    """Drive with constant torques, after the zero that opens the gates, until it is fast."""
    driver.until(lambda: bench.nodes['hardware_bridge']._gate.open
                 and bench.nodes['ros2_control_bridge']._gate.open, 'opening')
    driver.torque = DRIVING
    driver.until(lambda: bench.speed() > speed, 'driving', 20.0)


@pytest.fixture
def braked(bench):
    """A robot behind a topic system, whose general controller was deactivated in a drive."""
    circle(bench, ForwardController)
    bench.driver = Driver(bench)
    accelerate(bench, bench.driver, 0.3)
    bench.sent.clear()
    bench.begin, bench.place = time.monotonic(), bench.pose()
    bench.controller.deactivate()
    # the chain goes on: the bridge before ros2_control does not see that it has no effect
    bench.driver.until(lambda: not bench.nodes['hardware_bridge']._gate.open, 'closing')
    bench.closed, bench.before = time.monotonic(), len(bench.sent)
    bench.driver.until(lambda: bench.speed() < AT_REST, 'rest')
    return bench


def path(bench):
    """Return the distance from the place of the deactivation, m."""
    return np.hypot(*(bench.pose() - bench.place)[:2])


def test_efforts_that_a_deactivated_controller_leaves_drive_no_longer_than_the_timeout(braked):
    # since the last command, which is up to its period older than the deactivation
    assert FROZEN - PUBLISHED <= braked.closed - braked.begin <= FROZEN + CYCLES
    held = np.array([message.effort for message in braked.sent[:braked.before]])
    assert np.allclose(held[5:], DRIVING, atol=1e-6)
    braked.wait_for(warns(braked, 'hardware_bridge', 'frozen_timeout'), 'the reason', 1.5)
    # against the motion, until rest
    braking = np.array([message.effort for message in braked.sent[braked.before + 1:]])
    assert braking.max() <= 1e-9 and braking.min() < -0.01
    assert time.monotonic() - braked.begin < 3.0 and path(braked) < 0.5


def test_the_wheels_stay_braked_while_the_controller_is_inactive(braked):
    stopped = path(braked)
    braked.driver.during(3.0)
    assert braked.speed() < AT_REST and path(braked) == pytest.approx(stopped, abs=0.01)


def test_a_controller_that_is_activated_again_moves_nothing_before_a_zero(braked):
    stopped = path(braked)
    braked.controller.activate()
    # torques at once, as of a chain that was not locked
    braked.driver.during(1.0)
    assert np.allclose(braked.controller.data, DRIVING, atol=1e-6)
    assert braked.speed() < AT_REST and path(braked) == pytest.approx(stopped, abs=0.01)
    braked.driver.torque = np.zeros(C3P.efforts)
    braked.driver.until(lambda: braked.nodes['hardware_bridge']._gate.open, 'opening')
    braked.driver.torque = DRIVING
    braked.driver.until(lambda: braked.speed() > 0.1, 'driving', 20.0)


def test_the_controller_that_zeroes_its_interfaces_lets_the_robot_coast(bench):
    """JointGroupEffortController, up to Kilted."""
    circle(bench, GroupEffortController)
    driver = Driver(bench)
    accelerate(bench, driver, 0.3)
    bench.controller.deactivate()
    driver.during(CYCLES)
    bench.sent.clear()
    speed = bench.speed()
    driver.during(2 * FROZEN)
    assert bench.sent and not np.any([message.effort for message in bench.sent])
    assert AT_REST < bench.speed() <= speed
