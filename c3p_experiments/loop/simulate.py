# SPDX-License-Identifier: Apache-2.0
"""One call for a simulated drive: robot, goals, controller and plant by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from c3p_description import load
from c3p_description.model import CasterRobot
from c3p_experiments.loop.closed_loop import Held, LoopLog, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_simulation.make_plant import make_plant


def simulate(robot: CasterRobot | str | Path, goals: Sequence[ArrayLike], *,
             controller: str = 'mpc', plant: str = 'analytic', steering: ArrayLike = 0.0,
             duration: float = 30.0) -> LoopLog:
    """
    Drive a simulated robot to goals, with odometry as the only feedback; return what it recorded.

    Parameters
    ----------
    robot : CasterRobot, str or Path
        Model, or name or file as of `load`.
    goals : sequence of (3,) array_like, m and rad
        Poses (x, y, yaw) in the frame of the odometry, which begins at (0, 0, 0).
    controller : str
        As of `make_controller`.
    plant : str
        ``analytic`` or ``mujoco``.
    steering : (n,) array_like or float, rad
        At the start; 0 is singular for every robot.
    duration : float, s
        Longest duration. The drive ends earlier once the robot rests at the last goal.

    Returns
    -------
    LoopLog
        ``odom.pose``, ``torque.value`` and others over time; ``ended`` is True if the last goal
        was reached.

    Raises
    ------
    ValueError
        An unknown name, a robot that is not on casters, or no goal.

    Examples
    --------
    >>> log = simulate('c3p', [(0.5, 0.0, 0.0)])
    >>> log.ended, round(float(log.odom.pose[-1, 0]), 2)
    (True, 0.5)
    """
    model = load(robot) if isinstance(robot, (str, Path)) else robot
    if not isinstance(model, CasterRobot):
        raise ValueError(f'robot {robot}: must stand on casters; give c3p or your caster robot')
    if not len(goals):
        raise ValueError('goals: give one at least, such as [(1.0, 0.5, 0.0)]')
    made = make_controller(controller, model)
    return run_loop(make_plant(plant, robot if isinstance(robot, (str, Path)) else model),
                    made.law, GoalSource(made.position(), goals), duration=duration,
                    steering=steering, stop=Held())
