# SPDX-License-Identifier: Apache-2.0
"""Straight drives of the closed-form law: wheels that do not work against each other."""

import numpy as np
import pytest

from c3p_controller.closed_form.controller import (
    ClosedFormController,
    ClosedFormSettings,
    _Allocation,
)
from c3p_controller.closed_form.model import dot
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.reading.loader import load
from c3p_experiments.loop.closed_loop import run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensorSettings

C3P = load('c3p')
LENGTH = 4.0
# the casters have aligned and the robot travels; it has not begun to stop, m
CRUISE = 1.0, 3.4


def cruise(plant, seed):
    """Return torques (k, n), yaw (k,) and path error (k,) of the cruise of a straight drive."""
    if plant == 'mujoco':
        pytest.importorskip('mujoco', reason='pip install c3p[sim]')
    rng = np.random.default_rng(seed)
    way, steering = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi, np.pi, 3)
    # the hardest start: all rolling lines across the way
    if seed == 0:
        way, steering = 0.0, np.zeros(3)
    goal = LENGTH * np.array([np.cos(way), np.sin(way), 0.0])
    machine = make_plant(plant, 'c3p', PlantOptions(seed=seed, sensors=SensorSettings()))
    log = run_loop(machine, ClosedFormController(C3P), GoalSource(PathController(PathGains()), [
        goal]), duration=9.0, steering=steering)
    x, y, yaw = log.ground_truth.pose.T
    along, across = x * np.cos(way) + y * np.sin(way), y * np.cos(way) - x * np.sin(way)
    part = (CRUISE[0] < along) & (along < CRUISE[1])
    assert np.count_nonzero(part) > 700
    return log.wheel_effort.value[part], yaw[part], across[part]


@pytest.mark.parametrize('plant', ['analytic', 'mujoco'])
@pytest.mark.parametrize('seed', range(4))
def test_wheels_do_not_oppose_each_other_in_a_straight_drive(plant, seed):
    """Without a weight on opposing torques: 0.5 to 0.9 N·m rms, a wheel at its limit in 70 %."""
    torque, yaw, across = cruise(plant, seed)
    text = (f'{np.sqrt(np.mean(torque**2)):.3f} N·m rms, {np.abs(torque).max(1).max():.2f} N·m, '
            f'yaw {np.abs(yaw).max():.3f} rad, path {1e3 * np.abs(across).max():.1f} mm')
    # of 16 drives the worst has 0.62 N·m rms, 17 % of saturated cycles, 0.17 rad and 4.3 mm
    assert np.sqrt(np.mean(torque**2)) <= 0.68, text
    assert np.mean(np.any(np.abs(torque) > 0.99 * C3P.torque_limit, axis=1)) <= 0.25, text
    assert np.abs(yaw).max() <= 0.20, text
    assert np.abs(across).max() <= 0.006, text


@pytest.mark.parametrize('seed', range(5))
def test_only_torques_that_do_not_accelerate_along_or_in_yaw_are_opposing(seed):
    """The quadratic form is that of the part of the torques that no task but that across feels."""
    rng = np.random.default_rng(seed)
    law = ClosedFormController(C3P)
    law.step(Sensed(0.0, rng.uniform(-3.0, 3.0, 3), np.zeros(3), np.zeros(3),
                    rng.uniform(-0.5, 0.5, 3)), Setpoint(np.array([0.4, 0.1, 0.2])), 0.005)
    motion = law.model.motion(rng.uniform(-3.0, 3.0, 3).tolist(), (0.3, 0.1, 0.2), (0.0,) * 3)
    tasks = law._tasks(law._twist.at((0.4, 0.1, 0.2), (0.0,) * 3, (0.0,) * 3, 0.005),
                       law.observer.predicted(0.005), (0.3, 0.1, 0.2), 1.0)[0]
    radius = C3P.wheel_radius.tolist()
    allocation = _Allocation(tasks, motion, radius, 0.0, 1.0)
    plain = _Allocation(tasks, motion, radius, 0.25, 0.0)
    felt = np.array([[dot(task.row, column) for column in allocation._columns]
                     for task in tasks[1:]])
    form = np.array(allocation._effort)
    # a projector of rank one, onto the null space of both tasks
    np.testing.assert_allclose(felt @ form, 0.0, atol=1e-9)
    np.testing.assert_allclose(form @ form, form, atol=1e-9)
    assert np.trace(form) == pytest.approx(1.0)
    assert np.array_equal(plain._effort, 0.25 * np.eye(3))


def test_a_negative_weight_is_refused():
    with pytest.raises(ValueError, match='opposing_weight = -0.1: must be 0 or more'):
        ClosedFormSettings(opposing_weight=-0.1)
