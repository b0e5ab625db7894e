# SPDX-License-Identifier: Apache-2.0
"""Scene of the wheels: torques of the motors and slip of the contacts."""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array
from c3p_viewers.scene.colours import ALERT, caster_colour, colour
from c3p_viewers.scene.frame import Casters
from c3p_viewers.scene.shapes import Arc, Arrow, Label, Shape, raised

# heights of torque arrows, slip arrows and the label of a suspect above the ground: over the
# platform, which would hide them; longest slip arrow; sizes
TORQUE, SLIP, LABEL, LONGEST = 0.55, 0.7, 1.0, 2.0
# radius of the ring about a suspect, in casters' lengths (offset and radius)
RING = 1.1


def torques(at: Casters, wheel_torque: Array) -> list[Shape]:
    """
    Return ``torque_i``: arrows over the driven wheels along their push, long as the torque.

    `wheel_torque` (n,) [N·m]: a positive torque pushes the platform along e. Of wheels without
    motor nothing is drawn.
    """
    limit = np.where(np.isfinite(at.robot.torque_limit), at.robot.torque_limit, 1.0)
    part = wheel_torque / limit
    shapes: list[Shape] = []
    for i in np.flatnonzero(at.robot.driven & (np.abs(part) >= at.settings.least_torque)):
        start = raised(at.contact[i], at.settings.ground + TORQUE * at.size)
        way = at.settings.torque_reach * at.size * float(np.clip(part[i], -1.5, 1.5))
        shapes.append(Arrow(f'torque_{i + 1}', at.settings.frame, caster_colour(i), start,
                            start + raised(way * at.along[i], 0.0), 1.5 * at.width))
    return shapes


def slips(at: Casters, residual: Array, suspect: int | None, slipping: bool) -> list[Shape]:
    """
    Return ``slip_i`` over the contacts, and ``suspect_i`` with a label around the slipping wheel.

    Parameters
    ----------
    at : Casters
    residual : (n, 2) array, m/s
        Measured minus fitted velocity of the contact points, [along, across].
    suspect : int, optional
        Index of the wheel that most likely slips, from 0; below 0 or None: unknown.
    slipping : bool
        True if any wheel slips.
    """
    shapes: list[Shape] = []
    for i, (along, across) in enumerate(residual):
        blamed = slipping and suspect == i
        speed = math.hypot(along, across)
        if speed >= at.settings.least_slip:
            way = at.cut((along * at.along[i] + across * at.across[i]) * at.settings.slip_time,
                         LONGEST)
            start = raised(at.contact[i], at.settings.ground + SLIP * at.size)
            shapes.append(Arrow(f'slip_{i + 1}', at.settings.frame,
                                colour(ALERT) if blamed else caster_colour(i, 0.9), start,
                                start + raised(way, 0.0), 2 * at.width))
        if blamed:
            shapes += _blame(at, i, speed)
    return shapes


def _blame(at: Casters, i: int, speed: float) -> list[Shape]:
    """Return a ring around the suspect and a label with its slip."""
    frame, paint = at.settings.frame, colour(ALERT)
    radius = RING * float(at.robot.caster_offset[i] + at.robot.wheel_radius[i])
    height = at.settings.label_height * at.size
    return [Arc(f'suspect_{i + 1}', frame, paint, raised(at.contact[i], at.floor), radius, 0.0,
                2 * math.pi, 1.5 * at.width),
            Label(f'suspect_label_{i + 1}', frame, paint,
                  raised(at.contact[i], at.settings.ground + LABEL * at.size),
                  f'wheel {i + 1} slips {speed:.2f} m/s', 0.8 * height)]
