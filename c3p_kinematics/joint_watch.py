# SPDX-License-Identifier: Apache-2.0
"""
Which joint sensor is wrong, from the 2n − 3 measurements that n casters have too many.

Each caster measures the displacement of its contact point, ``r Δθ_x`` along and ``−d Δθ_s`` across
its wheel. Two kinds of hypotheses are compared: the counts of wheel i are wrong (its one
measurement is left out), or the steering encoder i is wrong (both measurements of the caster are
left out: they are expressed by its angle). With the orthogonal projector ``M = I − J J⁺`` on the
residuals ``e = M y``, the displacement of what is left out differs from what the others predict by

    p_k = M_kk⁻¹ e_k,   and what the others disagree is   s_k² = eᵀe − e_kᵀ M_kk⁻¹ e_k.

Differences that slip and wrong radii can explain are taken off, the rest is added up (CUSUM, one
sum in each sense). A sum that passes its limit is an alarm; named is the hypothesis under which
the measurements that are left agree best. With two casters nothing can be named, and nothing is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian

# an encoder that stands is stuck, one that moves drifts, when the difference from what the others
# say of its caster adds up to this angle about the pivot, rad, beyond what slip can explain
STUCK_ANGLE, DRIFT_ANGLE = 0.5, 0.5

# counts of a wheel are wrong when the wheel lacks this angle against what the others say, rad
WHEEL_ANGLE = 1.0

# parts of the way of the fastest wheel: by which the others may be wrong about a contact point,
# for radii are wrong and wheels slip a little; and by which a wheel may slip itself, along
OTHERS_SLIP, OWN_SLIP = 0.1, 0.5

# how much more the others may be wrong about a contact point than they disagree among themselves:
# of a slip only the part along the line between two contact points shows
DISAGREEMENT = 3.0

# how much of what the others disagreed is remembered from one look to the next
MEMORY = 0.9

# the counts of a wheel are blamed rather than the whole caster, which has one measurement less to
# explain, when what is left disagrees by no more than this factor, and this part of the way
SIMPLER, ROUGH = 2.0, 0.02

# a caster that has turned further than this while its encoder stood rolls the other way, rad
TURNED_ROUND = math.pi / 2

# a look has to have something to see: cycles, and turn of the fastest wheel, rad
LOOK_EVERY, LOOK_TURN = 5, 0.1


class Finding(NamedTuple):
    """
    A sensor that is wrong.

    Attributes
    ----------
    kind : str
        ``stuck`` or ``drift`` of a steering encoder, ``wheel`` for the counts of a wheel.
    caster : int
        From 0.
    """

    kind: str
    caster: int


class JointWatch:
    """
    Finds wrong joint sensors; the memory is the sums of their differences.

    A stuck encoder shows when the robot turns: driving straight on casters that trail, one stands
    rightly for any time. In 60 random drives of random robots that took 2.1 s in the median and
    11 s at most, and one was not found within 13 s. Wheel radii that are wrong by 5 %, and wheels
    that spin 20 % too fast for 0.3 s, raise no alarm. A wheel that really stands on a robot that
    is dragged looks like one whose counts are stuck.

    Parameters
    ----------
    robot : CasterRobot
    jitter : (n,) array, rad
        What an encoder that stands may move.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> watch, wheel = JointWatch(robot, np.full(3, 0.006)), np.zeros(3)
    >>> for _ in range(100):  # straight on, and the counts of the second wheel stand still
    ...     wheel = wheel + [0.04, 0.0, 0.04]
    ...     if found := watch.step(np.zeros(3), wheel):
    ...         break
    >>> found
    Finding(kind='wheel', caster=1)
    """

    def __init__(self, robot: CasterRobot, jitter: Array) -> None:
        """Know nothing yet."""
        self._robot, self._jitter = robot, jitter
        n = robot.count
        # measurements in the order across, along of each caster; what each hypothesis leaves out
        self._pairs = [np.array([2 * i, 2 * i + 1]) for i in range(n)]
        self.forget()
        # compiled before the first cycle, which must not wait
        rest = np.zeros(n)
        wheel_jacobian(robot, rest), steering_jacobian(robot, rest)

    def forget(self) -> None:
        """Know nothing any more."""
        self._cycles = 0
        self._steering: Array | None = None

    def step(self, steering: Array, wheel_angle: Array) -> Finding | None:
        """
        Look at a cycle.

        Parameters
        ----------
        steering, wheel_angle : (n,) arrays, rad
            Not wrapped.

        Returns
        -------
        Finding or None
            The sensor that is wrong, if one is; its sums are then forgotten.
        """
        if self._steering is None:
            n = self._robot.count
            self._steering, self._wheel_angle = steering, wheel_angle
            # where each encoder was when it last moved; the sums since, rad: across one way and
            # the other, along one way and the other
            self._mark, self._apart = steering.copy(), np.zeros((4, n))
            # the sums that movement does not end: across both ways, and of the wheels
            self._drift, self._lack = np.zeros((2, n)), np.zeros(n)
            # how far each caster would have turned since its encoder last moved, rad
            self._unseen = np.zeros(n)
            # how far the others have disagreed lately without this caster, without this wheel, m
            self._without = np.zeros((2, n))
            self._way = 0.0
        self._cycles += 1
        rolled = wheel_angle - self._wheel_angle
        if self._cycles < LOOK_EVERY or np.abs(rolled).max() < LOOK_TURN:
            return None
        moved = np.abs(steering - self._mark) > self._jitter
        self._mark[moved], self._apart[:, moved], self._unseen[moved] = steering[moved], 0.0, 0.0
        steered, middle = steering - self._steering, 0.5 * (steering + self._steering)
        self._cycles, self._steering, self._wheel_angle = 0, steering, wheel_angle
        if self._robot.count < 3:
            return None
        self._add(middle, steered, rolled, ~moved)
        return self._found(~moved)

    def _add(self, steering: Array, steered: Array, rolled: Array, standing: Array) -> None:
        """Add up the differences of a look."""
        radius, offset = self._robot.wheel_radius, self._robot.caster_offset
        # displacement of each contact point in metres: all weigh alike
        rows = np.stack([steering_jacobian(self._robot, steering) * offset[:, None],
                         wheel_jacobian(self._robot, steering) * radius[:, None]], 1)
        y = np.stack([steered * offset, rolled * radius], 1).reshape(-1)
        basis, triangle = np.linalg.qr(rows.reshape(-1, 3))
        e = y - basis @ (basis.T @ y)
        left = np.eye(len(y)) - basis @ basis.T
        total, travel = float(e @ e), float(np.abs(y[1::2]).max())
        self._way = MEMORY * self._way + travel
        turning = steering_jacobian(self._robot, self._mark + self._unseen)
        for i, pair in enumerate(self._pairs):
            # what this caster measures beyond what the others predict, [across, along]
            beyond = np.linalg.solve(left[np.ix_(pair, pair)], e[pair])
            residual = math.sqrt(max(0.0, total - e[pair] @ beyond))
            doubt = OTHERS_SLIP * travel + DISAGREEMENT * residual
            across, along = -beyond
            most = doubt + OWN_SLIP * travel
            if standing[i]:
                # towed by the displacement that the others give the platform
                moved = np.linalg.solve(triangle, basis.T @ y - basis[pair].T @ beyond)
                self._unseen[i] += np.clip(turning[i] @ moved, -1.0, 1.0)
                self._apart[:, i] += np.array([across - doubt, -across - doubt,
                                               along - most, -along - most]) / offset[i]
            self._drift[:, i] += np.array([across - doubt, -across - doubt]) / offset[i]
            # what the wheel measures beyond what all others predict, its own encoder included
            k = pair[1]
            excess = e[k] / left[k, k]
            agreed = math.sqrt(max(0.0, total - e[k] * excess))
            expected = y[k] - excess
            lack = math.copysign(1.0, expected) * -excess - OWN_SLIP * abs(expected) - (
                OTHERS_SLIP * travel + DISAGREEMENT * agreed)
            self._lack[i] += lack / radius[i]
            self._without[:, i] = MEMORY * self._without[:, i] + [residual, agreed]
        for sums in (self._apart, self._drift, self._lack):
            np.maximum(sums, 0.0, out=sums)

    def _found(self, standing: Array) -> Finding | None:
        """Return the sensor under whose hypothesis the rest agrees best, if it is far apart."""
        stuck = standing & (self._apart.max(0) > STUCK_ANGLE)
        drift = self._drift.max(0) > DRIFT_ANGLE
        wheel = self._lack > WHEEL_ANGLE
        if not (stuck.any() or drift.any() or wheel.any()):
            return None
        # what speaks against others was found with the wrong one among the witnesses
        self._apart[:, stuck] = self._drift[:, drift | stuck] = self._lack[wheel] = 0.0
        without_caster, without_wheel = self._without
        worst = int(np.argmin(without_caster))
        simplest = int(np.argmin(without_wheel))
        if without_wheel[simplest] <= SIMPLER * without_caster[worst] + ROUGH * self._way:
            if wheel[simplest] and standing[simplest] and (
                    abs(self._unseen[simplest]) > TURNED_ROUND):
                # on straight ways a caster that has turned round unseen seems to roll backwards
                return Finding('stuck', simplest)
            return Finding('wheel', simplest) if wheel[simplest] else None
        if stuck[worst]:
            return Finding('stuck', worst)
        return Finding('drift', worst) if drift[worst] else None
