# SPDX-License-Identifier: Apache-2.0
"""
Motors whose torque acts against the counts of their drive: whatever is commanded, they stop.

The quick stop of such a drive accelerates: without a watch it holds a speed of 0.6 m/s for ever.
"""

import time
from dataclasses import replace

import numpy as np
import pytest
from miswired import ASIDE, COMMANDS, TURN, MiswiredRobot, robots

from c3p_hardware.stop_watch import StopWatch
from c3p_hardware.supervisor import ArmState
from c3p_simulation.make_plant import make_plant

ROBOTS = robots()
KINDS = {'leads': 'motor_leads', 'counts': 'drive_polarity'}


def wired(robot, kind, wrong):
    """Return the wiring of a robot with these motors exchanged against their counts."""
    return {KINDS[kind]: tuple(-1 if i in wrong else 1 for i in range(robot.count))}


@pytest.fixture
def start(virtual_time):
    """Return a function that arms a robot and commands a twist."""
    started = []

    def begin(*arguments, **options):
        started.append(MiswiredRobot(virtual_time, *arguments, **options))
        started[-1].arm()
        return started[-1]

    yield begin
    for robot in started:
        robot.close()


def fault_within(robot, seconds=10.0):
    """Let time pass until a fault; return its time."""
    assert robot.run(lambda: robot.link.state == ArmState.FAULT, seconds)
    return time.monotonic()


@pytest.mark.parametrize('reaction', ['quick_stop', 'coast'])
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize(('name', 'motor'), [('c3p', 1), ('four', 2)])
def test_no_motor_drives_soon_after_the_fault_is_named(start, name, motor, command, kind,
                                                       reaction):
    described = ROBOTS[name]
    robot = start(described, wired(described, kind, [motor]), COMMANDS[command],
                  fault_reaction=reaction)
    named = fault_within(robot)
    after = robot.stopped(3.0)
    assert after is not None and after < 1.5, robot.link.faults
    assert robot.run(lambda: np.abs(robot.rates).max() < 0.05, 20.0)
    assert robot.way(named, np.inf) < 0.5
    # the motor that is wrong is named, with its remedy, and no other
    text = '; '.join(robot.link.faults)
    assert f'wheel_joint_{motor + 1} (node {motor + 1}): its quick stop does not brake' in text
    assert '607Eh' in text and 'motor leads' in text
    assert not any(f'wheel_joint_{k + 1} (' in text for k in range(described.count) if k != motor)


STOPS = {'quick_stop': (), 'disarm': (), 'allow': (False,), 'close': ()}


@pytest.fixture
def unjudged(monkeypatch):
    """Let the senses of the drives be judged neither while driving nor in a stop."""
    monkeypatch.setattr(StopWatch, 'judge', lambda *_: None)


@pytest.mark.parametrize('stop', STOPS)
def test_whatever_orders_the_stop_it_ends(start, unjudged, stop):
    """`~/quick_stop`, `~/enable` false, deactivation, cleanup and shutdown."""
    described = ROBOTS['c3p']
    robot = start(described, wired(described, 'leads', [1]), ASIDE, overspeed_margin=0.0)
    robot.run(lambda: np.abs(robot.rates).max() > 15.0, 3.0)
    answers = []
    robot.later(answers, stop, *STOPS[stop])
    assert robot.stopped(3.0) < 1.0
    assert robot.run(lambda: bool(answers), 10.0)
    if stop != 'close':
        assert robot.link.state == ArmState.FAULT
        assert 'its quick stop' in robot.link.faults[-1]


def test_recovering_is_refused_until_the_robot_stands_and_disarmed_is_said_then(start, unjudged):
    described = ROBOTS['c3p']
    robot = start(described, wired(described, 'leads', [1]), ASIDE)
    fault_within(robot)
    asked = 0
    while np.abs(robot.rates).max() > 2.0:
        answer = robot.ask('recover')
        assert answer.startswith('refused: the robot is not at rest: wheel_joint')
        assert robot.link.state == ArmState.FAULT
        robot.run(seconds=0.5)
        asked += 1
    assert asked > 3
    assert robot.run(lambda: np.abs(robot.rates).max() < 0.05, 10.0)
    assert robot.ask('recover') == 'disarmed'


def test_two_motors_with_exchanged_leads_are_both_named(start):
    described = ROBOTS['four']
    robot = start(described, wired(described, 'leads', [0, 3]), TURN)
    fault_within(robot)
    assert robot.stopped(3.0) < 1.5
    text = '; '.join(robot.link.faults)
    assert 'wheel_joint_1 (' in text and 'wheel_joint_4 (' in text
    assert 'wheel_joint_2 (' not in text and 'wheel_joint_3 (' not in text


PLANTS = {
    'as described': lambda robot: robot,
    'payload': lambda robot: replace(robot, platform_mass=2.0 * robot.platform_mass),
    'light': lambda robot: replace(robot, platform_mass=0.7 * robot.platform_mass),
    'payload at the edge': lambda robot: replace(
        robot, platform_mass=1.5 * robot.platform_mass, platform_com=np.array([0.1, 0.05])),
}


@pytest.mark.parametrize(('plant', 'command'), [
    *((plant, 'ahead') for plant in PLANTS),
    *((next(iter(PLANTS)), command) for command in COMMANDS if command != 'ahead')])
def test_a_robot_that_is_wired_well_is_never_accused(start, plant, command):
    described = ROBOTS['c3p']
    robot = start(described, None, COMMANDS[command],
                  make_plant('analytic', PLANTS[plant](described)))
    robot.run(seconds=1.5)
    assert robot.link.state == ArmState.ARMED, robot.link.faults
    assert robot.ask('disarm') == 'stopping'
    assert robot.run(lambda: robot.link.state == ArmState.DISARMED, 3.0), robot.link.faults
    assert not robot.link.faults and np.abs(robot.rates).max() < 0.3


@pytest.mark.parametrize('angle', [0.0, np.pi / 2, np.pi])
def test_a_robot_that_is_pushed_or_stands_on_a_slope_is_never_accused(start, angle):
    """30 N, a slope of 5° for 35 kg, from before the start until a second after the order."""
    described = ROBOTS['c3p']
    plant = make_plant('analytic', described)
    robot = start(described, None, COMMANDS['ahead'], plant)
    plant.push(30.0 * np.array([np.cos(angle), np.sin(angle)]), 0.0, 2.5)
    robot.run(seconds=1.5)
    assert robot.link.state == ArmState.ARMED, robot.link.faults
    robot.ask('disarm')
    robot.stopped(3.0)
    assert not robot.link.faults
