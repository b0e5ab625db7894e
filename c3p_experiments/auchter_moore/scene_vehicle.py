# SPDX-License-Identifier: Apache-2.0
"""The tricycle as shapes: deck, axle, boom, fork, camber arms and wheels, from its parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike

from c3p_bags.report import style
from c3p_description.pvc_model import PvcTricycle
from c3p_experiments.auchter_moore.scene_shapes import Shape, box, disc, joined, rod, tyre
from c3p_kinematics.closed_chain_vehicle import State, Vehicle
from c3p_kinematics.closed_chain_vehicle.velocity import joint_frames

RUBBER, TREAD = (0.13, 0.13, 0.14), (0.24, 0.24, 0.25)
STEEL, PLATE, CASE = (0.55, 0.56, 0.59), (0.17, 0.33, 0.52), (0.88, 0.88, 0.85)
MARK = (0.95, 0.95, 0.92)
SPOKES = 5
# marks of a path: radius, above the ground, m
DOT, LIFT = 0.022, 0.004


def wheel_colour(index: int) -> tuple[float, float, float]:
    """Return the colour of a wheel, that of its lines in the plots."""
    return to_rgb(style.caster_colour(index))


class Figure:
    """
    The shapes of a tricycle, ready to be put anywhere.

    Parameters
    ----------
    vehicle : Vehicle
        Of c3p_kinematics/vehicles.py: wheel 1 steers, 2 and 3 lean.
    model : PvcTricycle
        Its parameters.
    """

    def __init__(self, vehicle: Vehicle, model: PvcTricycle) -> None:
        """Build the parts, each in its own frame."""
        self._vehicle = vehicle
        self._platform = _platform(model)
        self._fork = _fork(model)
        self._arms = [_arm(side * model.camber_offset) for side in (1.0, -1.0)]
        self._wheels = [_wheel(model, wheel_colour(i)) for i in range(3)]

    def at(self, state: State) -> Shape:
        """Return the vehicle in a `state`, in {G}."""
        parts = [self._platform]
        for i, bodies in enumerate(([self._fork], [self._arms[0]], [self._arms[1]])):
            for shape, frame in zip([*bodies, self._wheels[i]],
                                    joint_frames(self._vehicle, i, state.joint), strict=True):
                parts.append(shape.moved(frame[:3, :3], frame[:3, 3]))
        return joined(parts).moved(state.rotation, state.position)


def _platform(model: PvcTricycle) -> Shape:
    """Return deck, case, rear axle, boom and steering head, in {P}."""
    length, inboard = model.wheelbase, model.half_track - model.camber_offset
    head = np.array([length, 0.0, model.outer_radius + 0.13])
    return joined([
        rod((0, -inboard, 0), (0, inboard, 0), 0.026, STEEL),
        box((0.62 * length, 0.62 * inboard, 0.04), (0.15 * length, 0, 0.06), PLATE),
        box((0.34 * length, 0.44 * inboard, 0.15), (0.12 * length, 0, 0.155), CASE),
        # an arrow on the case tells where ahead is
        box((0.16 * length, 0.05, 0.004), (0.12 * length, 0, 0.233), to_rgb(style.ALERT)),
        rod((0.42 * length, 0, 0.07), head, 0.026, PLATE),
        rod(head - [0, 0, 0.075], head + [0, 0, 0.06], 0.034, STEEL)])


def _fork(model: PvcTricycle) -> Shape:
    """Return the fork, in the frame that steers."""
    gap, top = model.tube_radius + 0.022, model.outer_radius + 0.045
    cheeks = [box((0.055, 0.012, top + 0.03), (0, side * gap, 0.5 * top - 0.015), STEEL)
              for side in (1.0, -1.0)]
    return joined([*cheeks, box((0.07, 2 * gap + 0.012, 0.016), (0, 0, top), STEEL),
                   rod((0, -gap, 0), (0, gap, 0), 0.014, STEEL)])


def _arm(reach: float) -> Shape:
    """Return hinge and stub axle, in the frame that leans; `reach` to the wheel, m."""
    return joined([rod((-0.06, 0, 0), (0.06, 0, 0), 0.034, STEEL),
                   rod((0, 0, 0), (0, reach, 0), 0.018, STEEL)])


def _wheel(model: PvcTricycle, colour: Sequence[float]) -> Shape:
    """Return a wheel with coloured spokes, one of them marked, in its own frame."""
    inner = model.wheel_radius - 0.8 * model.tube_radius
    parts = [tyre(model.wheel_radius, model.tube_radius, (RUBBER, TREAD)),
             tyre(inner, 0.35 * model.tube_radius, (colour, colour), gloss=0.5),
             rod((0, -0.8 * model.tube_radius, 0), (0, 0.8 * model.tube_radius, 0), 0.042, colour)]
    for k in range(SPOKES):
        angle = 2.0 * np.pi * k / SPOKES
        parts.append(rod((0, 0, 0), (inner * np.cos(angle), 0, -inner * np.sin(angle)), 0.013,
                         MARK if k == 0 else colour))
    return joined(parts)


def dots(points: ArrayLike, normals: ArrayLike, colour: Sequence[float]) -> list[Shape]:
    """
    Return marks on the ground.

    Parameters
    ----------
    points : (k, 3) array_like, m
    normals : (k, 3) array_like
        Unit normals of the ground.
    colour : (3,) sequence
    """
    return [disc(p + LIFT * n, n, DOT, colour, corners=10)
            for p, n in zip(np.asarray(points, float), np.asarray(normals, float), strict=True)]
