# SPDX-License-Identifier: Apache-2.0
"""Drives with stamps that deviate by 3 ms from the samples' times, as ros2_control's in Gazebo."""

import numpy as np
import pytest
from jitter import JitteredPlant, PacedPlant

from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_description.reading.loader import load
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.sample_times import SampleStep
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

ROBOT = load('c3p')
SPREAD = 0.003


def drive(law, seed, jitter, counts=0):
    """Return the log of 2 m with jittered stamps, and the reports of the traction control."""
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(wheel_counts=counts,
                                                             steering_counts=counts))
    stamped = JitteredPlant(plant, SPREAD, seed)
    controller, reports = make_controller(law, ROBOT), set()
    held = Held()

    def stop(cycle):
        reports.add(controller.law.traction.describe())
        return held(cycle)
    log = run_loop(PacedPlant(stamped, SampleStep(jitter)), controller.law,
                   GoalSource(PathController(PathGains()), [(2.0, 0.0, 0.0)]), duration=12.0,
                   stop=stop)
    assert stamped.lost > 20
    return log, reports - {''}


@pytest.mark.parametrize('seed', range(2))
def test_goals_are_reached_as_with_exact_stamps(seed):
    log, reports = drive('mpc', seed, SPREAD)
    assert not reports and log.ended
    assert np.hypot(*(log.ground_truth.pose[-1, :2] - (2.0, 0.0))) < 0.004
    assert np.abs(log.ground_truth.pose[:, 1]).max() < 0.006
    # the odometry is that of exact stamps
    assert np.hypot(*(log.ground_truth.pose - log.odom.pose)[:, :2].T).max() < 0.001
