# SPDX-License-Identifier: Apache-2.0
"""A stop without effect: reported, and followed by silence, in which the drives brake."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import numpy as np  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from ros_bench import Bench  # noqa: E402

NODE = 'velocity_controller'


@pytest.fixture
def bench():
    bench = Bench()
    bench.add_robot()
    bench.wait_until_unlocked()
    yield bench
    bench.close()


def said(bench, *words):
    """Return whether the last status of the velocity controller has all these words."""
    status = bench.health.get(NODE)
    return status is not None and all(word in status.message for word in words)


def drive(bench):
    """Drive ahead at 0.3 m/s."""
    bench.command_until(lambda: bench.speed() > 0.28, 'motion', 0.0, 0.3, 0.0)


def test_a_stop_without_effect_is_an_error_with_joints_and_the_controller_falls_silent(bench):
    drive(bench)
    plant = bench.nodes['simulation'].plant
    step, effect = plant.step, [0.0]
    # motors that no longer act
    plant.step = lambda torque, dt: step(effect[0] * np.asarray(torque), dt)
    words = ('does not slow down', 'wheel_joint_1', 'rad/s', 'emergency stop')
    bench.command_until(lambda: said(bench, *words), 'the error', 0.0, 0.0, 0.0, timeout=3.0)
    assert bench.health[NODE].level == DiagnosticStatus.ERROR
    count = len(bench.effort)
    bench.run(0.3)
    assert len(bench.effort) == count, 'the gate of the drives must brake'
    # the motors act again: the gate stops the robot, and a zero command is followed
    effect[0] = 1.0
    bench.wait_for(lambda: bench.speed() < 0.005, 'rest', 5.0)
    bench.wait_until_unlocked()
    bench.wait_for(lambda: not said(bench, 'does not slow down'), 'the end of the error', 3.0)
    drive(bench)


@pytest.mark.parametrize('force', [30.0, -30.0])
def test_a_robot_that_is_pushed_while_it_stops_is_no_error(bench, force):
    """30 N on 35 kg, as on a slope of 5°, from before the stop until seconds after it."""
    drive(bench)
    bench.nodes['simulation'].plant.push([0.0, force], 0.0, 4.0)
    end = bench.seconds() + 3.0
    bench.command_until(lambda: bench.seconds() > end, 'time', 0.0, 0.0, 0.0, timeout=10.0)
    assert not any('slow down' in text or 'accelerates' in text for text in bench.said[NODE])
