# SPDX-License-Identifier: Apache-2.0
"""Scene of the tricycle's passive camber: the angle of each rear wheel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_viewers.scene.colours import TEXT, caster_colour, colour
from c3p_viewers.scene.shapes import Label, Line, Shape

# reach of the lines, radius of the arc and place of the label from the wheel centre; radii of the
# wheel. Least angle with an arc, rad, and points of one
REACH = 2.0
ARC = 1.8
LABEL = 2.3
LEAST_ARC = math.radians(0.5)
POINTS = 13
# of the lines, radii of the wheel
WIDTH = 0.06
HEIGHT = 0.35


def camber_scene(tricycle: PvcTricycle, joint: ArrayLike, frame: str = 'base_link'
                 ) -> tuple[Shape, ...]:
    """
    Return the shapes of the camber of wheels 2 and 3, in ``base_link``.

    ``camber_upright_i``, the line of an upright wheel, ``camber_i``, that of the wheel,
    ``camber_arc_i`` between them and ``camber_label_i`` with the angle in degrees.

    Parameters
    ----------
    tricycle : PvcTricycle
    joint : (6,) array_like, rad
        θ, in the order of `JOINTS`.
    frame : str
        Of the platform.

    Raises
    ------
    ValueError
        `joint` does not have six finite angles.

    Examples
    --------
    >>> tricycle = PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05)
    >>> scene = camber_scene(tricycle, [0, 0, np.radians(10), 0, 0, 0])
    >>> [shape.text for shape in scene if isinstance(shape, Label)]
    ['camber 10.00 deg', 'camber 0.00 deg']
    """
    angles = np.asarray(joint, float)
    if angles.shape != (len(JOINTS),) or not np.isfinite(angles).all():
        raise ValueError(f'joint = {angles.tolist()}: must be {len(JOINTS)} finite angles, those '
                         f'of {list(JOINTS)}')
    shapes: list[Shape] = []
    for number, side in ((2, 1.0), (3, -1.0)):
        angle = float(angles[JOINTS.index(f'camber_joint_{number}')])
        shapes += _wheel(tricycle, number, side, angle, frame)
    return tuple(shapes)


def _wheel(tricycle: PvcTricycle, number: int, side: float, angle: float, frame: str
           ) -> list[Shape]:
    radius = tricycle.outer_radius
    offset = tricycle.camber_offset
    # T_PW = Trans(0, ±(b − e), 0) Rx(γ) Trans(0, ±e, 0)
    centre = np.array([0.0, side * (tricycle.half_track - offset + offset * math.cos(angle)),
                       side * offset * math.sin(angle)])
    paint = caster_colour(number - 1)
    width = WIDTH * radius

    def line(kind: str, points: Array, tint: tuple[float, float, float, float]) -> Line:
        return Line(f'camber_{kind}{number}', frame, tint, points, width)

    shapes: list[Shape] = [
        line('upright_', centre + [[0.0] * 3, REACH * radius * _up(0.0)], colour(TEXT, 0.6)),
        line('', centre + [-radius * _up(angle), REACH * radius * _up(angle)], paint)]
    if abs(angle) >= LEAST_ARC:
        steps = np.linspace(0.0, angle, POINTS)
        shapes.append(line('arc_', centre + ARC * radius * np.array([_up(a) for a in steps]),
                           paint))
    shapes.append(Label(f'camber_label_{number}', frame, colour(TEXT),
                        centre + LABEL * radius * _up(angle / 2),
                        # no minus sign for what is shown as zero
                        f'camber {round(math.degrees(angle), 2) + 0.0:.2f} deg',
                        HEIGHT * radius))
    return shapes


def _up(angle: float) -> Array:
    """Return the direction of the upper end of a wheel with a camber angle about +x."""
    return np.array([0.0, -math.sin(angle), math.cos(angle)])
