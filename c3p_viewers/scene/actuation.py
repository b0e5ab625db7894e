# SPDX-License-Identifier: Apache-2.0
"""
Scene of a singularity: rolling lines, their distance from it, and the direction that is lost.

The motors lose a direction of motion when the rolling lines of the driven wheels are all parallel
or all meet in one point (c3p_kinematics/singularity.py). A steering motor adds the line along its
axle, on which its tyre pushes. The lines are green where the motors drive every direction well and
red where one is lost; close to that, the lost motion is drawn: an arrow where it is a translation,
an arc about its centre where it is a rotation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_kinematics.singularity import Lines, Singularity, shown_singularity
from c3p_viewers.scene.colours import BAD, LOST, Colour, colour, scale
from c3p_viewers.scene.frame import Casters
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape, arc_head, raised

# width of rolling lines against that of motions, so that they do not cover these
THIN = 0.6
# least radius of the arc of a lost rotation, length of a lost translation's arrows, length of an
# arc along the lost motion and of its heads; sizes
LEAST_RADIUS = 0.6
TRANSLATION = 1.4
ALONG = 2.0
HEAD = 0.3


def actuation(at: Casters, steering: ArrayLike) -> list[Shape]:
    """
    Return ``rolling_line_i`` of driven wheels, ``sigma_min`` and ``unactuated…``.

    Steering motors add ``axle_line_i``; on other wheels than casters there are lines alone.

    Parameters
    ----------
    at : Casters
    steering : (n,) array_like, rad
    """
    state = shown_singularity(at.robot, steering)
    # rounding may give it a sign
    sigma = at.settings.safe_sigma if state is None else abs(float(state.sigma_min))
    paint = scale(sigma / at.settings.safe_sigma)
    reach = at.settings.line_reach * at.size
    shapes: list[Shape] = []
    for i in np.flatnonzero(at.robot.driven):
        ends = at.contact[i] + np.outer([-reach, reach], at.along[i])
        shapes.append(Line(f'rolling_line_{i + 1}', at.settings.frame, paint,
                           raised(ends, at.floor), THIN * at.width))
    for i in np.flatnonzero(at.robot.steered):
        axle = np.array([at.along[i][1], -at.along[i][0]])
        ends = at.contact[i] + np.outer([-reach, reach], axle)
        shapes.append(Line(f'axle_line_{i + 1}', at.settings.frame, paint,
                           raised(ends, at.floor), THIN * at.width))
    if state is None:
        return shapes
    shapes.append(_measure(at, state, sigma, paint))
    if sigma < at.settings.lost_sigma:
        # fades in towards the singularity
        shapes += _lost(at, state, 1.0 - 0.8 * sigma / at.settings.lost_sigma)
    return shapes


def _measure(at: Casters, state: Singularity, sigma: float, paint: Colour) -> Label:
    """Return the label with the measure, and with the kind of a singularity."""
    lines = Lines(int(state.lines))
    text = f'sigma_min {sigma:.2f}'
    if lines != Lines.REGULAR:
        text += f' {lines.name.lower()}'
    return Label('sigma_min', at.settings.frame, paint if sigma > 0.0 else colour(BAD),
                 raised(at.middle, at.above), text, at.settings.label_height * at.size)


def _lost(at: Casters, state: Singularity, opacity: float) -> list[Shape]:
    """Return the motion of the smallest singular value: two arrows, or an arc with two heads."""
    twist = np.asarray(state.directions[..., 2, :], float)
    paint = colour(LOST, opacity)
    velocity = twist[:2] + twist[2] * np.array([-at.middle[1], at.middle[0]])
    rate = twist[2]
    # centre of the rotation from the middle: ẑ×v/ω; parallel lines have it at infinity
    speed = math.hypot(*velocity)
    if speed > at.settings.line_reach * at.size * abs(rate):
        return _translation(at, velocity / speed, paint)
    return _rotation(at, np.array([-velocity[1], velocity[0]]) / rate, paint)


def _translation(at: Casters, direction: Array, paint: Colour) -> list[Shape]:
    start = raised(at.middle, at.over)
    way = raised(TRANSLATION * at.size * direction, 0.0)
    return [Arrow(f'unactuated_{side}', at.settings.frame, paint, start, start + sign * way,
                  2 * at.width) for side, sign in (('ahead', 1.0), ('back', -1.0))]


def _rotation(at: Casters, offset: Array, paint: Colour) -> list[Shape]:
    """Return an arc about the point `offset` (2,) from the middle, through the middle if far."""
    distance = math.hypot(*offset)
    radius = max(distance, LEAST_RADIUS * at.size)
    sweep = min(math.radians(300), ALONG * at.size / radius)
    towards_middle = math.atan2(-offset[1], -offset[0]) if distance > 0.0 else 0.0
    centre = raised(at.middle + offset, at.over)
    arc = Arc('unactuated_arc', at.settings.frame, paint, centre, radius,
              towards_middle - sweep / 2, sweep, 2 * at.width)
    reverse = arc._replace(start_angle=arc.start_angle + sweep, sweep=-sweep)
    return [arc, arc_head(arc, 'unactuated_ahead', HEAD * at.size),
            arc_head(reverse, 'unactuated_back', HEAD * at.size),
            Ball('unactuated_point', at.settings.frame, paint,
                 raised(at.middle + offset, at.floor), 2 * at.width)]
