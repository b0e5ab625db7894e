# SPDX-License-Identifier: Apache-2.0
"""Cycles of the predictive law without a compiler: the same torques."""

import numpy as np
import pytest
from plain_python import compiled_and_plain

PROGRAM = """
import json
import numpy as np
from c3p_controller.command_follower import CommandFollower
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.torque_law import Sensed
from c3p_description import load
from c3p_simulation.plants.plant import AnalyticPlant

robot = load({name!r})
settings = PredictiveSettings(steps=6, horizon=0.2, solve_ahead={ahead})
law = PredictiveController(robot, settings)
follower, path = CommandFollower(robot, law), PathController(PathGains())
plant = AnalyticPlant(robot)
sample = plant.reset(steering=0.4)
path.set_goal(np.array([1.0, 0.3, 0.5]), np.zeros(3))
rows = []
for k in range(40):
    truth = plant.truth()
    sensed = Sensed(sample.time, sample.steering, sample.wheel_rate, truth.pose, truth.twist)
    if k % 4 == 0:
        stamp, command = 5_000_000 * k, path.step(truth.pose, truth.twist).twist
        # later ones are bare twists
        if k < 24:
            follower.take_preview(stamp, path.preview)
    torque = follower.step(sensed, command, stamp, 5_000_000 * k, 0.005)
    follower.prepare()
    rows.append([*torque, *law.observer.ahead, *law.observer.wrench, law.latency])
    sample = plant.step(torque, 0.005)
print(json.dumps([np.array(rows).tolist()]))
"""


@pytest.mark.parametrize(('name', 'ahead'), [('c3p', True), ('powered_caster', False)])
def test_cycles_without_a_compiler_send_the_same_torques(name, ahead):
    for compiled, plain in compiled_and_plain(PROGRAM.format(name=name, ahead=ahead)):
        assert compiled.any()
        # other roundings of sums and of sine and cosine, through 40 cycles
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-11)
