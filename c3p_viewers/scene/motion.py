# SPDX-License-Identifier: Apache-2.0
"""
Scene of the motion: twist, instantaneous centre, axles, and torques and slip of the wheels.

Every point of the platform circles about the instantaneous centre (ICR) ``c = ẑ×v/ω``. Without
slip the platform point over a contact moves across its wheel with ``−d θ̇_s``, so that an axle
passes through the centre exactly when its caster does not steer; how far it passes by shows how
fast the caster turns.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array
from c3p_viewers.scene.colours import ALERT, MOTION, TEXT, caster_colour, colour
from c3p_viewers.scene.frame import Casters
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape, arc_head, raised

# half length of an axle without a centre to point to, radius of the arc of the yaw rate, longest
# twist arrow; sizes
AXLE = 0.25
TURN = 0.5
LONGEST = 4.0
# most that the arc of the yaw rate goes round, and least that it is drawn for, rad
WHOLE_TURN = math.radians(300)
LEAST_TURN = math.radians(2)


def motion(at: Casters, twist: Array | None) -> list[Shape]:
    """
    Return ``axle_line_i``, and when the platform moves ``twist…``, ``turn…`` and ``icr…``.

    Parameters
    ----------
    at : Casters
    twist : (3,) array, optional
        ν = (vx, vy, ω), m/s and rad/s, ``base_link``.
    """
    if twist is None or _resting(at, twist):
        return axles(at, None)
    centre = instantaneous_centre(at, twist)
    return [*axles(at, centre), *_arrows(at, twist), *_centre(at, centre)]


def instantaneous_centre(at: Casters, twist: Array) -> Array | None:
    """Return the centre (2,) in ``base_link``, m; None where the platform only translates."""
    vx, vy, rate = (float(v) for v in twist)
    at_middle = math.hypot(vx - rate * at.middle[1], vy + rate * at.middle[0])
    if at_middle >= at.settings.centre_limit * at.size * abs(rate):
        return None
    return np.array([-vy, vx]) / rate


def axles(at: Casters, centre: Array | None) -> list[Shape]:
    """Return the axle lines: to where they pass the centre closest, or short ones without it."""
    shapes: list[Shape] = []
    for i, (contact, across) in enumerate(zip(at.contact, at.across, strict=True)):
        half = AXLE * at.size
        low = -half
        high = half
        if centre is not None:
            foot = float((centre - contact) @ across)
            most = at.settings.centre_reach * at.size
            low = max(min(low, foot), -most)
            high = min(max(high, foot), most)
        shapes.append(Line(f'axle_line_{i + 1}', at.settings.frame, caster_colour(i, 0.8),
                           raised(contact + np.outer([low, high], across), at.floor),
                           0.6 * at.width))
    return shapes


def _resting(at: Casters, twist: Array) -> bool:
    return max(math.hypot(*twist[:2]), at.size * abs(twist[2])) < at.settings.rest_speed


def _arrows(at: Casters, twist: Array) -> list[Shape]:
    """Return the arrow of the velocity and the arc of the yaw rate, over the platform."""
    frame = at.settings.frame
    paint = colour(MOTION)
    height = at.over
    shapes: list[Shape] = []
    if math.hypot(*twist[:2]) >= at.settings.rest_speed:
        way = at.cut(twist[:2] * at.settings.twist_time, LONGEST)
        shapes.append(Arrow('twist', frame, paint, raised([0.0, 0.0], height),
                            raised(way, height), 1.5 * at.width))
    angle = float(twist[2]) * at.settings.twist_time
    if abs(angle) >= LEAST_TURN:
        arc = Arc('turn', frame, paint, raised([0.0, 0.0], height), TURN * at.size, 0.0,
                  math.copysign(min(abs(angle), WHOLE_TURN), angle), 1.5 * at.width)
        shapes += [arc, arc_head(arc, 'turn_head', 0.22 * at.size)]
    return shapes


def _centre(at: Casters, centre: Array | None) -> list[Shape]:
    """Return the ball at the centre, or an arrow towards it when it is far; both with a label."""
    if centre is None:
        return []
    frame = at.settings.frame
    paint = colour(MOTION)
    offset = centre - at.middle
    near = at.cut(offset, at.settings.centre_reach)
    place = at.middle + near
    distance = math.hypot(*offset)
    shapes: list[Shape] = []
    if distance > at.settings.centre_reach * at.size:
        start = at.middle + 0.9 * near
        shapes.append(Arrow('icr_far', frame, paint, raised(start, at.floor),
                            raised(place, at.floor), 2 * at.width))
    else:
        shapes.append(Ball('icr', frame, paint, raised(place, at.floor), 3 * at.width))
    height = at.settings.label_height * at.size
    return [*shapes, Label('icr_label', frame, colour(TEXT),
                           raised(place, at.floor + 2.0 * height), f'ICR {distance:.2f} m',
                           0.8 * height)]


# heights of torque arrows, slip arrows and the label of a suspect above the ground: over the
# platform, which would hide them; longest slip arrow; sizes
TORQUE = 0.55
SLIP = 0.7
LABEL = 1.0
LONGEST_SLIP = 2.0
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
        shapes.append(Arrow(f'torque_{i + 1}', at.settings.frame, caster_colour(int(i)), start,
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
                         LONGEST_SLIP)
            start = raised(at.contact[i], at.settings.ground + SLIP * at.size)
            shapes.append(Arrow(f'slip_{i + 1}', at.settings.frame,
                                colour(ALERT) if blamed else caster_colour(i, 0.9), start,
                                start + raised(way, 0.0), 2 * at.width))
        if blamed:
            shapes += _blame(at, i, speed)
    return shapes


def _blame(at: Casters, i: int, speed: float) -> list[Shape]:
    """Return a ring around the suspect and a label with its slip."""
    frame = at.settings.frame
    paint = colour(ALERT)
    radius = RING * float(at.robot.caster_offset[i] + at.robot.wheel_radius[i])
    height = at.settings.label_height * at.size
    return [Arc(f'suspect_{i + 1}', frame, paint, raised(at.contact[i], at.floor), radius, 0.0,
                2 * math.pi, 1.5 * at.width),
            Label(f'suspect_label_{i + 1}', frame, paint,
                  raised(at.contact[i], at.settings.ground + LABEL * at.size),
                  f'wheel {i + 1} slips {speed:.2f} m/s', 0.8 * height)]
