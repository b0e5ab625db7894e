# SPDX-License-Identifier: Apache-2.0
"""Motors of any strength on floors of little grip: every law arrives, and no robot runs away."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='needs MuJoCo: pip install .[sim]')

from c3p_description import load  # noqa: E402
from c3p_experiments.loop.closed_loop import Held, run_loop  # noqa: E402
from c3p_experiments.loop.command_sources import GoalSource  # noqa: E402
from c3p_experiments.loop.controllers import make_controller  # noqa: E402
from c3p_kinematics.odometry import Odometry  # noqa: E402
from c3p_simulation.make_plant import PlantOptions, make_plant  # noqa: E402
from c3p_simulation.plants.floor import FloorPatch  # noqa: E402
from c3p_simulation.plants.sensors import SensorSettings  # noqa: E402

C3P, GOAL = load('c3p'), np.array([4.0, 0.0, 0.0])
# plant and µ
FLOORS = {'analytic': ('analytic', 0.8), 'slippery': ('mujoco', 0.35), 'dry': ('mujoco', 0.8)}
# largest distance from the line, m: the papers' law is no path controller
ASIDE = {'mpc': 0.03, 'paper': 0.2}


def drive(robot, name, plant, friction=0.8, patches=(), seed=0, steering=0.0):
    """Drive 4 m along +X by odometry with encoders and 10 ms of latency; return the run."""
    made = make_plant(plant, robot, PlantOptions(
        friction=friction, seed=seed, patches=patches, sensors=SensorSettings(latency=0.01)))
    controller = make_controller(name, robot)
    return run_loop(made, controller.law, GoalSource(controller.position(), [GOAL]),
                    duration=45.0 if name == 'paper' else 20.0, steering=steering, stop=Held(),
                    odometry=Odometry(robot))


def true_final_error(log):
    return float(np.hypot(*(log.ground_truth.pose[-1, :2] - GOAL[:2])))


# above the tyres' bound of 1.5 N·m all limits are the same robot: test_traction.py
@pytest.mark.parametrize(('floor', 'limit'), [*((floor, np.inf) for floor in FLOORS),
                                              ('dry', 1.2)])
@pytest.mark.parametrize('law', ASIDE)
def test_a_singular_start_is_left_whatever_the_motors(law, floor, limit):
    log = drive(replace(C3P, torque_limit=limit), law, *FLOORS[floor])
    assert log.ended
    assert np.abs(log.ground_truth.pose[:, 1]).max() <= ASIDE[law]
    assert true_final_error(log) <= 0.05
    assert np.isfinite(log.wheel_effort.value).all()


def test_a_description_that_promises_too_much_grip_does_not_run_away():
    # a bound of 3.6 N·m on a floor that transmits 1.2 to 1.6
    robot = replace(C3P, torque_limit=20.0, tyre_friction=1.0, traction_margin=1.0)
    log = drive(robot, 'mpc', 'mujoco', 0.35)
    assert log.ended and true_final_error(log) <= 0.2
    assert np.abs(log.ground_truth.pose[:, 1]).max() <= 0.2


@pytest.mark.parametrize('seed', [3])
@pytest.mark.parametrize(('begin', 'steering'), [
    (-0.1, -np.pi / 2), (1.5, -np.pi / 2),
    # a singular start: the wheel that spins turns about its steering axis, and slips sideways
    (-0.1, 0.0)])
def test_oil_below_one_wheel_costs_less_than_two_centimetres(begin, steering, seed):
    oil = FloorPatch((begin, begin + 0.5), (-0.393, -0.293), 0.05)
    log = drive(C3P, 'mpc', 'mujoco', patches=(oil,), seed=seed, steering=steering)
    assert log.ended and true_final_error(log) <= 0.02
    if begin < 0.0:
        # it has to accelerate there, and slips
        assert log.slip.suspect[:, 2].any()


def test_on_ice_wheels_do_not_spin_up_and_odometry_reports_its_doubt():
    ice = FloorPatch((-9.0, 9.0), (-9.0, 9.0), 0.05)
    log = drive(C3P, 'mpc', 'mujoco', patches=(ice,))
    # without traction control 900 rad/s and 29 m of odometry error
    assert np.abs(log.joints.wheel_rate).max() < 120.0
    assert np.hypot(*(log.odom.pose[-1, :2] - log.ground_truth.pose[-1, :2])) < 3.0
