# SPDX-License-Identifier: Apache-2.0
"""The analytic plant of any mix of wheels: motions, energy, starts and casters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots
from scipy.integrate import solve_ivp
from wheel_lagrange import lagrange
from wheel_mixes import mixed_robot

from c3p_description import load
from c3p_description.model import Friction
from c3p_dynamics.side_tyres import SideTyre
from c3p_kinematics.rolling import rolling_rates
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed
from c3p_simulation.plants.plant import LEAST_OFFSET, AnalyticPlant
from c3p_simulation.plants.wheel_plant import WheelPlant, analytic_plant

ROBOTS = ('swerve', 'tricycle_agv', 'amr', 'twin')

# motors of each, so that it moves at about 0.5 m/s
TORQUE = {'swerve': 1.0, 'tricycle_agv': 0.1, 'amr': 2.0, 'twin': 0.4}


def driven(name, seed, seconds, plant=None):
    """Return a plant after random torques, held for 0.25 s each, and all samples."""
    rng = np.random.default_rng(seed)
    plant = plant or make_plant('analytic', name)
    robot = plant.robot
    plant.reset(steering=rng.uniform(-3.0, 3.0, robot.count))
    samples = []
    for _ in range(int(4 * seconds)):
        torque = TORQUE.get(name, 0.3) * rng.normal(size=robot.efforts)
        samples += [plant.step(torque, 0.01) for _ in range(25)]
    return plant, samples


@pytest.mark.parametrize('name', ROBOTS)
def test_energy_grows_by_the_work_minus_the_losses(name):
    plant, _ = driven(name, 3, 10)
    turnover = plant.kinetic_energy + abs(plant.work) + plant.dissipated
    # friction changes sign within 0.05 rad/s, which costs the method some of its order
    assert abs(plant.kinetic_energy - plant.work + plant.dissipated) < 1e-5 * turnover
    assert plant.dissipated > 0.0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_energy_of_random_mixes_without_friction_is_kept_but_for_sliding(seed):
    robot = replace(mixed_robot(seed, most=4), link_inertia=0.01)
    plant = WheelPlant(robot, substep=2.5e-4)
    rng = np.random.default_rng(seed)
    plant.reset(steering=rng.uniform(-3, 3, robot.count), twist=0.3 * rng.normal(size=3))
    before = plant.kinetic_energy
    lost = [0.0]
    for _ in range(20):
        plant.step(np.zeros(robot.efforts), 0.05)
        lost.append(plant.dissipated)
    assert min(np.diff(lost)) >= 0.0
    assert abs(plant.kinetic_energy - before + plant.dissipated) < 1e-5 * before
    assert plant.work == 0.0


def integrated(robot, steering, twist, torque, seconds):
    """Return pose and steering angles after constant torques, by Lagrange and SciPy."""
    n = robot.count

    def derivative(_, state):
        rolled = rolling_rates(robot, state[6:6 + n], state[3:6], state[6 + n:])
        nudot, turned, _ = lagrange(robot, state[6:6 + n], state[3:6], rolled.steering_rate,
                                    rolled.wheel_rate, torque)
        c, s = np.cos(state[2]), np.sin(state[2])
        return np.concatenate([[c * state[3] - s * state[4], s * state[3] + c * state[4],
                                state[5]], nudot, rolled.steering_rate, turned])

    start = np.concatenate([np.zeros(3), twist, steering, np.zeros(n)])
    found = solve_ivp(derivative, (0.0, seconds), start, rtol=1e-9, atol=1e-10)
    return found.y[:3, -1], found.y[6:6 + n, -1]


@pytest.mark.parametrize('name', ['tricycle_agv', 'amr', 'twin'])
def test_motion_under_torques_is_that_of_lagrange_with_ideal_tyres(name):
    robot = replace(load(name), friction=Friction(
        pivot_viscous=1e-3, rolling_viscous=1e-3, rolling_coulomb=1e-3, scrub_coulomb=1e-3,
        smoothing=1.0))
    rng = np.random.default_rng(2)
    steering = np.where(robot.fixed, robot.steering_zero, rng.uniform(-1, 1, robot.count))
    steering = steering[np.arange(robot.count) // 2 * 2] if name == 'twin' else steering
    torque = 0.2 * TORQUE[name] * (1.0 + 0.2 * rng.normal(size=robot.efforts))
    torque[~robot.actuated] = 0.0
    plant = WheelPlant(robot, tyre=SideTyre(1e6))
    plant.reset(steering=steering)
    sample = plant.step(torque, 1.0)
    pose, angles = integrated(robot, steering, np.zeros(3), torque, 1.0)
    assert np.abs(pose).max() > 0.02
    np.testing.assert_allclose(plant.truth().pose, pose, atol=1e-5)
    np.testing.assert_allclose(sample.steering, angles, atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(caster_robots(), st.integers(0, 1000))
def test_casters_move_as_on_their_own_plant(robot, seed):
    losses = Friction(pivot_viscous=1e-3, rolling_viscous=1e-3, rolling_coulomb=1e-2,
                      scrub_coulomb=1e-2, smoothing=1.0)
    rng = np.random.default_rng(seed)
    robot = replace(robot, friction=losses)
    steering = rng.uniform(-3, 3, robot.count)
    torque = 0.3 * rng.normal(size=robot.efforts)
    results = []
    for plant in (AnalyticPlant(robot), WheelPlant(robot)):
        plant.reset(steering=steering, twist=[0.2, 0.1, 0.3])
        plant.push([1.0, 2.0], 0.3, 0.1)
        sample = plant.step(torque, 0.3)
        results.append(np.concatenate([*sample[1:], *plant.truth()[1:], [
            plant.work, plant.dissipated, plant.kinetic_energy]]))
    np.testing.assert_allclose(*results, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize('name', ROBOTS)
def test_samples_are_of_rolling_wheels_and_fixed_ones_keep_their_angle(name):
    plant, samples = driven(name, 5, 3)
    robot = plant.robot
    for sample in samples[::50]:
        for part in sample[1:5]:
            assert part.shape == (robot.count,)
        np.testing.assert_array_equal(sample.steering[robot.fixed],
                                      robot.steering_zero[robot.fixed])
        np.testing.assert_array_equal(sample.steering_rate[robot.fixed], 0.0)
    rolled = rolling_rates(robot, samples[-1].steering, plant.truth().twist,
                           samples[-1].steering_rate)
    np.testing.assert_allclose(samples[-1].wheel_rate, rolled.wheel_rate, atol=1e-9)
    # tyres give way by millimetres a second, unless modules contradict each other
    if name != 'swerve':
        assert np.abs(rolled.side_slip).max() < 0.01
    # the path of a wheel is the integral of its rate
    paths = np.array([sample.wheel_angle for sample in samples])
    rates = np.array([sample.wheel_rate for sample in samples])
    np.testing.assert_allclose(np.diff(paths, axis=0), 0.005 * (rates[1:] + rates[:-1]),
                               atol=0.02 * np.abs(rates).max() + 1e-6)


def test_two_runs_have_the_same_bits_and_a_robot_at_rest_stays_exactly():
    one, two = (driven('amr', 7, 2)[0] for _ in range(2))
    np.testing.assert_array_equal(one.truth().pose, two.truth().pose)
    plant = make_plant('analytic', 'swerve')
    plant.reset(steering=[0.1, 0.2, 0.3, 0.4])
    plant.step(np.zeros(8), 1.0)
    np.testing.assert_array_equal(plant.truth().pose, 0.0)


def test_a_swerve_drive_drives_with_modules_that_almost_agree():
    """Modules 0.5° apart creep instead of holding the robot."""
    plant = WheelPlant(load('swerve'))
    plant.reset(steering=np.radians([0.5, -0.5, 0.3, -0.3]))
    for _ in range(200):
        # steering motors hold the angles
        sample = plant.sense()
        hold = -20.0 * (sample.steering - np.radians([0.5, -0.5, 0.3, -0.3]))
        plant.step([0.85] * 4 + (hold - 0.5 * sample.steering_rate).tolist(), 0.005)
    assert plant.truth().pose[1] == pytest.approx(0.49, abs=0.02)


def test_a_push_sideways_is_held_up_to_the_friction_of_the_floor():
    """The amr weighs 78 kg on six wheels: its two fixed ones hold 2·0.8·N = 204 N."""
    speeds = []
    for force in (100.0, 400.0):
        plant = make_plant('analytic', 'amr', PlantOptions(friction=0.8))
        plant.reset(steering=[-np.pi / 2] * 2 + [0.0] * 4)
        plant.push([0.0, force], 0.0, 0.5)
        plant.step(np.zeros(6), 0.5)
        speeds.append(plant.truth().twist[1])
    assert abs(speeds[0]) < 0.003
    assert speeds[1] > 0.5


def test_a_light_fork_with_much_friction_is_integrated_in_shorter_steps():
    robot = load('tricycle_agv')
    stiff = replace(robot, friction=replace(robot.friction, pivot_coulomb=0.5))
    plant = WheelPlant(stiff)
    plant.reset()
    # 2 N·m against 0.55: the fork turns at once, smoothly
    rates = [plant.step([0.0] * 3 + [1.0, 0.0, 0.0], 0.001).steering_rate[0] for _ in range(20)]
    assert np.all(np.diff(rates) > 0.0) and np.isfinite(rates).all()


def test_a_tiny_offset_is_refused_and_none_is_not():
    with pytest.raises(ValueError, match=f'{LEAST_OFFSET:g} m or more'):
        WheelPlant(replace(load('swerve'), caster_offset=LEAST_OFFSET / 2))
    assert isinstance(analytic_plant(load('swerve')), WheelPlant)
    assert isinstance(analytic_plant(C3P), AnalyticPlant)


def test_two_wheels_of_a_pivot_have_its_errors_together():
    true = perturbed(load('twin'), 3, ParameterErrors(
        hip_position=0.01, caster_offset=0.1, steering_zero=0.02, wheel_radius=0.01))
    for name in ('hip_position', 'caster_offset', 'steering_zero'):
        values = getattr(true, name)
        np.testing.assert_array_equal(values[::2], values[1::2])
        assert np.ptp(values) > 0.0
    assert np.all(true.wheel_radius[::2] != true.wheel_radius[1::2])
