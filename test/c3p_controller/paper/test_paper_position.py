# SPDX-License-Identifier: Apache-2.0
"""Paper I, eqs (14)-(16) and Table I literally, in every reading."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.goals.position_command import PositionCommand
from c3p_controller.paper.position import (
    AS_PRINTED,
    BOTH_AXES,
    CORRECTED,
    TABLE_I,
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
    line_error,
)
from c3p_description import load
from c3p_kinematics.se2 import compose, exp

BOTH = PaperPositionGains(axis_gain=BOTH_AXES)
READINGS = st.fixed_dictionaries({
    name: st.sampled_from(choices) for name, choices in PaperPositionOptions.choices().items()
}).map(lambda o: PaperPositionOptions(**o))
POSES = vectors(3, 6.0)


def controller_to(goal, start=(0.0, 0.0, 0.0), gains=None, **options):
    controller = PaperPositionController(gains, PaperPositionOptions(**options))
    controller.set_goal(np.array(goal, float), np.array(start, float))
    return controller


def angle(z, options):
    """Return the angle of a complex number, by NumPy's division and the complex phase."""
    z = z.conjugate() if options.sense == 'clockwise' else z
    if options.arctangent == 'two_argument':
        return cmath.phase(z)
    with np.errstate(all='ignore'):
        return float(np.arctan(np.float64(z.imag) / np.float64(z.real)))


def by_hand(gains, options, goal, start, pose):
    """Return the twist of eqs (14)-(16) outside of the zone, in complex numbers."""
    g, e = complex(*goal[:2]), complex(*goal[:2]) - complex(*pose[:2])
    law = [math.copysign(k * (1 - math.exp(-mu * abs(x))), x) for k, mu, x in zip(
        gains.axis_gain, gains.axis_rate, (e.real, e.imag), strict=True)]
    v = complex(*law)
    if options.frame == 'rotated':
        v *= cmath.exp(-1j * pose[2])
    line = g if options.line == 'as_printed' else g - complex(*start[:2])
    off = angle(line, options) - angle(e, options)
    yaw = goal[2] - pose[2]
    if options.angles == 'wrapped':
        off, yaw = (x if math.isnan(x) else cmath.phase(cmath.exp(1j * x)) for x in (off, yaw))
    if math.isnan(off) and gains.line_yaw_gain != 0.0:
        if options.undefined == 'stop':
            return np.zeros(3)
        return np.array([v.real, v.imag, gains.yaw_gain * yaw])
    off = 0.0 if math.isnan(off) else off
    return np.array([v.real, v.imag, gains.yaw_gain * yaw + gains.line_yaw_gain * off])


def test_table_1_is_what_is_printed_and_the_robot_is_the_papers():
    robot = load('c3p')
    assert TABLE_I[:5] == (0.343, 0.04, 0.04, 30.0, 3.51)
    assert robot.caster_offset == pytest.approx(TABLE_I.caster_offset)
    assert robot.wheel_radius == pytest.approx(TABLE_I.wheel_radius)
    assert np.hypot(*robot.hip_position.T) == pytest.approx(TABLE_I.hip_radius)
    assert (robot.platform_mass, robot.platform_inertia) == (TABLE_I.platform_mass,
                                                             TABLE_I.platform_inertia)
    gains = PaperPositionController().gains
    assert gains.axis_gain == (0.5, 0.0) and gains.axis_rate == (1.2, 1.2)
    assert (gains.yaw_gain, gains.line_yaw_gain, gains.goal_zone) == (0.2, -0.3, 0.05)


@given(READINGS, POSES, POSES, POSES, st.floats(0, 5), st.floats(-2, 2), st.booleans())
def test_every_reading_is_its_formula(options, goal, start, pose, yaw_gain, line_gain, to_origin):
    gains = PaperPositionGains((0.5, 0.3), (1.2, 0.7), yaw_gain, line_gain, 0.0)
    goal = goal * [not to_origin, not to_origin, 1.0]
    assume(not on_an_edge(options, goal, start, pose))
    controller = PaperPositionController(gains, options)
    controller.set_goal(goal, start)
    command = controller.step(pose)
    assert command.twist == pytest.approx(by_hand(gains, options, goal, start, pose), abs=1e-9)
    assert command.distance == pytest.approx(math.hypot(*(goal - pose)[:2]))


def on_an_edge(options, goal, start, pose):
    """Return whether an angle is so near to where it jumps that rounding decides."""
    line = goal[:2] if options.line == 'as_printed' else (goal - start)[:2]
    for x, y in (line, (goal - pose)[:2]):
        jump = abs(x) if options.arctangent == 'one_argument' else abs(y)
        # exactly zero is no edge: there the angle is 0/0, or what zeros have
        if (x != 0.0 or y != 0.0) and jump <= 1e-6 * math.hypot(x, y):
            return True
    off = line_error(line, (goal - pose)[:2], PaperPositionOptions(
        arctangent=options.arctangent, sense=options.sense, angles='as_printed'))
    return any(abs(abs(x) % (2 * math.pi) - math.pi) <= 1e-6 for x in (off, goal[2] - pose[2]))


@given(READINGS, POSES, POSES, st.lists(POSES, min_size=1, max_size=4), st.booleans())
def test_no_reading_ever_asks_what_is_no_number(options, goal, start, poses, on_axes):
    controller = PaperPositionController(None, options)
    goal, start = (np.round(p) if on_axes else p for p in (goal, start))
    controller.set_goal(goal, start)
    for pose in [*poses, start, goal]:
        command = controller.step(np.round(pose) if on_axes else pose)
        assert isinstance(command, PositionCommand) and np.isfinite(command.twist).all()
        # each axis saturates at its own gain, so both together at √2 K
        assert math.hypot(*command.twist[:2]) <= 0.5 * math.sqrt(2.0) + 1e-12


def test_table_1_drives_4_m_in_12_6_s_not_in_20():
    """t = ln((e^(μD) − 1)/(e^(μz) − 1))/(K μ)."""
    controller, pose, dt, time = controller_to([4.0, 0.0, 0.0]), np.zeros(3), 0.01, 0.0
    while not (command := controller.step(pose)).reached:
        pose, time = compose(pose, exp(command.twist * dt)), time + dt
    exact = math.log(math.expm1(4.8) / math.expm1(0.06)) / 0.6
    assert exact == pytest.approx(12.6, abs=0.05)
    # Euler steps of 10 ms
    assert time == pytest.approx(exact, abs=0.03)
    assert not command.twist.any()


def test_driving_along_body_y_makes_the_circle_of_the_figure():
    """Fig. 11: 0.3 m/s and 0.2 "r/min", which are 0.2 rad/s: else the circle has 14 m."""
    twist, dt, pose = np.array([0.0, 0.3, 0.2]), 0.01, np.zeros(3)
    for _ in range(round(2.0 * math.pi / 0.2 / dt)):
        moved = compose(pose, exp(twist * dt))
        middle = pose[2] + 0.1 * dt
        # printed as 0.3 (cos Φ, sin Φ); a chord is shorter than its arc by 1e-7 of it
        assert (moved - pose)[:2] / dt == pytest.approx(
            [-0.3 * math.sin(middle), 0.3 * math.cos(middle)], abs=1e-6)
        pose = moved
        assert math.hypot(pose[0] + 1.5, pose[1]) == pytest.approx(1.5, abs=1e-9)
    assert 0.3 / (0.2 * 2.0 * math.pi / 60.0) == pytest.approx(14.3, abs=0.05)


def test_with_k_y_zero_nothing_drives_along_y():
    # leg 1 of the triangle
    assert controller_to([0.0, 3.5, 0.0]).step(np.zeros(3)).twist[:2].tolist() == [0.0, 0.0]
    assert controller_to([0.0, 3.5, 0.0], gains=BOTH).step(np.zeros(3)).twist[1] > 0.49


def test_both_axes_saturated_give_minus_225_degrees_on_leg_3():
    start = [3.0, 3.5, 0.0]
    vx, vy, _ = controller_to([0.0, 0.0, 0.0], start, BOTH).step(np.array(start)).twist
    # a wheel rolls along (−sin θ, cos θ)
    steering = math.degrees(math.atan2(-vx, vy)) - 360.0
    assert steering == pytest.approx(-225.0, abs=0.5)
    # along the line itself it would be
    assert math.degrees(math.atan2(3.0, -3.5)) - 360.0 == pytest.approx(-220.6, abs=0.1)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_the_printed_sign_turns_away_from_the_line_and_the_other_towards_it(side):
    pose = np.array([1.0, side, 0.0])
    towards = -side
    for sense, turns in (('clockwise', -towards), ('counter_clockwise', towards)):
        controller = controller_to([4.0, 0.0, 0.0], sense=sense)
        assert np.sign(controller.step(pose).twist[2]) == turns
    assert CORRECTED.sense == 'counter_clockwise'


def test_one_argument_loses_the_quadrant_on_leg_1():
    # a hair left and right of the line, the angle to the goal jumps by half a turn
    turns = []
    for aside in (1e-9, -1e-9):
        controller = controller_to([0.0, 3.5, 0.0], arctangent='one_argument')
        turns.append(controller.step(np.array([aside, 1.0, 0.0])).twist[2])
    assert abs(turns[0] - turns[1]) == pytest.approx(0.3 * math.pi, abs=1e-6)
    controller = controller_to([0.0, 3.5, 0.0])
    assert controller.step(np.array([1e-9, 1.0, 0.0])).twist[2] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize('undefined, moves', [('stop', False), ('leave_out', True)])
def test_the_way_home_has_no_direction_as_printed(undefined, moves):
    # leg 3 ends at the origin: ϑ = arctan(−0/0)
    controller = controller_to([0.0, 0.0, 0.0], [3.0, 3.5, 0.0], BOTH, line='as_printed',
                               arctangent='one_argument', undefined=undefined)
    assert math.isnan(line_error(np.zeros(2), np.array([-3.0, -3.5]), AS_PRINTED))
    assert controller.step(np.array([3.0, 3.5, 0.0])).twist.any() == moves


def test_the_printed_line_is_right_from_the_origin_only():
    pose = np.array([0.0, 3.5, 0.0])
    for start, right in ((np.zeros(3), True), (pose, False)):
        goal = start + [3.0, 3.5, 0.0] if right else np.array([3.0, 3.5, 0.0])
        turn = controller_to(goal, start, line='as_printed').step(start).twist[2]
        assert (turn == pytest.approx(0.0, abs=1e-12)) == right
    # leg 2 goes along X: ϑ should be 0 and is −49°, which is a turn before anything went wrong
    assert turn == pytest.approx(-0.3 * math.atan2(-3.5, 3.0))


def test_without_r_a_turned_platform_drives_elsewhere():
    pose = np.array([0.0, 0.0, math.pi / 2])
    rotated = controller_to([4.0, 0.0, 0.0]).step(pose).twist
    printed = controller_to([4.0, 0.0, 0.0], frame='as_printed').step(pose).twist
    assert rotated[:2] == pytest.approx([0.0, -0.4959], abs=1e-4)
    assert printed[:2] == pytest.approx([0.4959, 0.0], abs=1e-4)


def test_angles_as_printed_turn_the_long_way_round():
    pose = np.array([0.0, 0.0, 3.0])
    for angles, expected in (('wrapped', 2 * math.pi - 6.0), ('as_printed', -6.0)):
        turn = controller_to([4.0, 0.0, -3.0], pose, angles=angles).step(pose).twist[2]
        assert turn == pytest.approx(0.2 * expected)


def test_in_the_zone_all_velocities_are_zero_and_latched_they_stay_so():
    inside, outside = np.array([3.96, 0.0, 0.5]), np.array([3.94, 0.0, 0.5])
    for zone, again in (('every_cycle', True), ('latched', False)):
        controller = controller_to([4.0, 0.0, 0.0], zone=zone)
        assert controller.step(outside).twist.any()
        command = controller.step(inside)
        # whatever the yaw
        assert command.reached and not command.twist.any() and command.yaw_error == -0.5
        command = controller.step(outside)
        assert not command.reached and command.twist.any() == again
        # a new goal is a new drive
        controller.set_goal(np.array([4.0, 0.0, 0.0]), outside)
        assert controller.step(outside).twist.any()


def test_a_goal_that_is_only_a_turn_is_reached_at_once_unless_there_is_no_zone():
    command = controller_to([0.0, 0.0, 1.0]).step(np.zeros(3))
    assert command.reached and not command.twist.any()
    free = controller_to([0.0, 0.0, 1.0], gains=PaperPositionGains(goal_zone=0.0))
    command = free.step(np.zeros(3))
    assert not command.reached and command.twist.tolist() == [0.0, 0.0, 0.2]


def test_goals_are_taken_replaced_refused_and_forgotten():
    controller = PaperPositionController()
    assert controller.step(np.zeros(3)) is None
    controller.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    for wrong in ([1.0, 2.0], [math.nan, 0.0, 0.0]):
        with pytest.raises(ValueError, match='three finite numbers'):
            controller.set_goal(wrong, np.zeros(3))
    assert controller.step(np.zeros(3)).twist[0] > 0.0
    controller.cancel()
    assert controller.step(np.zeros(3)) is None
