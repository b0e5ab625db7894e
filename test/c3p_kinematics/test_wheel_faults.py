# SPDX-License-Identifier: Apache-2.0
"""Faults of wheels without offset, fixed wheels and pairs on a pivot; joints of other times."""

from functools import cache

import numpy as np
import pytest
from recorded_plant import RecordedPlant, sensed
from wheel_drives import drive, wander
from wheel_mixes import mixed_robot

from c3p_description import load
from c3p_experiments.loop.closed_loop import timed_odometry
from c3p_kinematics.fault_report import SURE
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_simulation.plants.sensors import SensorSettings

SWERVE = load('swerve')
AHEAD = -0.5 * np.pi
REAL = SensorSettings.real()
# begin of a fault, s
AT = 6.0
MODULE = 2


@cache
def ride_of(seed):
    return drive(SWERVE, wander(seed, sideways=0.2), 14.0, rate=100.0, begin=AHEAD)


def watched(plant, seed):
    """Return the times and reports of an odometry behind the sensors of real robots."""
    steps = [2.0 * np.pi / counts for counts in (REAL.wheel_counts, REAL.steering_counts)]
    odometry = Odometry(plant.robot, OdometrySettings(
        wheel_resolution=steps[0], steering_resolution=steps[1], **timed_odometry(REAL.timing)))
    return [(s.time, odometry.step(s.time, s.steering, s.wheel_angle, s.wheel_rate,
                                   s.steering_rate)) for s in sensed(plant, REAL, seed)]


def spoiled(ride, fault):
    """Return the angles of a drive with a fault of one module from `AT` on."""
    steering = np.unwrap(ride.steering, axis=0)
    wheel = ride.wheel.copy()
    since = np.clip(ride.time - AT, 0.0, None)
    begin = int(np.argmax(since > 0.0))
    if fault == 'stuck':
        wheel[begin:, MODULE] = wheel[begin, MODULE]
    elif fault == 'spins':
        # 0.3 m/s too fast for a second
        wheel[:, MODULE] += 0.3 * np.minimum(since, 1.0) / SWERVE.wheel_radius[MODULE]
    elif fault == 'drifts':
        steering[:, MODULE] += 0.3 * since
    else:
        steering[begin:, MODULE] = steering[begin, MODULE]
    return steering, wheel


@pytest.mark.parametrize('seed', range(24))
def test_no_monitor_of_any_mix_of_wheels_computes_without_a_number(seed):
    robot = mixed_robot(seed)
    ride = drive(robot, wander(seed, sideways=0.1), 1.5, rate=40.0, begin=AHEAD)
    odometry = Odometry(robot)
    for k in range(len(ride.time)):
        found = odometry.step(ride.time[k], ride.steering[k], ride.wheel[k])
        assert np.isfinite(found.slip.statistic) and np.isfinite(found.faults.statistic)
    state = odometry._state
    for monitor in (state.slip, state.faults, state.grip, state.wiring):
        assert not np.isnan(monitor.block).any()
    # what has no encoder has no row: any finite variance does
    variance = state.faults.work.variance
    assert np.all(np.isfinite(variance)) and np.all(variance > 0.0)


@pytest.mark.parametrize(('fault', 'within'), [('stuck', 0.2), ('spins', 0.2), ('drifts', 1.8),
                                               ('angle stuck', 5.6)])
def test_a_fault_of_a_module_is_found_and_named_with_sensors_of_real_robots(fault, within):
    """A wrong angle shows once the module should roll beside it."""
    for seed in (2, 3):
        ride = ride_of(seed)
        found = watched(RecordedPlant(SWERVE, ride, *spoiled(ride, fault)), seed)
        assert not any(e.faults.alarm or e.slip.slipping for t, e in found if t < AT)
        named = [(t, e.faults.caster) for t, e in found if e.faults.confidence >= SURE]
        first = named[0][0]
        assert first < AT + within
        soon = [caster for t, caster in named if t < first + 0.5]
        assert len(soon) > 10 and set(soon) == {MODULE}


@pytest.mark.parametrize('seed', [2, 3, 4])
def test_no_module_is_accused_in_a_drive_without_a_fault_with_sensors_of_real_robots(seed):
    found = watched(RecordedPlant(SWERVE, ride_of(seed)), seed)
    assert not any(e.faults.alarm or e.slip.slipping for _, e in found)
    # and not because nothing is compared
    assert max(e.faults.statistic for t, e in found if t > 1.0) > 1.0


def test_the_variance_by_other_times_is_that_of_the_angle_which_turns_meanwhile():
    """A wheel below its pivot whose angle is late by σ rolls into another direction by σ θ̇."""
    state = None
    for rate in (0.0, 1.0):
        odometry = Odometry(SWERVE, OdometrySettings(sample_skew=0.0025))
        monitor = odometry._faults
        for _ in range(400):
            monitor.step(0.005, np.full(4, AHEAD), np.full(4, 0.3) / SWERVE.wheel_radius,
                         np.full(4, rate))
        before = state
        state = monitor.state.work.variance.copy()
    more = (SWERVE.rows[:, 1] * 0.0025 * 0.3) ** 2
    np.testing.assert_allclose((state - before)[:, 1], more, rtol=0.01)
