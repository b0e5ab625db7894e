# SPDX-License-Identifier: Apache-2.0
"""
The scene of a driven caster robot: its motion, and the motion that it may lose.

One function makes it from the state of the robot; RViz, Rerun, MuJoCo and Foxglove draw it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import batched
from c3p_viewers.scene.actuation import actuation
from c3p_viewers.scene.frame import casters
from c3p_viewers.scene.motion import motion, slips, torques
from c3p_viewers.scene.settings import DEFAULT_SETTINGS, SceneSettings
from c3p_viewers.scene.shapes import Shape


def caster_scene(robot: CasterRobot, steering: ArrayLike, *, twist: ArrayLike | None = None,
                 wheel_torque: ArrayLike | None = None, residual: ArrayLike | None = None,
                 suspect: int | None = None, slipping: bool = False,
                 settings: SceneSettings = DEFAULT_SETTINGS) -> tuple[Shape, ...]:
    """
    Return the shapes that explain the robot's state, in ``base_link``.

    Names of shapes, i from 1: ``rolling_line_i`` of driven wheels, ``sigma_min`` (the measure as
    a label), ``unactuated_ahead``, ``unactuated_back``, ``unactuated_arc`` and
    ``unactuated_point`` close to a singularity, ``axle_line_i``, ``twist``, ``turn``,
    ``turn_head``, ``icr`` or ``icr_far`` with ``icr_label`` while it moves, ``torque_i``,
    ``slip_i``, ``suspect_i`` and ``suspect_label_i``. Shapes without a value are left out.

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
        θ_s.
    twist : (3,) array_like, optional
        ν = (vx, vy, ω), m/s and rad/s, ``base_link``.
    wheel_torque : (n,) array_like, N·m, optional
        At the wheels; values of wheels without motor are ignored.
    residual : (n, 2) array_like, m/s, optional
        `SensedForward.residual`: slip of each contact along and across its wheel.
    suspect : int, optional
        `SlipReport.suspect`, from 0.
    slipping : bool
        `SlipReport.slipping`.
    settings : SceneSettings

    Returns
    -------
    tuple of Shape
        With different names.

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite; the text names it.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> aligned = caster_scene(robot, [0, 0, 0])
    >>> [shape.name for shape in aligned if shape.name.startswith('unactuated')]
    ['unactuated_ahead', 'unactuated_back']
    """
    n = robot.count
    at = casters(robot, steering, settings)
    shapes = [*actuation(at, np.asarray(steering, float)),
              *motion(at, None if twist is None else _vector(n, 'twist', twist, 3))]
    if wheel_torque is not None:
        # nan means "no motor" in some messages
        given = np.array(wheel_torque, float)
        if given.shape == (n,):
            given[~robot.driven] = 0.0
        shapes += torques(at, _vector(n, 'wheel_torque', given, n))
    if residual is not None:
        pair = np.asarray(residual, float)
        if pair.shape != (n, 2):
            raise ValueError(f'residual has shape {pair.shape}: expected ({n}, 2), along and '
                             'across of each caster')
        flat = _vector(n, 'residual', pair.reshape(-1), 2 * n)
        shapes += slips(at, flat.reshape(n, 2), suspect, slipping)
    return tuple(shapes)


def _vector(count: int, name: str, value: ArrayLike, size: int) -> Array:
    """Return one checked vector (size,)."""
    _, (rows,) = batched(count, **{name: (value, size)})
    if len(rows) != 1:
        raise ValueError(f'{name} has shape {np.shape(value)}: expected ({size},)')
    return rows[0]
