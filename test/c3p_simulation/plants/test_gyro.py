# SPDX-License-Identifier: Apache-2.0
"""Gyro of a simulated robot: its errors, its times, and nothing of it by default."""

import math
from dataclasses import replace

import numpy as np
import pytest

from c3p_description.model import CasterRobot
from c3p_simulation.plants.gyro import GyroErrors, SimulatedGyro
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensor_profiles import PROFILES, settings_of_values
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings, turns_measured
from c3p_simulation.plants.timing import SampleTiming

ROBOT = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)


def measured(errors, rate, seconds, timing=None, seed=0):
    """Return stamps and rates of a gyro on a platform that turns at `rate`."""
    gyro = SimulatedGyro(errors, timing or SampleTiming(), np.random.default_rng(seed))
    found = []
    for k in range(round(seconds * 1000)):
        now = 0.001 * k
        if gyro.due(now):
            gyro.read(now, rate)
        found += gyro.arrived(now)
    return np.array(found).T


def test_there_is_no_gyro_by_default():
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings())
    plant.step(np.zeros(ROBOT.efforts), 0.005)
    assert turns_measured(plant) == () == turns_measured(AnalyticPlant(ROBOT))
    assert PROFILES['real'].gyro.rate == 0.0 < PROFILES['real_gyro'].gyro.rate


def test_scale_bias_and_drift_are_those_given():
    time, rate = measured(GyroErrors(rate=100.0, scale=0.01, bias=0.02, bias_drift=0.001), 0.5,
                          10.0)
    assert np.allclose(np.diff(time), 0.01) and time[0] == 0.0
    assert np.allclose(rate, 0.505 + 0.02 + 0.001 * (time + 0.01))


def test_noise_and_walk_have_their_densities():
    """The integral of white noise over T has the deviation noise √T; a walk adds √(T³/3)."""
    ends = np.array([measured(GyroErrors(rate=100.0, noise=0.01), 0.0, 2.0, seed=s)[1].sum() / 100
                     for s in range(200)])
    # a deviation of 200 draws is known to 5 %
    assert ends.std() == pytest.approx(0.01 * math.sqrt(2.0), rel=0.2)
    walked = np.array([measured(GyroErrors(rate=100.0, bias_walk=0.01), 0.0, 2.0, seed=s)[1][-1]
                       for s in range(200)])
    assert walked.std() == pytest.approx(0.01 * math.sqrt(2.0), rel=0.2)


def test_drawn_errors_have_their_deviations():
    drawn = np.array([measured(GyroErrors(rate=10.0, bias_std=0.02, scale_std=0.01), 1.0, 0.2,
                               seed=s)[1][0] for s in range(300)])
    assert drawn.mean() == pytest.approx(1.0, abs=0.005)
    assert drawn.std() == pytest.approx(math.hypot(0.02, 0.01), rel=0.2)


def test_a_late_gyro_states_the_time_of_its_arrival_by_the_clock_of_the_robot():
    late = GyroErrors(rate=100.0, latency=0.02)
    assert measured(late, 0.5, 1.0)[0][0] == pytest.approx(0.02)
    slow = measured(late, 0.5, 1.0, SampleTiming(clock_drift=-0.1))
    assert slow[0][-1] == pytest.approx(0.9 * 0.99)


def test_a_gyro_leaves_the_random_numbers_of_the_other_sensors():
    def joints(settings):
        plant = SensedPlant(AnalyticPlant(ROBOT), settings, seed=3)
        plant.reset(twist=(0.2, 0.0, 0.1))
        for _ in range(40):
            plant.step(np.full(ROBOT.efforts, 0.1), 0.005)
        return np.concatenate([plant.sense().steering, plant.sense().wheel_angle])

    real = SensorSettings.real()
    assert np.array_equal(joints(real), joints(real.with_gyro()))


def test_the_gyro_of_a_plant_turns_as_the_platform():
    settings = replace(SensorSettings.ideal(), gyro=GyroErrors(rate=250.0))
    plant = SensedPlant(AnalyticPlant(ROBOT), settings)
    plant.reset(twist=(0.0, 0.0, 0.4))
    turns = []
    for _ in range(20):
        plant.step(np.zeros(ROBOT.efforts), 0.005)
        turns += turns_measured(plant)
    # at 0, 4, … 100 ms
    assert len(turns) == 26
    assert turns[-1].rate == pytest.approx(plant.truth().twist[2], rel=0.05)


def test_settings_of_a_file_have_a_gyro():
    found = settings_of_values({'like': 'ideal', 'gyro': {'rate': 200.0, 'scale': -2.0}})
    assert found.gyro == GyroErrors(rate=200.0, scale=-2.0)
    with pytest.raises(ValueError, match='gyro.speed: unknown'):
        settings_of_values({'gyro': {'speed': 1.0}})
    with pytest.raises(ValueError, match='latency'):
        settings_of_values({'gyro': {'latency': -1.0}})
