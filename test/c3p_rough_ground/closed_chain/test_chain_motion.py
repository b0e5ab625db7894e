# SPDX-License-Identifier: Apache-2.0
"""Motion: text-book cases, drift, methods, inputs, events."""

import numpy as np
import pytest
from grounded_vehicles import (
    EQUAL_DRIVES,
    HILLS,
    TRICYCLE,
    deepest_points,
    planar_tricycle,
    tricycle_at,
)

from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import StepError, Stepping, place, simulate
from c3p_rough_ground.closed_chain.vehicle import yaw_of
from c3p_rough_ground.terrain import Flat, HeightMap, Hills, Plateau, SplineGround
from c3p_rough_ground.vehicles import pvc_tricycle


def test_straight_on_flat_ground_distance_is_angle_times_radius():
    run = simulate(TRICYCLE, Flat(), tricycle_at(Flat(), 0, 0, 0.7), EQUAL_DRIVES, 20.0)
    expected = 0.3 * run.time[:, None] * [np.cos(0.7), np.sin(0.7)]
    assert np.abs(run.position[:, :2] - expected).max() < 1e-12
    assert np.abs(run.joint - run.time[:, None] * EQUAL_DRIVES).max() < 1e-12
    # the point on the wheel turns back as the wheel turns forward
    assert np.abs(run.contact[:, :, 0] - run.contact[0, :, 0] + run.time[:, None]).max() < 1e-11


def test_balls_without_camber_on_flat_ground_are_the_planar_tricycle():
    cart, steer, speed = planar_tricycle(), 0.4, 0.5
    start = place(cart, Flat(), 0, 0, 0, [steer, 0, 0, 0]).require()
    turn = speed * np.tan(steer) / 1.5
    desired = np.array([0.0, speed / np.cos(steer), speed - 0.4 * turn, speed + 0.4 * turn])
    desired[1:] /= 0.2
    run = simulate(cart, Flat(), start, desired, 20.0)
    assert not run.ended_early
    assert np.abs(run.joint_rates - desired).max() < 1e-12
    angle = turn * run.time
    circle = np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]) * speed / turn
    # RK4 at 20 ms of a circle at 0.14 rad/s: h⁴ω⁵/120 a second
    assert np.abs(run.position[:, :2] - circle).max() < 1e-10
    assert yaw_of(run.rotation[-1]) == pytest.approx(
        np.arctan2(np.sin(angle[-1]), np.cos(angle[-1])), abs=1e-10)
    # equal drives are no solution; what comes of them still is one
    other = simulate(cart, Flat(), start, [0.0, 2.0, 2.0, 2.0], 1.0).joint_rates
    turn = 0.2 * (other[:, 3] - other[:, 2]) / 0.8
    assert np.abs(turn * 1.5 - np.tan(steer) * 0.1 * (other[:, 2] + other[:, 3])).max() < 1e-3


def test_closure_holds_over_half_an_hour_of_random_hills():
    weights = [1.0, 1.0, 100.0, 1.0, 100.0, 1.0]
    run = simulate(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0.3), EQUAL_DRIVES, 2000.0,
                   weights=weights, camber_gain=1.0)
    assert not run.ended_early and len(run) == 100001
    assert run.closure_l2.max() < 1e-11
    assert run.rolling_l2.max() < 1e-11
    assert np.ptp(run.position[:, 2]) > 0.3


def test_without_stabilisation_the_closure_drifts_and_baumgarte_is_worse_on_smooth_ground():
    start = tricycle_at(HILLS, 0, 0, 0.3)
    runs = {how: simulate(TRICYCLE, HILLS, start, EQUAL_DRIVES, 20.0, Stepping(stabilisation=how))
            for how in ('projection', 'none', 'baumgarte')}
    worst = {how: run.closure_l2.max() for how, run in runs.items()}
    assert worst['projection'] < 1e-13 < worst['none'] < 1e-10 < worst['baumgarte'] < 1e-6
    for run in runs.values():
        assert np.abs(run.position[-1] - runs['projection'].position[-1]).max() < 1e-6


def test_fixed_steps_have_fourth_order_and_the_adaptive_method_agrees():
    start = tricycle_at(HILLS, 0, 0, 0.3, [0.2, 0, 0, 0, 0, 0])

    def end(**how):
        return simulate(TRICYCLE, HILLS, start, 5.0 * EQUAL_DRIVES, 4.0,
                        Stepping(**how)).position[-1]

    exact = end(step=0.005)
    errors = [np.abs(end(step=step) - exact).max() for step in (0.1, 0.05)]
    assert 10.0 < errors[0] / errors[1] < 25.0
    assert np.abs(end(method='adaptive', step=0.1, tolerance=1e-11) - exact).max() < 1e-9


def test_functions_tables_and_constants_are_the_same_inputs():
    start = tricycle_at(HILLS, 0, 0, 0.3)
    constant = simulate(TRICYCLE, HILLS, start, EQUAL_DRIVES, 2.0)
    table = simulate(TRICYCLE, HILLS, start, np.tile(EQUAL_DRIVES, (101, 1)), 2.0)
    function = simulate(TRICYCLE, HILLS, start, lambda t: EQUAL_DRIVES, 2.0)
    assert np.abs(constant.states - table.states).max() < 1e-13
    assert np.abs(constant.states - function.states).max() < 1e-13

    def swerve(t):
        return [0.3 * np.cos(t), 1.0, 0.0, 1.0, 0.0, 1.0]

    coarse, fine = (simulate(TRICYCLE, HILLS, start, swerve, 2.0, Stepping(step))
                    for step in (0.04, 0.01))
    assert np.abs(coarse.position[-1] - fine.position[-1]).max() < 1e-8
    assert np.abs(coarse.desired[:, 0] - 0.3 * np.cos(coarse.time)).max() < 1e-14


def test_a_run_in_parts_is_the_run_as_a_whole():
    start = tricycle_at(HILLS, 0, 0, 0.3)
    whole = simulate(TRICYCLE, HILLS, start, EQUAL_DRIVES, 4.0)
    half = simulate(TRICYCLE, HILLS, start, EQUAL_DRIVES, 2.0)
    rest = simulate(TRICYCLE, HILLS, half.state(), EQUAL_DRIVES, 2.0)
    assert np.abs(rest.states[-1] - whole.states[-1]).max() < 1e-12


def test_camber_leans_under_equal_drives_and_weights_or_feedback_keep_it_small():
    start = tricycle_at(Flat(), 0, 0, 0, [0.3, 0, 0, 0, 0, 0])

    def lean(**how):
        return np.degrees(simulate(TRICYCLE, Flat(), start, EQUAL_DRIVES, 10.0,
                                   **how).joint[-1, [2, 4]])

    assert np.abs(lean() - [-29.27, -35.79]).max() < 0.01
    # 10 : 1 in the rates is 100 : 1 in their squares
    assert np.abs(lean(weights=[1, 1, 100, 1, 100, 1]) - [-0.428, -0.429]).max() < 0.001
    assert np.abs(lean(camber_gain=1.0) - [-4.14, -4.23]).max() < 0.01


# what ends a run


def test_a_step_too_large_for_the_ground_names_step_length_and_remedy():
    start = tricycle_at(Plateau(), 0, 0, 0)
    with pytest.raises(StepError, match=r'step = 1.*travels.*take a step of at most'):
        simulate(TRICYCLE, Plateau(), start, 10.0 * EQUAL_DRIVES, 5.0, Stepping(1.0))
    run = simulate(TRICYCLE, Plateau(), start, 10.0 * EQUAL_DRIVES, 5.0,
                   Stepping(1.0, 'adaptive'))
    assert run.position[-1, 2] == pytest.approx(1.3, abs=1e-3)


def test_a_joint_limit_ends_the_run_at_the_limit():
    start = tricycle_at(HILLS, 0, 0, 0)
    run = simulate(TRICYCLE, HILLS, start, [0.5, 1, 0, 1, 0, 1], 10.0, weights=[
        100.0, 1, 100, 1, 100, 1])
    assert run.ended_early
    event = run.events[0]
    assert (event.what, event.wheel) == ('joint limit', 'steering_joint_1')
    assert 'widen the limits' in event.text
    # met by steps down to a thousandth of 20 ms
    assert event.number == pytest.approx(1.0, abs=1e-4)
    assert run.joint[-1, 0] <= 1.0 and run.time[-1] <= event.when < run.time[-1] + 0.02


def test_a_wheel_that_bridges_a_valley_ends_the_run_as_a_second_contact():
    # waves of 1 m with hollows of 0.21 m radius, the wheel has 0.3 m
    ground = Hills([0.12], [[2.0 * np.pi, 0.0]], [0.0])
    start = tricycle_at(ground, -0.05, 0, 0)
    run = simulate(TRICYCLE, ground, start, EQUAL_DRIVES, 12.0, Stepping(0.01))
    event = run.events[0]
    assert event.what == 'second contact' and event.number < 0.0
    assert 'inside the ground' in event.text and 'smaller wheel' in event.text
    # two points of a wheel in a symmetric valley: before its bottom
    assert 0.0 < (0.5 - event.place[0]) % 1.0 < 0.25
    assert len(run) < 1201 and np.all(np.isfinite(run.states))
    # and it is so: 1e-3 m of a step before, no wheel was inside the ground
    assert list(deepest_points(run.state(), ground)) == pytest.approx([0.0] * 3, abs=1e-3)


def test_a_wide_hollow_is_no_second_contact():
    ground = SplineGround.random(4, spacing=1.5, amplitude=0.3)
    start = tricycle_at(ground, 4, 4, 0)
    assert not simulate(TRICYCLE, ground, start, EQUAL_DRIVES, 20.0, camber_gain=1.0).events


def test_the_end_of_a_map_ends_the_run():
    x, y = np.meshgrid(np.arange(20) * 0.5, np.arange(16) * 0.5, indexing='ij')
    ground = HeightMap(0.1 * np.sin(x) * np.cos(y), 0.5)
    run = simulate(TRICYCLE, ground, tricycle_at(ground, 2, 4, 0), EQUAL_DRIVES, 40.0)
    assert run.events[0].what == 'outside' and run.events[0].wheel == '1'
    assert run.contact[-1, 0, 2] == pytest.approx(9.5, abs=0.01)


@pytest.mark.parametrize('changes, text', [
    ({'desired': np.ones(5)}, 'desired'), ({'desired': np.ones((7, 6))}, 'one for each'),
    ({'duration': -1.0}, 'duration'), ({'duration': 0.99}, 'whole number'),
    ({'stepping': Stepping(0.0)}, 'step = 0'), ({'stepping': Stepping(method='euler')}, 'method'),
    ({'stepping': Stepping(stabilisation='glue')}, 'stabilisation'),
    ({'weights': -np.ones(6)}, 'weights')])
def test_wrong_questions_are_named(changes, text):
    asked = {'desired': EQUAL_DRIVES, 'duration': 1.0, **changes}
    with pytest.raises(ValueError, match=text):
        simulate(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0), **asked)


def test_a_tyre_that_is_sharper_than_any_hollow_never_ends_early():
    thin = pvc_tricycle(PvcTricycle('thin', 1.2, 0.6, 0.1, 0.08, 0.02))
    ground = Hills.random(8, amplitude=0.2, wavelength=3.0)
    start = place(thin, ground, 0, 0, 0).require()
    assert not simulate(thin, ground, start, 3.0 * EQUAL_DRIVES, 20.0, camber_gain=1.0).events
