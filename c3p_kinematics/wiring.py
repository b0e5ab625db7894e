# SPDX-License-Identifier: Apache-2.0
"""
Explanations of contradicting joint sensors by wrong wiring: exchanged or reversed joints.

A `JointWatch` compares faults of one sensor. Two exchanged joints, or all directions reversed,
contradict as well, and the best single fault is then an innocent sensor. Here the increments of
the last metres are rearranged according to each hypothesis, and judged by what they leave of the
rolling constraints,

    y = [−d Δθ_s, r Δθ_x] = J δ + e,   e² per redundant measurement, by the travel.

A hypothesis explains the motion if that is small, and not much larger than without the sensor that
the watch has found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _planar_kernels as kernels
from c3p_kinematics.wiring_hypotheses import MODULES, Wiring, wirings

# residual per travel below which a hypothesis explains the motion: radii and small slip; and
# factor by which it may exceed that without the single sensor
SMALL = 0.06
AS_WELL = 2.0

# the same limit where an encoder has not counted: a stuck one is what it looks like, and all zeros
# turned leave some hundredths in its motion, too
SMALL_WITHOUT_COUNTS = 0.02

# the fastest wheel turns by less in the whole window: nothing can be concluded, rad
LEAST_TURN = 0.1


class Increments(NamedTuple):
    """Joint increments of a window: (T, n) mean steering angles and changes, rad."""

    steering: Array
    steered: Array
    rolled: Array


def _hypotheses(window: Increments) -> Iterator[tuple[Wiring, Increments]]:
    """Yield each hypothesis and the increments as the joints have moved according to it."""
    for wiring in wirings(window.steering.shape[1]):
        # two reversed encoders of a caster look like one that is stuck
        if wiring.parts == MODULES and len(wiring.casters) == 1:
            continue
        moved = Increments(wiring.of_steering(window.steering) + wiring.turn,
                           wiring.of_steering(window.steered), wiring.of_wheels(window.rolled))
        yield wiring, moved


def _residual(robot: CasterRobot, window: Increments, left_out: Sequence[int] = ()) -> float:
    """Return the residual per redundant measurement and travel, without some measurements."""
    wheels, turning, contact = np.empty((3, *window.steering.shape, 3))
    kernels.jacobians(robot.geometry, np.ascontiguousarray(window.steering), wheels, turning,
                      contact)
    # a wheel beside its pivot rolls farther while it steers
    rows = np.concatenate([turning * robot.caster_offset[:, None],
                           wheels * robot.wheel_radius[:, None]
                           + contact * robot.lateral_offset[:, None]], axis=1)
    y = np.concatenate([window.steered * robot.caster_offset,
                        window.rolled * robot.wheel_radius], axis=1)
    keep = [i for i in range(y.shape[1]) if i not in left_out]
    basis, _ = np.linalg.qr(rows[:, keep])
    y = y[:, keep]
    fitted = np.einsum('tki,tk->ti', basis, y)
    left = max(0.0, float(np.sum(y * y) - np.sum(fitted * fitted)))
    travel = float(np.sum(np.max((window.rolled * robot.wheel_radius) ** 2, axis=1)))
    return math.sqrt(left / ((len(keep) - 3) * travel))


def explanations(robot: CasterRobot, window: Increments, kind: str, caster: int
                 ) -> list[Wiring]:
    """
    Return wrong wirings that explain the motion as well as one faulty sensor, best first.

    Parameters
    ----------
    robot : CasterRobot
    window : Increments
        Of the last cycles.
    kind, caster : str, int
        Of the `Finding` of the `JointWatch`.

    Returns
    -------
    list of Wiring
        One for the casters of a change; empty where a single sensor alone explains it, or nothing
        has moved.
    """
    if not len(window.rolled) or np.abs(window.rolled).max(1).sum() < LEAST_TURN:
        return []
    n = robot.count
    single = _residual(robot, window, [n + caster] if kind == 'wheel' else [caster, n + caster])
    small = SMALL_WITHOUT_COUNTS if kind == 'stuck' else SMALL
    most = max(small, AS_WELL * single)
    found = sorted((_residual(robot, changed), k, wiring) for k, (wiring, changed)
                   in enumerate(_hypotheses(window)))
    most = min(most, max(SMALL, AS_WELL * found[0][0]))
    # of several turns of a zero, and both orders of a ring, the best
    best: dict[tuple[Any, ...], Wiring] = {}
    for residual, _, wiring in found:
        if residual <= most:
            best.setdefault((wiring.parts, wiring.change, wiring.casters), wiring)
    return list(best.values())
