# SPDX-License-Identifier: Apache-2.0
"""The closed loop with sensors of real robots: batches, stamps, and truth at the true time."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_bringup.cli.experiment import _conditions
from c3p_experiments.campaigns.campaign import identity
from c3p_experiments.campaigns.draw import DrawnBench
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.loop.closed_loop import run_loop
from c3p_experiments.loop.command_sources import TwistSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensor_profiles import LOW_COST
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings
from c3p_simulation.plants.timing import SampleTiming
from c3p_simulation.sensor_files import read_sensors


def driven(seconds=2.0, controller='paper', **settings):
    bench = Bench(Conditions(controller=controller), 'c3p')
    plant = SensedPlant(AnalyticPlant(bench.robot), SensorSettings(**settings), 1)
    return run_loop(plant, make_controller(controller, bench.robot).law,
                    TwistSource(lambda t: (0.0, 0.3, 0.0)), duration=seconds)


def test_every_sample_of_a_batch_moves_the_odometry_and_the_newest_the_law():
    log = driven(timing=SampleTiming(batch=(2, 6)))
    # the first sample, then all up to those that wait at the end
    assert len(log.joints.time) == pytest.approx(401, abs=6)
    np.testing.assert_allclose(np.diff(log.joints.time), 0.005, atol=1e-9)
    assert 80 < len(log.solve_time) < 130
    # a torque is held between two steps of the law
    held = (np.diff(log.wheel_effort.value, axis=0) == 0.0).all(1)
    assert held.sum() >= len(log.joints.time) - len(log.solve_time) - 1
    # each row has the pose of its own time
    assert np.array_equal(log.odom.time, log.ground_truth.time)
    error = np.hypot(*(log.odom.pose - log.ground_truth.pose)[:, :2].T)
    assert error.max() < 1e-3


def test_joints_have_stamps_and_poses_true_times():
    log = driven(timing=SampleTiming(stamp_jitter=0.001, clock_drift=-0.24))
    assert log.joints.time[-1] == pytest.approx(0.76 * 2.0, abs=0.02)
    assert log.odom.time[-1] == log.ground_truth.time[-1] == pytest.approx(2.0)
    np.testing.assert_allclose(np.diff(log.odom.time), 0.005, atol=1e-9)


def test_a_robot_without_rates_is_driven_by_its_positions():
    log = driven(controller='mpc', rates=False)
    assert np.isnan(log.joints.wheel_rate).all()
    speed = log.ground_truth.twist[-100:, 1]
    assert speed.mean() == pytest.approx(0.3, abs=0.005) and not log.fault


def test_a_bench_expects_inexact_times_of_sensors_that_have_them():
    exact, real = (Bench(Conditions(sensor_profile=name), 'c3p').odometry().settings
                   for name in ('encoders', 'real'))
    assert {name: getattr(exact, name) for name in SYNCHRONOUS} == SYNCHRONOUS
    assert real.stamp_jitter > 0.0 and real.sample_skew > 0.0


def test_conditions_take_counts_and_latency_of_the_profile_unless_given():
    low = _conditions({'sensors': 'low_cost'})
    assert low.sensors == LOW_COST and low.wheel_counts == 240
    assert _conditions({'sensors': 'low_cost', 'counts': [500, 600], 'latency': 5.0}
                       ).sensors == replace(LOW_COST, wheel_counts=500, steering_counts=600,
                                            latency=0.005)
    assert _conditions({}).sensors == SensorSettings()
    with pytest.raises(ValueError, match='sensors = best: must be one of ideal'):
        _conditions({'sensors': 'best'})


def test_conditions_name_their_sensors_where_they_were_chosen():
    assert 'sensor_profile' not in Bench(Conditions(), 'c3p').describe()
    assert Bench(Conditions(sensor_profile='real'), 'c3p').describe()['sensor_profile'] == 'real'


def test_draws_of_a_campaign_have_the_sensors_of_their_profile():
    spec = CampaignSpec(plant='analytic', sensors='real', dropout=0.01)
    drawn = draw(spec, 3)
    settings = DrawnBench(spec, drawn).plant().settings
    real = SensorSettings.real()
    assert (settings.errors, settings.timing) == (real.errors, real.timing)
    assert (settings.latency, settings.wheel_counts, settings.dropout) == (
        drawn.latency, drawn.wheel_counts, 0.01)
    with pytest.raises(ValueError, match='sensors = best'):
        CampaignSpec(sensors='best')


def test_a_campaign_is_another_one_after_its_file_of_sensors_has_changed(tmp_path):
    file = tmp_path / 'sensors.yaml'
    found = []
    for jitter in (0.001, 0.002):
        file.write_text(f'timing: {{stamp_jitter: {jitter}}}')
        # as in a process that begins then
        read_sensors.cache_clear()
        found.append(identity(CampaignSpec(plant='analytic', sensors=f'{file}')))
    assert found[0] != found[1]
