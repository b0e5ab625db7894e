# SPDX-License-Identifier: Apache-2.0
"""Wrong joint sensors are found and the right one is named; clean driving raises no alarm."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P
from test_joint_sensing import (
    COUNTS,
    JITTER,
    RATE,
    STEP,
    UNITS,
    Rig,
    driving,
    motion,
    quantised,
)

from c3p_description.model import CasterRobot
from c3p_hardware import joint_sensing
from c3p_kinematics.joint_watch import Finding, JointWatch
from c3p_kinematics.rolling import rolling_rates

# cycle of a drive with wheels beside their pivots, s
STEP_TIME = 0.005

# when the fault begins, cycles
AT = 400
FAULTS = ('drift', 'stuck', 'wheel stuck', 'wheel negated')


def watch(steering, wheel, robot=C3P):
    """Return (cycle, finding) of the first that is found in quantised (T, n) angles."""
    eye = JointWatch(robot, np.full(robot.count, JITTER * STEP))
    seen = zip(quantised(steering, STEP), quantised(wheel, UNITS.angle_resolution), strict=True)
    for k, (s, w) in enumerate(seen):
        if found := eye.step(s, w):
            return k, found
    return None


def robot_of(rng):
    """Return a robot of 3 to 6 unequal casters around its centre."""
    n = int(rng.integers(3, 7))
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False) + rng.uniform(-0.4, 0.4, n) * np.pi / n
    hips = rng.uniform(0.2, 0.6) * rng.uniform(0.8, 1.2, n)[:, None] * np.column_stack(
        [np.cos(angles), np.sin(angles)])
    equal = CasterRobot.regular(0.3, angles, 0.04, 0.04, 30.0, 3.5)
    return replace(equal, hip_position=hips, caster_offset=rng.uniform(0.03, 0.08, n),
                   wheel_radius=rng.uniform(0.035, 0.09, n))


def drive(robot, seed, seconds, scale=1.0):
    """Return steering and wheel angles (T, n) of random driving."""
    rng = np.random.default_rng(seed)
    twist = driving(seed, 1, seconds) * [scale, scale, 1.0]
    return motion(robot, twist, rng.uniform(-np.pi, np.pi, (1, robot.count)), 1 / RATE)[:, :, 0]


def ill_known(rng, robot, steering, wheel):
    """Return the angles as a robot with radii off by 1 % and zeros off by 1° tells them."""
    return (steering + np.radians(rng.uniform(-1, 1, robot.count)),
            wheel * (1 + rng.uniform(-0.01, 0.01, robot.count)))


def broken(fault, rng, steering, wheel, caster):
    """Return the angles with a fault of one sensor from cycle AT on."""
    steering, wheel = steering.copy(), wheel.copy()
    if fault == 'drift':
        rate = rng.choice([0.2, 0.5, 1.0, 2.0, 5.0]) * rng.choice([-1, 1])
        steering[AT:, caster] += rate * np.arange(len(steering) - AT) / RATE
    elif fault == 'stuck':
        steering[AT:, caster] = steering[AT, caster]
    elif fault == 'wheel stuck':
        wheel[AT:, caster] = wheel[AT, caster]
    else:
        wheel[AT:, caster] = 2 * wheel[AT, caster] - wheel[AT:, caster]
    return steering, wheel


@pytest.mark.parametrize('fault', FAULTS)
def test_the_sensor_that_is_wrong_is_named_on_random_robots(fault):
    """
    Of 240 such drives with other seeds 1 stuck encoder was missed, and for another one the wheel
    of its caster was named.

    Time until then, median and worst: drift of 0.2 rad/s 1.8 s and 5.0 s, of 2 rad/s 0.2 s and
    6.7 s, wheel stuck 0.9 s and 8.1 s, negated 0.3 s and 7.8 s; with rests of up to 4 s.
    """
    seconds, named = [], 0
    for k in range(8):
        rng = np.random.default_rng([k, FAULTS.index(fault)])
        robot = C3P if k % 3 == 0 else robot_of(rng)
        angles = drive(robot, 1000 + k, 12.0, rng.uniform(0.3, 1.2))
        caster = int(rng.integers(robot.count))
        shown = broken(fault, rng, *angles, caster)
        found = watch(*ill_known(rng, robot, *shown), robot)
        if found is None:
            continue
        cycle, finding = found
        assert cycle > AT
        seconds.append((cycle - AT) / RATE)
        wheel = fault.startswith('wheel')
        named += finding.caster == caster and (finding.kind == 'wheel') == wheel
    assert named == len(seconds) >= 7
    assert np.median(seconds) < 3.0


def test_five_minutes_of_clean_driving_of_random_robots_raise_no_alarm():
    """With radii off by 1 % and zeros off by 1°; an hour with other seeds raised none either."""
    for k in range(20):
        rng = np.random.default_rng([7, k])
        robot = C3P if k % 2 else robot_of(rng)
        assert watch(*ill_known(rng, robot, *drive(robot, 2000 + k, 15.0)), robot) is None


@pytest.mark.parametrize('rate', [2.0, -2.0, 0.5])
@pytest.mark.parametrize('heading', np.linspace(0, 2 * np.pi, 5, endpoint=False))
def test_a_drift_in_straight_driving_is_found_before_it_turns_the_wheel_across(rate, heading):
    """At 0.3 m/s, casters behind their pivots: 2 rad/s within 0.4 s, 0.8 rad."""
    twist = np.tile([0.3 * np.cos(heading), 0.3 * np.sin(heading), 0.0], (1000, 1, 1))
    # a heading of 0 is along x, and casters trail at -90° there
    steering, wheel = motion(C3P, twist, np.full((1, 3), heading - np.pi / 2), 1 / RATE)[:, :, 0]
    for caster in range(3):
        shown = steering.copy()
        shown[AT:, caster] += rate * np.arange(len(shown) - AT) / RATE
        cycle, finding = watch(shown, wheel)
        assert finding == Finding('drift', caster)
        assert abs(rate) * (cycle - AT) / RATE < 0.8


def test_with_two_casters_nothing_can_be_named():
    pair = CasterRobot.regular(0.3, np.radians([0.0, 180.0]), 0.04, 0.04, 30.0, 3.51)
    for fault in FAULTS:
        rng = np.random.default_rng(1)
        angles = drive(pair, 3, 6.0)
        assert watch(*broken(fault, rng, *angles, 1), pair) is None


# -- as faults of devices -------------------------------------------------------------------------

@pytest.fixture(scope='module')
def angles():
    """A drive that moves all the time: forward, and from AT on it turns on the spot."""
    twist = np.tile([0.1, 0.3, 0.0], (1200, 1, 1))
    twist[AT:, 0] = 0.0, 0.0, 1.0
    return motion(C3P, twist, np.array([[0.1, 0.2, -0.1]]), 1 / RATE)[:, :, 0]


def faults_of(shown_steering, shown_wheel):
    """Return (cycle, problem) of the first problem that sensing finds."""
    rig = Rig(C3P)
    for k in range(len(shown_wheel)):
        _, problems = rig.step(k / RATE, shown_steering[k], shown_wheel[k])
        if problems:
            assert len(problems) == 1
            return k, problems[0]
    return None


@pytest.mark.parametrize(('fault', 'words'), [
    ('drift', ('encoder of steering_joint_2 (node 12)', 'drifts against', 'shaft')),
    ('stuck', ('encoder of steering_joint_2 (node 12)', 'stuck at', 'shaft')),
    ('wheel stuck', ('drive of wheel_joint_2 (node 2)', 'contradicts', 'motor encoder')),
    ('wheel negated', ('drive of wheel_joint_2 (node 2)', 'contradicts', 'directions'))])
def test_a_fault_names_the_device_and_the_remedy(angles, fault, words, monkeypatch):
    # a part that has worked so far
    monkeypatch.setattr(joint_sensing, 'FIRST_PATH', 0.0)
    shown = broken(fault, np.random.default_rng(4), *angles, 1)
    cycle, problem = faults_of(*shown)
    assert AT < cycle < AT + 3 * RATE
    for word in (*words, '~/recover'):
        assert word in f'{problem}'


def test_on_the_first_path_after_arming_no_shaft_coupling_is_blamed_alone(angles):
    shown = broken('drift', np.random.default_rng(4), *angles, 1)
    _, problem = faults_of(*shown)
    assert problem.device == 'wiring' and 'steering_joint_2' in problem.text
    assert 'after arming' in problem.text and '`c3p commission`' in problem.remedy


@pytest.mark.parametrize('kind', ['jump', 'random'])
def test_counts_of_a_wheel_that_jump_name_the_drive_in_that_cycle(angles, kind):
    """Further in a cycle than 300 rad/s, whatever the other casters say."""
    steering, wheel = angles[0], angles[1].copy()
    rng = np.random.default_rng(0)
    wheel[AT:, 2] += 1e6 * UNITS.angle_resolution if kind == 'jump' else rng.uniform(
        -1e5, 1e5, len(wheel) - AT)
    cycle, problem = faults_of(steering, wheel)
    assert cycle == AT and problem.kind == 'jump'
    assert problem.device == 'drive of wheel_joint_3 (node 3)' and 'counts' in problem.text


def test_a_wheel_at_its_limit_does_not_jump():
    """30 rad/s is the overspeed of the C3P; a cycle may be left out."""
    rig = Rig(C3P)
    for k in (0, 1, 2, 3, 5, 6, 9, 10):
        assert rig.step(k / RATE, np.zeros(3), np.full(3, 30.0 * k / RATE))[1] == []
    assert COUNTS == 4096


@pytest.mark.parametrize('seed', range(6))
def test_wheels_beside_their_pivots_raise_no_alarm(seed):
    """They roll farther while they steer, by their lateral offset."""
    robot = replace(C3P, lateral_offset=0.04)
    watched = JointWatch(robot, np.full(3, 0.002))
    steering = np.random.default_rng(seed).uniform(-np.pi, np.pi, 3)
    wheel = np.zeros(3)
    for k in range(2000):
        twist = [0.3 * np.cos(0.01 * k + seed), 0.3 * np.sin(0.013 * k),
                 0.8 * np.sin(0.004 * k + seed)]
        _, turning, _ = rolling_rates(robot, steering, twist)
        rate, turning, _ = rolling_rates(robot, steering + 0.5 * STEP_TIME * turning, twist)
        steering = steering + STEP_TIME * turning
        wheel = wheel + STEP_TIME * rate
        assert watched.step(steering, wheel) is None
