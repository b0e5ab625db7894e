# SPDX-License-Identifier: Apache-2.0
"""
Distance of three driven casters from the singular set, and its derivatives.

Three wheels give any wrench unless their rolling lines are parallel or meet in one point, which is

    D = det[e₁; e₂; e₃] = 0,   e_i the row Rx of caster i: force and moment of 1 N along the line

The forces that give a wrench W are ``f_i = C_i·W/D`` with the cofactors ``C₁ = e₂×e₃``, …: with
the torque limits, D must be as large as ``max |C_i·W| r_i/τ_i``. The steering turns with the
motion, ``θ̇_i = −a_i·ν/d_i − ω``, and ``∂e_i/∂θ_i = −a_i``, ``∂a_i/∂θ_i = e_i``, so that with
``D_i = ∂D/∂θ_i = −a_i·C_i``

    Ḋ = Σ D_i θ̇_i
    D̈ = k·ν̇ + κ,   k = −Σ D_i (a_i/d_i + ẑ)
    κ = −Σ (D_i θ̇_i s_i/d_i + D θ̇_i²) + 2 Σ_{i<j} (a_i×a_j)·e_k θ̇_i θ̇_j
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from c3p_controller.closed_form.model import Motion, Row, cross, dot, times
from c3p_description.model import CasterRobot
from c3p_dynamics.traction import torque_bounds


class Actuation(NamedTuple):
    """
    Determinant D (`value`, m) of three wheels with Ḋ (`rate`, m/s), and C_i, k and κ of it.

    `cofactors` are the C_i, `row` is k, and `rest`, m/s², is κ = D̈ at ν̇ = 0.
    """

    value: float
    rate: float
    cofactors: tuple[Row, Row, Row]
    row: Row
    rest: float


class Triple:
    """
    The three driven casters with the largest triangle of pivots, of a robot with at least three.

    Attributes
    ----------
    indices : tuple of three int
    area, side : float, m² and m
        Of the triangle of pivots; the longest side.
    load : float, 1/N
        Largest 1/force limit of a wheel.
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Choose the three casters with the largest triangle of pivots."""
        hips = robot.hip_position

        def area(three: tuple[int, ...]) -> float:
            (ax, ay), (bx, by), (cx, cy) = (hips[i] for i in three)
            return abs(float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)))

        # a wheel without load transmits no force
        limit = torque_bounds(robot)[:robot.count]
        driven = np.flatnonzero(limit).tolist()
        if len(driven) < 3:
            raise ValueError(f'{len(driven)} driven casters with a load: three are needed for any '
                             'wrench')
        self.indices = max(combinations(driven, 3), key=area)
        self.area = 0.5 * area(self.indices)
        self.side = max(math.dist(hips[i], hips[j]) for i, j in combinations(self.indices, 2))
        self._offset = [float(robot.caster_offset[i]) for i in self.indices]
        # 1/force limit of each wheel, 1/N
        self._scale = [float(robot.wheel_radius[i] / limit[i]) for i in self.indices]
        self.load = max(self._scale)

    def actuation(self, motion: Motion) -> Actuation:
        """Return D and its derivatives in a state of motion."""
        i, j, k = self.indices
        # value and cofactors from the rolling rows
        e1, e2, e3 = motion.rolling[i], motion.rolling[j], motion.rolling[k]
        a1, a2, a3 = motion.axle[i], motion.axle[j], motion.axle[k]
        cofactors = (cross(e2, e3), cross(e3, e1), cross(e1, e2))
        value = dot(e1, cofactors[0])
        rate, rest, kx, ky, kw = 0.0, 0.0, 0.0, 0.0, 0.0
        # sums over the casters: Ḋ, k and the diagonal terms of κ
        for index, axle, cofactor, offset in zip(self.indices, (a1, a2, a3), cofactors,
                                                 self._offset, strict=True):
            turning, along = motion.steering_rate[index], motion.along[index]
            slope = -dot(axle, cofactor)
            part = slope / offset
            kx -= part * axle[0]
            ky -= part * axle[1]
            kw -= part * axle[2] + slope
            rate += slope * turning
            rest -= part * turning * along + value * turning * turning
        # mixed terms of κ
        t1, t2, t3 = (motion.steering_rate[index] for index in self.indices)
        rest += 2.0 * (dot(cross(a1, a2), e3) * t1 * t2 + dot(cross(a2, a3), e1) * t2 * t3
                       + dot(cross(a3, a1), e2) * t3 * t1)
        return Actuation(value, rate, cofactors, (kx, ky, kw), rest)

    def needed(self, actuation: Actuation, motion: Motion, accel: Row, free_yaw: float) -> float:
        """
        Return the |D|, m, that the desired `accel` ν̇ within the torque limits requires.

        The yaw acceleration is free within ±`free_yaw`, rad/s², of the desired one: the one with
        the least squares of the loads is taken. `actuation` and `motion` are those of the state.
        """
        # load of each wheel as a fraction of its limit at |D| = 1, and its slope by the yaw
        fx, fy, fw = times(motion.mass, accel)
        force = (fx - motion.force[0], fy - motion.force[1], fw - motion.force[2])
        turn = (motion.mass[2], motion.mass[4], motion.mass[5])
        loads = [dot(c, force) * s for c, s in zip(actuation.cofactors, self._scale, strict=True)]
        slopes = [dot(c, turn) * s for c, s in zip(actuation.cofactors, self._scale, strict=True)]
        square = sum(slope * slope for slope in slopes)
        free = 0.0
        if square > 0.0:
            free = -sum(a * b for a, b in zip(loads, slopes, strict=True)) / square
            free = math.copysign(min(abs(free), free_yaw), free)
        return max(abs(a + free * b) for a, b in zip(loads, slopes, strict=True))
