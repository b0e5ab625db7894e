# SPDX-License-Identifier: Apache-2.0
"""Planned motion of modules: limits, reversals with real axes, stops, stuck modules, kinds."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description import load
from c3p_kinematics.limited_steps import StepLimits, next_rate, straightened_twist
from c3p_kinematics.module_commands import ModuleSteering, allowed_twist
from c3p_kinematics.module_plan import ALIGNED, BEHIND, PRESSING
from c3p_kinematics.module_settings import ModuleSettings
from c3p_kinematics.rolling import rolling_rates
from c3p_kinematics.wheel_following import GAIN, LATE, WheelFollowing
from c3p_simulation.plants.lagging_axes import (
    DT,
    STEERING_LAG,
    WHEEL_LAG,
    LaggingAxes,
    reversal_swings,
)

SWERVE = load('swerve')
BESIDE = replace(SWERVE, name='beside', lateral_offset=[0.045, -0.045, -0.045, 0.045])
CALM = {'acceleration': 1.5, 'yaw_acceleration': 4.0, 'jerk': 15.0, 'yaw_jerk': 40.0}
SEEDS = st.integers(0, 10**6)


def commands(modules, twist, cycles, steering=None):
    """Yield the commands of axes that follow at once."""
    angles = np.zeros(modules.robot.count) if steering is None else steering
    for _ in range(cycles):
        command = modules.step(angles, twist, DT)
        angles = command.steering
        yield command


@given(seed=SEEDS)
def test_a_step_is_within_its_limits_and_never_beyond_the_target(seed):
    rng = np.random.default_rng(seed)
    fastest, change = rng.uniform(0.5, 3.0), rng.uniform(2.0, 50.0)
    limits = StepLimits(lambda d: np.abs(d).max() / fastest, lambda d: np.abs(d).max() / change)
    target = rng.uniform(-2.0, 2.0, 3)
    value, rate = np.zeros(3), np.zeros(3)
    for _ in range(2000):
        before = rate
        rate = next_rate(target - value, rate, DT, limits)
        value = value + DT * rate
        assert np.abs(rate).max() <= fastest * (1 + 1e-9)
        assert np.abs(rate - before).max() <= change * DT * (1 + 1e-9)
        # on the straight line, and not beyond its end
        assert np.abs(np.cross(value, target)).max() < 1e-9
        assert np.all(np.abs(value) <= np.abs(target) * (1 + 1e-9))
    np.testing.assert_allclose(value, target, atol=1e-9)


def test_a_step_takes_the_shortest_time():
    """Trapezoid: the path at the largest rate, and once the time to reach it."""
    limits = StepLimits(lambda d: np.abs(d).max() / 2.0, lambda d: np.abs(d).max() / 10.0)
    value, rate, cycles = np.zeros(1), np.zeros(1), 0
    while abs(value[0] - 1.0) > 1e-6:
        rate = next_rate(1.0 - value, rate, DT, limits)
        value = value + DT * rate
        cycles += 1
    assert cycles * DT == pytest.approx(1.0 / 2.0 + 2.0 / 10.0, abs=2 * DT)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_platform_and_steering_axes_stay_within_their_limits(seed):
    rng = np.random.default_rng(seed)
    limits = ModuleSettings(**CALM, steering_rate=6.0, steering_acceleration=80.0)
    modules = ModuleSteering(SWERVE, limits)
    angles = rng.uniform(-3.0, 3.0, 4)
    platform = limits.platform_limits()
    before, steering_rate = np.zeros(3), np.zeros(4)
    for _ in range(5):
        target = rng.uniform(-1.0, 1.0, 3)
        for command in commands(modules, target, 60, angles):
            angles = command.steering
            assert platform.rate(modules.plan.twist - before) <= DT * (1 + 1e-9)
            before = modules.plan.twist
            assert np.abs(command.steering_rate).max() <= 6.0 * (1 + 1e-9)
            change = np.abs(command.steering_rate - steering_rate).max()
            assert change <= 80.0 * DT * (1 + 1e-9)
            steering_rate = command.steering_rate
            assert np.all(np.abs(command.wheel_rate) <= SWERVE.wheel_rate_limit)


def test_a_start_keeps_the_direction_of_the_command_and_its_jerk():
    limits = ModuleSettings(**CALM)
    modules = ModuleSteering(SWERVE, limits)
    target = np.array([0.6, 0.3, 0.4])
    accelerations = [np.zeros(3)]
    for command in commands(modules, target, 250):
        np.testing.assert_allclose(np.cross(command.twist, target), 0.0, atol=1e-12)
        accelerations.append(modules.plan.acceleration)
    jerk = np.diff(accelerations, axis=0) / DT
    assert max(map(limits.platform_limits().change, jerk)) <= 1 + 1e-9
    np.testing.assert_allclose(command.twist, target, atol=1e-9)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_a_stop_ends_within_the_stated_distance(seed):
    rng = np.random.default_rng(seed)
    acceleration, stop = rng.uniform(0.5, 3.0, 2)
    limits = ModuleSettings(acceleration, 4.0, 10.0 * acceleration, 40.0, stop_acceleration=stop)
    modules = ModuleSteering(SWERVE, limits)
    target = np.array([0.0, rng.uniform(0.3, 1.5), 0.0])
    found = list(commands(modules, target, int(rng.integers(5, 250))))
    speed = np.linalg.norm(modules.plan.twist)
    path = sum(DT * np.linalg.norm(command.twist) for command in
               commands(modules, np.zeros(3), 1000, found[-1].steering))
    # half a cycle at the speed at which the stop begins
    assert path <= limits.stopping_distance(speed) + DT * speed
    assert not modules.plan.twist.any()


def swings(robot, limits, seed, count, unequal, gain=0.0):
    """Return the yaw swings of random reversals of the command, degrees."""
    return np.degrees(reversal_swings(LaggingAxes(robot, seed, unequal), limits, count, gain,
                                      seed))


@pytest.mark.parametrize('limits', [ModuleSettings.of(SWERVE), ModuleSettings(**CALM)])
@pytest.mark.parametrize('unequal, bound', [(0.0, 0.5), (0.1, 2.0)])
@pytest.mark.parametrize('seed', range(2))
def test_reversals_with_lagging_unequal_axes_do_not_swing_the_platform(limits, seed, unequal,
                                                                       bound):
    """
    180° ± 4° at up to 1 m/s, steering 50-100 ms, wheels 50 ms and unequal, a cycle of latency.

    Wheels of one side that lag by 10 ms more swing it by 2 v 10 ms over the track, 1.9°, with any
    commands.
    """
    assert swings(SWERVE, limits, seed, 12, unequal).max() < bound


@pytest.mark.parametrize('seed', range(2))
def test_wheels_that_differ_by_a_fifth_swing_the_platform_less_with_their_rates_fed_back(seed):
    limits = ModuleSettings.of(SWERVE)
    alone = swings(SWERVE, limits, seed, 12, 0.2)
    fed = swings(SWERVE, limits, seed, 12, 0.2, gain=1.5)
    # 1/(1 + k)
    assert fed.max() < 0.55 * alone.max()
    assert fed.max() < 2.0


def test_a_blocked_wheel_slows_the_others_and_a_robot_that_is_to_stand_gets_zeros():
    following = WheelFollowing(SWERVE, WHEEL_LAG)
    rates, radius = np.zeros(4), SWERVE.wheel_radius[0]
    command = np.full(4, 1.0 / radius)
    fastest = 0.0
    for _ in range(500):
        asked = following.step(command, rates, DT)
        rates = rates + DT / WHEEL_LAG * (asked - rates)
        rates[3] = 0.0
        fastest = max(fastest, radius * rates.max())
    # not at 1 m/s beside a wheel that stands
    assert 0.0 < following.scale < 0.5 and fastest < 3.0 * LATE
    for _ in range(200):
        asked = following.step(np.zeros(4), rates, DT)
        rates = rates + DT / WHEEL_LAG * (asked - rates)
    noise = np.array([0.01, -0.02, 0.03, -0.01])
    assert following.step(np.zeros(4), noise, DT).tolist() == [0.0] * 4


def test_the_factor_of_a_wheel_that_stays_behind_changes_with_the_lag_of_the_wheels():
    following = WheelFollowing(SWERVE, WHEEL_LAG)
    rates, radius = np.zeros(4), SWERVE.wheel_radius[0]
    scales = []
    for k in range(300):
        asked = following.step(np.full(4, 1.0 / radius), rates, DT)
        rates = rates + DT / WHEEL_LAG * (asked - rates)
        # it is blocked at once, and free again
        rates[3] = 0.0 if 100 <= k < 200 else rates[3]
        scales.append(following.scale)
    assert min(scales) < 0.5 and scales[-1] == 1.0
    assert np.abs(np.diff(scales)).max() <= DT / WHEEL_LAG + 1e-12


def test_the_node_has_the_gain_of_the_feedback_of_wheel_rates():
    file = files('c3p_controller') / 'module_controller_parameters.yaml'
    settings = yaml.safe_load(file.read_text(encoding='utf-8'))['module_controller']
    assert settings['wheel_feedback']['default_value'] == GAIN


@pytest.mark.parametrize('factor', [-1.0, 180.0 / np.pi, 0.0])
def test_rates_of_a_wrong_sense_or_unit_do_not_run_away_and_the_robot_stops(factor):
    following = WheelFollowing(SWERVE, WHEEL_LAG)
    rates, radius = np.zeros(4), SWERVE.wheel_radius[0]
    speed = []
    for k in range(600):
        asked = following.step(np.full(4, 0.1 / radius if k < 400 else 0.0), factor * rates, DT)
        rates = rates + DT / WHEEL_LAG * (asked - rates)
        speed.append(radius * np.abs(rates).max())
    # the command and k LATE
    assert max(speed) < 0.1 + 1.5 * LATE
    assert asked.tolist() == [0.0] * 4 and speed[-1] < 1e-3


def test_drives_that_follow_at_once_get_the_commands():
    """As mock hardware does: feedback that is a cycle late would swing by −k a cycle."""
    following = WheelFollowing(SWERVE, 0.0)
    asked = np.zeros(4)
    for command in (np.full(4, 3.0), np.full(4, 5.0), np.array([1.0, -2.0, 3.0, 0.0])):
        asked = following.step(command, asked, DT)
        assert asked.tolist() == command.tolist() and following.scale == 1.0


def test_a_wheel_without_a_rate_gets_its_command():
    following = WheelFollowing(SWERVE, WHEEL_LAG)
    command = np.full(4, 3.0)
    for _ in range(20):
        asked = following.step(command, np.full(4, np.nan), DT)
        assert asked.tolist() == command.tolist()


def test_a_reversal_stops_and_turns_no_module_around():
    """On the straight line of the twists the modules would turn by 180°."""
    modules = ModuleSteering(SWERVE, ModuleSettings(**CALM))
    before, = list(commands(modules, np.array([0.0, 0.8, 0.0]), 200))[-1:]
    angle = np.radians(176.0)
    after = 0.8 * np.array([-np.sin(angle), np.cos(angle), 0.0])
    found = list(commands(modules, after, 250, before.steering))
    turned = np.array([command.steering for command in found]) - before.steering
    assert np.abs(turned).max() == pytest.approx(np.radians(4.0))
    np.testing.assert_allclose(found[-1].twist, after, atol=1e-9)


@pytest.mark.parametrize('name', ['swerve', 'beside', 'tricycle_agv', 'amr', 'twin'])
@pytest.mark.parametrize('seed', range(2))
def test_every_kind_makes_its_commands_with_lagging_axes(name, seed):
    """Whatever the commands before, and wherever modules point; and tyres slide little."""
    robot = BESIDE if name == 'beside' else load(name)
    rng = np.random.default_rng(seed)
    axes = LaggingAxes(robot, seed)
    modules = ModuleSteering(robot, ModuleSettings.of(
        robot, **CALM, steering_rate=8.0, steering_acceleration=200.0,
        steering_lag=np.mean(STEERING_LAG), wheel_lag=WHEEL_LAG))
    slid = 0.0
    for k in range(6):
        target = allowed_twist(robot, rng.uniform(-1.0, 1.0, 3) * [0.7, 0.7, 1.0])
        for _ in range(350 if k == 5 else int(rng.integers(20, 300))):
            command = modules.step(axes.steering, target, DT)
            axes.step(command.steering, command.wheel_rate)
            slid = max(slid, np.abs(axes.side_slip()).max())
    np.testing.assert_allclose(axes.twist, target, atol=2e-3)
    assert slid < 0.25


def test_a_platform_stands_while_wheels_beside_their_pivots_turn():
    """The lags of both axes are in the commands; unequal steering leaves some millimetres."""
    leads = {'steering_lag': np.mean(STEERING_LAG), 'wheel_lag': WHEEL_LAG}
    robot = replace(BESIDE, lateral_offset=0.045)
    moved = {}
    for rolls in (True, False):
        axes = LaggingAxes(robot, 3)
        modules = ModuleSteering(robot, ModuleSettings.of(
            robot, steering_rate=5.0, steering_acceleration=50.0, **leads))
        axes.steering[:] = 0.0
        path = 0.0
        for _ in range(60):
            command = modules.step(axes.steering, [-0.4, 0.0, 0.0], DT)
            if modules.plan.twist.any():
                break
            axes.step(command.steering, command.wheel_rate if rolls else np.zeros(4))
            path += DT * np.hypot(*axes.twist[:2])
        assert abs(axes.steering).max() > 1.2
        moved[rolls] = max(path, abs(axes.pose[2]) * 0.43)
    assert moved[True] < 0.01 < moved[False]


@settings(max_examples=20)
@given(seed=SEEDS)
def test_modules_with_stops_stay_between_them_and_reach_every_command(seed):
    """A range of 200°: one of the two ways always lies in it."""
    rng = np.random.default_rng(seed)
    lower, upper = np.radians([-100.0, 100.0])
    modules = ModuleSteering(SWERVE, ModuleSettings(**CALM, steering_rate=8.0,
                                                    steering_lower=lower, steering_upper=upper))
    angles = rng.uniform(lower, upper, 4)
    for _ in range(4):
        target = rng.uniform(-0.8, 0.8, 3)
        for command in commands(modules, target, 450, angles):
            angles = command.steering
            assert np.all((lower <= angles) & (angles <= upper))
        np.testing.assert_allclose(command.twist, target, atol=1e-6)
        assert modules.plan.inside.all()
        slip = rolling_rates(SWERVE, angles, command.twist).side_slip
        np.testing.assert_allclose(slip, 0.0, atol=1e-6)


def test_a_direction_beyond_the_stops_stands_and_names_the_module():
    tricycle = load('tricycle_agv')
    zero = tricycle.steering_zero[0]
    modules = ModuleSteering(tricycle, ModuleSettings.of(
        tricycle, steering_lower=zero - 1.0, steering_upper=zero + 1.0))
    angles = np.full(3, zero)
    for command in commands(modules, [0.0, 0.0, 0.5], 200, angles):
        assert abs(command.steering[0] - zero) <= 1.0
        np.testing.assert_array_equal(command.twist, 0.0)
    assert modules.plan.inside.tolist() == [False, True, True]
    assert modules.plan.behind[0] > ALIGNED


@pytest.mark.parametrize('angle', [30.0, 90.0, 150.0])
def test_a_stuck_module_stops_the_platform_on_its_path(angle):
    """It does not go on in the old direction, and does not start with a module across."""
    limits = ModuleSettings(**CALM)
    modules = ModuleSteering(SWERVE, limits)
    angles = list(commands(modules, np.array([0.0, 0.8, 0.0]), 200))[-1].steering.copy()
    after = 0.8 * np.array([-np.sin(np.radians(angle)), np.cos(np.radians(angle)), 0.0])
    path = 0.0
    for _ in range(400):
        command = modules.step(angles, after, DT)
        angles = np.array([angles[0], *command.steering[1:]])
        path += DT * np.linalg.norm(command.twist)
    assert not command.twist.any()
    # before the stop the direction turns by BEHIND at the least acceleration, and one jerk begins
    noticed = 0.8 * np.tan(BEHIND) / (PRESSING * limits.acceleration) + 0.1
    assert path < limits.stopping_distance(0.8) + 0.8 * noticed
    assert np.argmax(modules.plan.behind) == 0


@pytest.mark.parametrize('turns', [0.0, 3.0])
def test_an_encoder_that_wraps_changes_nothing(turns):
    axes = LaggingAxes(SWERVE, 5), LaggingAxes(SWERVE, 5)
    modules = [ModuleSteering(SWERVE, ModuleSettings(**CALM)) for _ in axes]
    axes[0].steering += 2.0 * np.pi * turns
    for k in range(400):
        twist = 0.5 * np.array([np.cos(0.02 * k), np.sin(0.02 * k), 0.0])
        for one, module, wraps in zip(axes, modules, (False, True), strict=True):
            given = np.angle(np.exp(1j * one.steering)) if wraps else one.steering
            command = module.step(given, twist, DT)
            assert np.abs(command.steering - given).max() < np.pi
            one.step(command.steering + one.steering - given, command.wheel_rate)
    np.testing.assert_allclose(axes[0].twist, axes[1].twist, atol=1e-9)


def test_a_straight_line_over_the_floor_of_a_turning_robot_is_straight():
    """Commands in the frame of the floor every 50 ms; each one would begin an arc."""
    ends = {}
    for straight_time in (0.0, 0.05):
        pose = np.zeros(3)
        for _ in range(80):
            c, s = np.cos(pose[2]), np.sin(pose[2])
            sent = np.array([c, -s, 2.0])
            twist = straightened_twist(sent, straight_time)
            half = 0.05 * twist[2] / 2.0
            chord = 0.05 * np.sin(half) / half
            c, s = np.cos(pose[2] + half), np.sin(pose[2] + half)
            pose = pose + [chord * (c * twist[0] - s * twist[1]),
                           chord * (s * twist[0] + c * twist[1]), 0.05 * twist[2]]
        ends[straight_time] = pose
    assert abs(ends[0.0][1]) > 0.15
    np.testing.assert_allclose(ends[0.05], [4.0, 0.0, 8.0], atol=1e-9)


@pytest.mark.parametrize('given, name', [
    (([0.0, np.nan, 0.0, 0.0], [0.3, 0.0, 0.0], DT), 'steering'),
    (([0.0] * 4, [0.3, np.inf, 0.0], DT), 'twist'), (([0.0] * 4, [0.3, 0.0, 0.0], 0.0), 'dt')])
def test_a_sample_that_is_no_number_is_named_and_leaves_the_plan(given, name):
    modules = ModuleSteering(SWERVE, ModuleSettings(**CALM))
    last = list(commands(modules, np.array([0.0, 0.5, 0.0]), 100))[-1]
    with pytest.raises(ValueError, match=f'{name} = '):
        modules.step(*given)
    command = modules.step(last.steering, [0.0, 0.5, 0.0], DT)
    np.testing.assert_allclose(command.twist, [0.0, 0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize('changes', [{'acceleration': 0.0}, {'steering_rate': [1.0, -1.0]},
                                     {'steering_lag': -0.1}, {'straight_time': np.inf},
                                     {'steering_lower': 1.0, 'steering_upper': 1.0}])
def test_impossible_settings_are_named(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        ModuleSettings(**changes)


@pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr', 'twin'])
def test_limits_of_a_robot_are_those_of_its_tyres_or_motors(name):
    robot = load(name)
    found = ModuleSettings.of(robot)
    assert 0.5 < found.acceleration <= 9.81 * robot.tyre_friction
    assert np.isfinite(found.yaw_acceleration)
    assert ModuleSettings.of(robot, acceleration=0.4).acceleration == 0.4
    weak = ModuleSettings.of(replace(robot, torque_limit=0.01))
    assert weak.acceleration == pytest.approx(
        np.sum((0.01 / robot.wheel_radius)[robot.driven]) / robot.total_mass)
