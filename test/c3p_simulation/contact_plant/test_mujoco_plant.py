# SPDX-License-Identifier: Apache-2.0
"""The contact plant against the closed-chain equations, statics and Coulomb's law."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plant_cases import BRISK
from robots import caster_robots, powered_robots

mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')

from contact_bench import C3P, SHAPE, plant  # noqa: E402

from c3p_description.model import GRAVITY, Friction  # noqa: E402
from c3p_dynamics.caster_dynamics import kinetic_energy, mass_matrix  # noqa: E402
from c3p_kinematics.casters import inverse, sensed_forward  # noqa: E402
from c3p_simulation.contact_plant.mujoco_model import BodyShape  # noqa: E402
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant, PlantError  # noqa: E402
from c3p_simulation.plants.plant import AnalyticPlant  # noqa: E402

FREE = replace(C3P, friction=Friction())
WEIGHT = C3P.total_mass * GRAVITY


def pose_errors(robot, start, torque, seconds, **options):
    """Return |contact plant − analytic plant| of X, Y, φ at each of the steps of 5 ms."""
    ours, ideal, errors = plant(robot, start, friction=2.0, **options), AnalyticPlant(robot), []
    ideal.reset(**start)
    for k in range(round(seconds / 0.005)):
        ours.step(torque(0.005 * k), 0.005)
        ideal.step(torque(0.005 * k), 0.005)
        errors.append(np.abs(ours.truth().pose - ideal.truth().pose))
    return np.array(errors)


def waves(t):
    return 0.25 * np.sin(2 * t + np.arange(3))


# --- the same physics without slip ----------------------------------------------------------

@pytest.mark.parametrize(('start', 'millimetres'), [
    (BRISK, 3.0), ({'steering': [2.0, -1.0, 0.5]}, 0.5), ({'steering': 0.0}, 0.5),
    # all against their trail: every difference grows until they have turned
    ({'steering': 1.5, 'twist': (0.3, 0.0, 0.0)}, 5.0)])
def test_without_slip_and_friction_it_moves_as_the_closed_chain_does(start, millimetres):
    errors = pose_errors(FREE, start, waves, 3.0)
    # measured 1.7, 0.3, 0.1, 3.3 mm and 5.3, 0.8, 0.1, 5.8 mrad in 3 s: first order in the step,
    # and 0.2 mm of sinkage
    assert np.hypot(*errors.T[:2]).max() < 1e-3 * millimetres
    assert errors[:, 2].max() < 3e-3 * millimetres


def test_the_difference_to_the_closed_chain_falls_with_the_step():
    coarse, fine = (pose_errors(FREE, BRISK, waves, 1.0, timestep=h).max()
                    for h in (1e-3, 1.25e-4))
    # an eighth, but for the unequal sinkage of the tyres, which stays
    assert fine < coarse / 3


@settings(max_examples=12)
@given(caster_robots(min_casters=3), st.integers(0, 1000))
def test_any_robot_that_stands_moves_as_the_closed_chain_does(robot, seed):
    rng = np.random.default_rng(seed)
    steering = rng.uniform(-3, 3, robot.count)
    # torques that a tyre's grip can carry
    torque = rng.uniform(-0.1, 0.1, robot.count) * robot.total_mass * robot.wheel_radius
    follow(robot, steering, torque)


@settings(max_examples=12)
@given(powered_robots(min_casters=3), st.integers(0, 1000))
def test_any_robot_with_steering_motors_moves_as_the_closed_chain_does(robot, seed):
    rng = np.random.default_rng(seed)
    arms = np.concatenate([robot.wheel_radius, robot.caster_offset])
    robot = replace(robot, torque_limit=np.inf, steering_torque_limit=np.inf)
    follow(robot, rng.uniform(-3, 3, robot.count),
           rng.uniform(-0.1, 0.1, robot.efforts) * robot.total_mass * arms)


def follow(robot, steering, torque):
    """Drive both plants with constant torques and compare the poses."""
    share = robot.total_mass * GRAVITY / robot.count
    ideal = AnalyticPlant(robot)
    ideal.reset(steering=steering)
    try:
        ours = MujocoPlant(robot, friction=2.0)
        ours.reset(steering=steering)
    except PlantError:
        assume(False)
    for _ in range(100):
        assume(ours.wheel_load.min() > 0.1 * share)
        ours.step(torque, 0.005)
        ideal.step(torque, 0.005)
    # first order in the step, and tyres of 1 cm that sink in by 0.1 mm, unequally: mostly 0.3 %,
    # never yet more than 6 %; a wrong sign or place of anything makes 100 %
    travel = np.abs(ideal.truth().pose).max()
    assert np.abs(ours.truth().pose - ideal.truth().pose).max() < 0.1 * travel + 5e-4


@settings(max_examples=20)
@given(caster_robots(min_casters=3), st.integers(0, 1000))
def test_inertia_projected_on_rolling_is_that_of_the_closed_chain(robot, seed):
    steering = np.random.default_rng(seed).uniform(-3, 3, robot.count)
    try:
        ours = MujocoPlant(robot)
        ours.reset(steering=steering)
    except PlantError:
        assume(False)
    model, n = ours.model, robot.count
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, ours.data, full)
    # rates of the tree for ν = x, y, ω: base, then steering and wheel of each caster
    rates = np.zeros((model.nv, 3))
    for k, nu in enumerate(np.eye(3)):
        wheel_rate, steering_rate, _ = inverse(robot, steering, nu)
        rates[[0, 1, 3], k] = nu
        rates[6::2, k], rates[7::2, k] = steering_rate, wheel_rate
    wanted = mass_matrix(robot, steering)
    # tilts of some 1e-5 rad of the robot on its tyres
    np.testing.assert_allclose(rates.T @ full @ rates, wanted, rtol=0, atol=2e-4 * wanted.max())
    assert model.body_mass.sum() == pytest.approx(robot.total_mass, rel=1e-9) and n == model.npair


def test_energy_of_a_free_motion_stays():
    ours = plant(FREE, BRISK, friction=2.0)
    before = kinetic_energy(FREE, ours.sense().steering, ours.truth().twist)
    for _ in range(100):
        ours.step([0, 0, 0], 0.05)
        now = kinetic_energy(FREE, ours.sense().steering, ours.truth().twist)
        # measured −9e-4 in 10 s; four times less at a quarter of the step
        assert -2e-3 < now / before - 1 < 2e-4


def test_a_wheel_rolls_as_far_as_its_radius_says():
    ours = plant(FREE, {'twist': (0, 0.5, 0)})
    after = ours.step([0, 0, 0], 8.0)
    # a tyre that bears more than its share sinks in more: 3e-5 and 7e-5 here
    np.testing.assert_allclose(ours.truth().pose[1] / (after.wheel_angle * 0.04), 1, atol=2e-4)


def test_push_accelerates_as_on_the_analytic_plant():
    ours, ideal = plant(FREE, {'steering': 0.4}), AnalyticPlant(FREE)
    ideal.reset(steering=0.4)
    for each in (ours, ideal):
        each.push((5.0, 7.0), 0.3, 0.0525)
        for _ in range(20):
            each.step([0, 0, 0], 0.005)
    np.testing.assert_allclose(ours.truth().twist, ideal.truth().twist, atol=2e-4)
    np.testing.assert_allclose(ours.truth().pose, ideal.truth().pose, atol=5e-5)


# --- statics --------------------------------------------------------------------------------

@pytest.mark.parametrize('start', [{}, {'pose': (1, 2, 3), **BRISK}])
def test_nothing_jumps_after_a_reset(start):
    ours = plant(start=start)
    height = [ours.data.qpos[2]]
    for _ in range(100):
        ours.step([0, 0, 0], 0.001)
        height.append(ours.data.qpos[2])
    # as it begins to brake, load moves to the front: some µm of tilt, no jump
    assert np.ptp(height) < (1e-9 if not start else 1e-5)


def test_loads_balance_weight_and_moments():
    ours = plant(start={'steering': [0.3, 1.0, -2.0]})
    load = ours.wheel_load
    contact = np.array([c.pos[:2] for c in ours.data.contact[:3]])
    centre = ours.data.subtree_com[1][:2]
    assert load.sum() == pytest.approx(WEIGHT, rel=1e-6)
    np.testing.assert_allclose(load @ contact / load.sum(), centre, atol=1e-6)


def test_antagonistic_torques_lift_no_wheel():
    ours = plant()
    rng = np.random.default_rng(0)
    loads = []
    for k in range(600):
        if k % 20 == 0:
            torque = rng.uniform(-1.2, 1.2, 3)
        ours.step(torque - 0.05 * ours.sense().wheel_rate, 0.005)
        loads.append(ours.wheel_load)
    # measured 79 to 155 N of 114 N on average
    assert 70 < np.min(loads) and np.max(loads) < 170


# --- friction -------------------------------------------------------------------------------

@pytest.mark.parametrize(('degrees', 'direction', 'steering'), [
    (0.0, 0.0, 0.0), (0.0, 0.0, [0.3, -1.2, 2.2]), (0.5, 0.0, 0.0), (0.5, -np.pi / 2, 0.0),
    (0.5, 0.4, [0.3, -1.2, 2.2])])
def test_parked_it_creeps_less_than_a_tenth_of_a_millimetre_in_a_minute(degrees, direction,
                                                                        steering):
    ours = plant(slope=np.radians(degrees), slope_direction=direction)
    ours.reset(steering=steering)
    ours.step([0, 0, 0], 1.0)
    before = ours.truth().pose
    ours.step([0, 0, 0], 5.0)
    # measured over a whole minute: up to 0.03 mm on the slope, 2e-6 mm on the flat
    assert 12 * np.hypot(*(ours.truth().pose - before)[:2]) < 1e-4


@pytest.mark.parametrize('torque', [0.045, 0.055])
def test_wheels_break_loose_at_their_dry_friction(torque):
    ours = plant()
    ours.step([torque] * 3, 1.0)
    # 0.05 N·m hold; 0.005 N·m more on three wheels push 36 kg by 1 cm/s²
    assert (ours.truth().pose[1] > 3e-3) == (torque > 0.05)
    assert torque > 0.05 or ours.truth().pose[1] < 1e-6


def test_it_coasts_to_a_stop_as_far_as_the_analytic_plant():
    ours, ideal = plant(start={'twist': (0, 0.4, 0)}), AnalyticPlant(C3P)
    ideal.reset(twist=(0, 0.4, 0))
    for each in (ours, ideal):
        each.step([0, 0, 0], 6.0)
    # tanh friction is weaker in the last 0.1 rad/s, 4 mm/s: far below the bound of 1 %
    assert ours.truth().pose[1] == pytest.approx(ideal.truth().pose[1], rel=0.01)
    assert np.abs(ours.truth().twist).max() < 1e-7


def test_scrub_and_pivot_friction_turn_as_on_the_analytic_plant():
    # casters that swing round with 18 rad/s: far from where tanh and dry friction differ
    robot = replace(C3P, friction=Friction(pivot_coulomb=0.5, scrub_coulomb=1.0))
    start = {'steering': np.radians([30, 150, 270]) + 1.2, 'twist': (0, 0, 2.0)}

    def turned(each):
        each.reset(**start)
        each.step([0, 0, 0], 0.05)
        return each.truth().twist[2], *each.sense().steering

    ours, ideal, free = (np.array(turned(each)) for each in (
        plant(robot, friction=2.0), AnalyticPlant(robot), AnalyticPlant(FREE)))
    # what friction takes, to the first order in the step
    np.testing.assert_allclose(ours - free, ideal - free, rtol=0.05)
    assert np.abs(ideal - free).min() > 0.05


@pytest.mark.parametrize('grip', [0.05, 0.2])
def test_spinning_wheels_pull_with_their_grip_times_their_load(grip):
    ours = plant(FREE, friction=grip)
    after = ours.step([1.2] * 3, 0.3)
    # of the robot without its wheels' spin; Coulomb's law, whatever the speed of the slip
    assert ours.truth().twist[1] == pytest.approx(grip * GRAVITY * 0.3, rel=1e-4)
    spin = (1.2 * 3 - grip * WEIGHT * 0.04) / FREE.wheel_spin_inertia.sum() * 0.3
    assert after.wheel_rate.mean() == pytest.approx(spin, rel=1e-3)


def test_each_wheel_has_its_own_grip():
    ours = plant(FREE, friction=[0.1, 0.8, 0.8])
    after = ours.step([1.2] * 3, 0.1)
    assert after.wheel_rate[0] > 10 * after.wheel_rate[1:].max()


def test_with_enough_grip_nothing_slips_and_with_too_little_it_does():
    def slip(grip):
        ours, worst = plant(friction=grip), 0.0
        for _ in range(100):
            s = ours.step([1.2, -1.2, 1.2], 0.005)
            worst = max(worst, np.abs(sensed_forward(
                C3P, s.steering, s.wheel_rate, s.steering_rate).residual).max())
        return worst

    # 30 N on loads of 80 N and more; casters that turn at 10 rad/s leave 1 mm/s to a step of 1 ms
    assert slip(0.5) < 3e-3 and slip(0.15) > 0.05


def test_a_slope_accelerates_as_gravity_less_the_losses():
    angle = np.radians(4)
    ours = plant(slope=angle, slope_direction=np.pi / 2)
    ours.step([0, 0, 0], 0.5)
    inertia = mass_matrix(C3P, [0, 0, 0])[1, 1]
    force = WEIGHT * np.sin(angle) - 3 * 0.05 / 0.04
    # bearing drag, 0.001 N·m·s/rad, takes another 2 % by then
    assert ours.truth().twist[1] == pytest.approx(0.5 * force / inertia, rel=0.03)
    assert abs(ours.truth().twist[0]) < 1e-6


# --- interface ------------------------------------------------------------------------------

def test_equal_runs_are_equal_to_the_last_bit_and_reset_forgets():
    def run(ours):
        ours.reset(pose=(1, 2, 3), **BRISK)
        ours.push((3, 4), 0.5, 0.07)
        for k in range(60):
            ours.step(waves(0.005 * k), 0.005)
        return np.concatenate([*ours.truth()[1:], *ours.sense()[1:]])

    once = plant()
    once.step([1.2, -1.2, 0.3], 1.0)
    assert np.array_equal(run(once), run(plant())) and np.array_equal(run(once), run(once))


def test_yaw_and_angles_are_not_wrapped():
    start = np.radians([30, 150, 270])
    ours = plant(FREE, {'steering': start, 'twist': (0, 0, 2.0)}, friction=2.0)
    after = ours.step([0, 0, 0], 8.0)
    assert ours.truth().pose[2] == pytest.approx(16.0, rel=0.02)
    assert ours.time == after.time == pytest.approx(8.0)


def test_sensed_rates_are_the_slopes_of_the_sensed_angles():
    ours = plant(start=BRISK)
    before = ours.step([0, 0, 0], 0.001)
    after = ours.step([0, 0, 0], 0.001)
    # an angle grows by the rate at the end of its step
    for angle, rate in (('steering', 'steering_rate'), ('wheel_angle', 'wheel_rate')):
        slope = (getattr(after, angle) - getattr(before, angle)) / 0.001
        np.testing.assert_allclose(slope, getattr(after, rate), rtol=1e-8)


def test_torque_is_clipped_and_idle_wheels_get_none():
    robot = replace(C3P, driven=[True, True, False])
    sample = plant(robot).step([5, -0.5, 1.0], 0.01)
    assert sample.wheel_torque.tolist() == [1.2, -0.5, 0.0]


def test_samples_do_not_change_when_the_plant_moves_on():
    ours = plant(start=BRISK)
    sample, truth = ours.sense(), ours.truth()
    kept = [np.copy(part) for part in (*sample[1:], *truth[1:])]
    ours.step([1, 1, 1], 0.1)
    for part, copy in zip((*sample[1:], *truth[1:]), kept, strict=True):
        assert np.array_equal(part, copy)


def test_names_need_not_be_fit_for_xml():
    odd = replace(C3P, name='R&D "7" <3>', wheel_joints=('a&b', '<c>', 'd"e'))
    assert MujocoPlant(odd).step([0.5] * 3, 0.1).wheel_rate.min() > 0.5


def test_a_model_alone_gets_likely_heights():
    likely = BodyShape.of(C3P)
    # the proportions are the C3P's own
    assert likely.platform_com_height == pytest.approx(SHAPE.platform_com_height)
    assert likely.platform_tilt_inertia == pytest.approx(SHAPE.platform_tilt_inertia, rel=0.05)
    np.testing.assert_allclose(likely.link_com_height, SHAPE.link_com_height)
    np.testing.assert_allclose(likely.wheel_width, SHAPE.wheel_width, rtol=0.05)
    assert MujocoPlant(C3P).step([0.5] * 3, 0.1).wheel_rate.min() > 0.5
