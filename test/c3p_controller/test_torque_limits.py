# SPDX-License-Identifier: Apache-2.0
"""Descriptions that name no torque limit: the laws plan with what a tyre passes on, and drive."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_description.reading.loader import load
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

C3P = load('c3p')
GOAL = (4.0, 0.0, 0.0)

# m g r / n at µ = 1: what the share of the weight on a wheel lets it pass to the ground, N·m
GRIP = C3P.total_mass * 9.81 * C3P.wheel_radius / C3P.count


@pytest.mark.parametrize('limit', [(np.inf, np.inf, np.inf), (1.2, np.inf, np.inf)])
def test_a_robot_without_torque_limits_leaves_the_singularity_and_arrives(limit):
    robot = replace(C3P, torque_limit=np.array(limit))
    plant = SensedPlant(AnalyticPlant(robot), SensorSettings(latency=0.010))
    log = run_loop(plant, PredictiveController(robot, PredictiveSettings()),
                   GoalSource(PathController(PathGains()), [GOAL]), duration=15.0, steering=0.0,
                   stop=Held())
    assert log.ended
    # the path controller's goal zone
    assert np.hypot(*(log.ground_truth.pose[-1, :2] - GOAL[:2])) <= 0.005
    torque = np.abs(log.wheel_effort.value)
    # it does drive, and no wheel gets more than its limit, or its grip where none is named
    assert torque.max() > 0.5
    assert (torque <= np.minimum(limit, GRIP) * (1.0 + 1e-9)).all()
