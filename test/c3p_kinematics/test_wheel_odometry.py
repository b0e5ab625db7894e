# SPDX-License-Identifier: Apache-2.0
"""Odometry of wheels without offset, of fixed wheels, and of joints without an encoder."""

from dataclasses import replace

import numpy as np
import pytest
from wheel_drives import drive, wander

from c3p_description import load
from c3p_kinematics.odometry import Odometry, OdometrySettings

SWERVE = load('swerve')
TRICYCLE = load('tricycle_agv')
# two fixed and driven wheels, and two free casters that nothing measures
AMR = replace(load('powered_caster'), name='amr', steered=False,
              hip_position=[[0.0, 0.2], [0.0, -0.2], [0.25, 0.1], [0.25, -0.1]],
              caster_offset=[0.0, 0.0, 0.03, 0.03], fixed=[True, True, False, False],
              driven=[True, True, False, False], steering_zero=-0.5 * np.pi,
              steering_encoder=[False] * 4, wheel_encoder=[True, True, False, False])
# a steered wheel with encoders, a caster whose steering alone is measured, and a fixed wheel
MIX = replace(TRICYCLE, name='mix', caster_offset=[0.0, 0.02, 0.0], steered=False,
              fixed=[False, False, True], steering_encoder=[True, True, False])

# modules whose wheels stand beside their pivots, on alternate sides
BESIDE = replace(SWERVE, name='beside', lateral_offset=[0.045, -0.045, -0.045, 0.045])
# two differential wheels on each of four pivots, as of a PR2
TWINS = replace(
    load('powered_caster'), name='twins', steering_zero=0.0, steering_joints=(), wheel_joints=(),
    steering_sign=1.0, wheel_sign=1.0, link_mass=1.0, link_com=0.0, link_inertia=0.01,
    wheel_mass=0.4, wheel_spin_inertia=1e-3, wheel_yaw_inertia=1e-3,
    hip_position=np.repeat([[0.22, 0.22], [0.22, -0.22], [-0.22, 0.22], [-0.22, -0.22]], 2,
                           axis=0),
    caster_offset=0.0, wheel_radius=0.075, lateral_offset=[0.049, -0.049] * 4)
# the whole robot turns on one pivot with two differential wheels behind it, as of an HSR
ONE_PIVOT = replace(TWINS, name='one pivot', hip_position=np.zeros((2, 2)), caster_offset=0.11,
                    lateral_offset=[0.133, -0.133], wheel_radius=0.04, steering_joints=(),
                    wheel_joints=(), **{field: getattr(TWINS, field)[:2] for field in (
                        'steering_zero', 'steering_sign', 'wheel_sign', 'link_mass', 'link_com',
                        'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia')})

ROBOTS = {'swerve': SWERVE, 'tricycle': TRICYCLE, 'amr': AMR, 'mix': MIX, 'beside': BESIDE,
          'twins': TWINS, 'one pivot': ONE_PIVOT}
OMNIDIRECTIONAL = ('swerve', 'beside', 'twins', 'one pivot')
# angles at which all wheels roll ahead
AHEAD = -0.5 * np.pi
EXACT = OdometrySettings(prior=None, stamp_jitter=0.0, sample_skew=0.0)


def run(robot, ride, settings=None, wheel=None):
    """Return the odometry's estimates over a drive."""
    odometry = Odometry(robot, settings)
    rolled = ride.wheel if wheel is None else wheel
    return [odometry.step(*row) for row in zip(ride.time, ride.steering, rolled, strict=True)]


@pytest.mark.parametrize('name', ROBOTS)
def test_a_drive_without_slip_ends_where_the_robot_is_and_without_an_alarm(name):
    robot = ROBOTS[name]
    sideways = 0.2 if name in OMNIDIRECTIONAL else 0.0
    ride = drive(robot, wander(1, sideways=sideways), 30.0, begin=AHEAD)
    found = run(robot, ride)
    path = found[-1].distance
    assert path > 6.0
    # of third order in the steps of 20 ms
    assert np.hypot(*(found[-1].pose - ride.pose[-1])[:2]) < 2e-3 * path
    assert not any(e.slip.slipping or e.faults.alarm for e in found)
    assert max(e.grip.held for e in found) == 0.0
    np.testing.assert_allclose(found[-1].twist, wander(1, sideways=sideways)(30.0), atol=0.02)
    covariance = found[-1].pose_covariance
    assert np.all(np.linalg.eigvalsh(covariance) > 0.0)


def test_odometry_does_not_read_joints_without_an_encoder():
    poses = []
    for rest in (0.0, 7.0):
        odometry = Odometry(TRICYCLE)
        for k in range(200):
            steering = [0.3 - 0.5 * np.pi, rest, rest * k]
            estimate = odometry.step(0.02 * k, steering, [0.1 * k, rest * k, 0.0])
        poses.append(np.concatenate([estimate.pose, estimate.residual.ravel()]))
    np.testing.assert_array_equal(*poses)


def test_a_module_that_spins_is_named_and_left_out():
    ride = drive(SWERVE, wander(2, sideways=0.2), 20.0, begin=AHEAD)
    wheel = ride.wheel.copy()
    # 0.3 m/s too fast for a second
    spins = np.clip(ride.time - 8.0, 0.0, 1.0) * 0.3 / SWERVE.wheel_radius[2]
    wheel[:, 2] += spins
    found = run(SWERVE, ride, wheel=wheel)
    named = {e.slip.suspect for e in found if e.slip.slipping and e.slip.confidence > 0.9}
    assert named == {2}
    during = (ride.time > 8.2) & (ride.time < 9.0)
    assert np.mean([e.slip.slipping for e, now in zip(found, during, strict=True) if now]) > 0.9
    assert np.hypot(*(found[-1].pose - ride.pose[-1])[:2]) < 0.03
    # residuals are velocities, also across the tyres
    assert max(np.abs(e.residual[2, 0]) for e in found) == pytest.approx(0.3, abs=0.05)


def test_a_spin_of_the_only_driven_wheel_is_held():
    def straight(t):
        return np.array([0.3, 0.0, 0.0])

    ride = drive(TRICYCLE, straight, 4.0, rate=100.0, begin=AHEAD)
    wheel = ride.wheel.copy()
    # 3 m/s within one sample, for 0.2 s: no fixed wheel shows the path meanwhile
    wheel[:, 0] += np.clip(ride.time - 2.0, 0.0, 0.2) * 3.0 / TRICYCLE.wheel_radius[0]
    found = run(TRICYCLE, ride, EXACT, wheel)
    assert max(e.grip.held for e in found) > 0.1
    assert abs(found[-1].pose[0] - 1.2) < 0.1
    assert found[-1].pose_covariance[0, 0] > 1e-4


@pytest.mark.parametrize('name', ['tricycle', 'swerve'])
def test_errors_by_sliding_tyres_are_within_the_covariance(name):
    robot = ROBOTS[name]
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ride = drive(robot, wander(seed), 20.0, rate=25.0, begin=AHEAD)
        # each tyre moves beside its plane by a slip angle that lasts for 5 cm
        path = np.cumsum(np.abs(np.diff(ride.wheel[:, :1], axis=0, prepend=0.0)), axis=0)[:, 0]
        parts = (path * robot.wheel_radius[0] / 0.05).astype(int)
        slip = robot.slip_angle * rng.normal(size=(parts[-1] + 1, robot.count))
        steering = ride.steering + np.where(robot.fixed, 0.0, slip[parts])
        estimate = run(robot, ride._replace(steering=steering), EXACT)[-1]
        error = estimate.pose - ride.pose[-1]
        error[2] = (error[2] + np.pi) % (2 * np.pi) - np.pi
        errors.append(error @ np.linalg.solve(estimate.pose_covariance, error) / 3.0)
    # mean of 12 · 3 squares: 0.6 to 1.5; a belief in a tyre is a model of it
    assert 0.1 < np.mean(errors) < 2.0
    assert max(errors) < 6.0
