# SPDX-License-Identifier: Apache-2.0
"""The experiment with the sensors of real robots: its cases, counts and repeatability."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_experiments.catalogue import EXPERIMENTS
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.parallel.workers import Workers
from c3p_experiments.real_sensors.drives import TimedDrive, driven, timed_drive
from c3p_experiments.real_sensors.experiment import real_sensors, summary, timed_cases
from c3p_experiments.real_sensors.properties import ERRORS, PROPERTIES, TIMING, sensors_with
from c3p_simulation.plants.sensors import SensorSettings

BASE = SensorSettings()
# a law that computes little
QUICK = Conditions(controller='paper')


@pytest.mark.parametrize('name', [name for name in PROPERTIES if name not in ('none', 'real')])
def test_a_property_is_alone_and_is_one_of_the_profile_or_is_named(name):
    sensors = sensors_with(name, BASE)
    assert sensors != BASE
    for group, table in (('errors', ERRORS), ('timing', TIMING)):
        changed = {field for field, value in vars(getattr(sensors, group)).items()
                   if value != getattr(getattr(BASE, group), field)}
        assert changed == set(table.get(name, ()))
    assert sensors.rates == (name != 'no_rates')


def test_none_is_the_base_and_real_has_the_profile():
    assert sensors_with('none', BASE) == BASE
    assert sensors_with('real', BASE) == SensorSettings.real()
    other = replace(BASE, wheel_counts=500, latency=0.02)
    assert sensors_with('real', other) == replace(SensorSettings.real(), wheel_counts=500,
                                                  latency=0.02)


def test_drives_have_sensors_of_their_own_and_the_same_every_time():
    cases = list(timed_cases(Bench(QUICK, 'c3p'), 2, 1, ('real',)))
    assert [(case.task, case.seed) for case in cases] == [
        ('line', 20000), ('line', 20001), ('triangle', 20000), ('triangle', 20001)]
    one, again, other = (timed_drive(*case) for case in (cases[0], cases[0], cases[1]))
    assert one == again and one.true_error != other.true_error
    log, odometry = driven(cases[0])
    assert one.odometry_error == pytest.approx(
        np.hypot(*(log.odom.pose[-1] - log.ground_truth.pose[-1])[:2]))
    # the odometry has seen every sample, with its stamp
    assert odometry.settings.stamp_jitter > 0.0 and np.diff(log.joints.time).std() > 1e-3


def test_a_summary_counts_alarms_of_all_drives_and_errors_of_each_task():
    drives = [TimedDrive('real', task, k, 0.01 * k, 0.02 * k, 10.0, k, 1, 20, k < 3)
              for task in ('line', 'triangle') for k in range(5)]
    found = summary(drives)
    assert found['line']['true_error_p50_m'] == pytest.approx(0.02)
    assert found['line']['true_error_p90_m'] == pytest.approx(0.036)
    assert found['triangle']['odometry_error_max_m'] == pytest.approx(0.08)
    assert (found['slip_alarms'], found['fault_alarms'], found['missed']) == (20, 10, 4)
    # 200 of 20000 samples
    assert found['held_ratio'] == pytest.approx(0.01)


@pytest.mark.slow
def test_the_experiment_writes_its_table_and_page(tmp_path):
    outcome = real_sensors(Bench(QUICK, 'c3p'), 1, 1, ('late_rates', 'real'), Workers(jobs=1))
    assert set(outcome.metrics) == {'reached', 'seeds', 'late_rates', 'real'}
    assert outcome.metrics['late_rates']['line']['drives'] == 1
    drawn = EXPERIMENTS['real_sensors']
    files = drawn.page(outcome, Bench(QUICK, 'c3p'), drawn, tmp_path / 'page')
    assert all(file.stat().st_size > 1000 for file in files)
