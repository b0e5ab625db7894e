# SPDX-License-Identifier: Apache-2.0
"""
Drives whose motor turns against the counts of its own encoder, from the momentum of the robot.

Exchanged motor leads, exchanged encoder channels, or a polarity (607Eh) that a drive uses for its
counts alone make every control loop in the drive unstable: its quick stop accelerates, while the
drive reports torques that brake. The motion of the platform shows what the torques do,

    M ν̇ + G = J_xᵀ τ_x + J_sᵀ τ_s,        [r θ̇_x, d θ̇_s] = [r J_x, d J_s] ν,

with the torques (6077h) and rates that the drives report. A hypothesis is a set of drives of which
torques, counts or both have the opposite sign. It is judged by the momentum that it leaves
unexplained over `WINDOW`, as a speed of the robot's mass, and by the rates that contradict each
other: the sum of the squares of both, m²/s². That all is well is judged for several masses and
with the force of a slope of `SLOPE`, since a payload, a slope or a push must not be
taken for wrong wiring. A larger push is momentum that no hypothesis explains: that of a drive has
the direction of its wheel and twice its torque.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_dynamics.caster_dynamics import bias, mass_matrix
from c3p_kinematics import _planar_kernels as kernels

# averaging time of the unexplained momentum, and memory of the squares, s
WINDOW = 0.04
MEMORY = 0.08

# delay of the estimated rates against the torques, a tracking loop of 40 Hz, s
RATE_DELAY = 0.008

# unexplained speed below which nothing is wrong, m/s
LEAST_SPEED = 0.015

# fraction of the squares that the right hypothesis leaves at most, and factor by which it leaves
# less than any other set of drives
EXPLAINED = 0.15
CLEARLY = 2.0

# time for which the same drives must be the best explanation, s
PATIENCE = 0.03

# masses as multiples of the described one, for which all may be well
MASSES = (0.7, 1.0, 1.4, 2.0, 3.0)

# slope, rad, whose force may act on a robot that is wired well
SLOPE = 0.1

# momentum of no size, N·s
TINY = 1e-12

# largest number of drives that are wrong at once
MOST_WRONG = 2

# kinds: what of a drive has the opposite sign, torque and counts. With both a drive is stable:
# that is wrong wiring or a wrong zero, which the joint watch explains
LEADS = 'leads'
COUNTS = 'counts'
BOTH = 'both'
KINDS = {LEADS: (True, False), COUNTS: (False, True), BOTH: (True, True)}


class Wrong(NamedTuple):
    """A drive, by its place among the driven ones, and the `kind` of its wrong sense."""

    drive: int
    kind: str


class TorqueSense:
    """
    Finds drives with the opposite sense; the memory is the unexplained momentum.

    Parameters
    ----------
    robot : CasterRobot
    places : sequence of int
        Place of each drive's joint among the efforts of the robot.

    Attributes
    ----------
    found : tuple of Wrong
        Drives that explain the motion, once they have done so for a while; empty without any.
    """

    def __init__(self, robot: CasterRobot, places: Sequence[int]) -> None:
        """Start without motion."""
        self._robot, n = robot, robot.count
        joints = [int(place) for place in places]
        sets = [some for size in range(1, 1 + min(MOST_WRONG, len(joints)))
                for some in combinations(range(len(joints)), size)]
        self._hypotheses: list[tuple[Wrong, ...]] = [() for _ in MASSES]
        self._hypotheses += [tuple(map(Wrong, some, kinds)) for some in sets
                             for kinds in product(KINDS, repeat=len(some))]
        count = len(self._hypotheses)
        # signs of torques and rates, and mass, of each hypothesis
        self._torque_sign = np.ones((count, robot.efforts))
        self._rate_sign = np.ones((count, 2 * n))
        for row, wrongs in enumerate(self._hypotheses):
            for drive, kind in wrongs:
                torque, counts = KINDS[kind]
                self._torque_sign[row, joints[drive]] = -1.0 if torque else 1.0
                self._rate_sign[row, joints[drive]] = -1.0 if counts else 1.0
        self._mass = np.ones((count, 1))
        self._mass[:len(MASSES), 0] = MASSES
        self._lever = np.concatenate([robot.wheel_radius, robot.caster_offset])
        # momentum of a slope within the window, N·s
        self._downhill = GRAVITY * math.sin(SLOPE) * robot.total_mass * WINDOW
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        count = len(self._hypotheses)
        self.found: tuple[Wrong, ...] = ()
        self._twist: Array | None = None
        self._torques: deque[Array] = deque()
        self._momentum, self._square = np.zeros((count, 3)), np.zeros(count)
        self._best: tuple[Wrong, ...] = ()
        self._time = self._seen = 0.0

    def step(self, dt: float, steering: Array, wheel_rate: Array, steering_rate: Array,
             torque: Array) -> None:
        """
        Take a complete cycle, `dt` s after the last one.

        Parameters
        ----------
        dt : float, s
        steering, wheel_rate, steering_rate : (n,) arrays, rad and rad/s
        torque : (robot.efforts,) array, N·m
            As reported by the drives.
        """
        robot = self._robot
        n = self._robot.count
        wheels, turning, contact = np.empty((3, 1, n, 3))
        kernels.jacobians(robot.geometry, steering[None], wheels, turning, contact)
        rows = np.concatenate([wheels[0], turning[0]])
        speeds = self._rate_sign * np.concatenate([wheel_rate, steering_rate]) * self._lever
        basis, triangle = np.linalg.qr(rows * self._lever[:, None])
        fitted = speeds @ basis
        apart = np.einsum('hi,hi->h', speeds, speeds) - np.einsum('hi,hi->h', fitted, fitted)
        before = self._twist
        self._twist = np.linalg.solve(triangle, fitted.T).T
        self._torques.append(torque)
        while len(self._torques) > 1 + round(RATE_DELAY / dt):
            self._torques.popleft()
        if before is None:
            return
        mass = mass_matrix(robot, steering)
        force = (self._torques[0] * self._torque_sign) @ rows[:robot.efforts]
        moved = (self._twist - before) @ mass + dt * bias(
            robot, np.broadcast_to(steering, (len(force), n)), self._twist)
        self._momentum = math.exp(-dt / WINDOW) * self._momentum + self._mass * moved - dt * force
        left = self._momentum.copy()
        size = np.hypot(*left[:len(MASSES), :2].T)
        left[:len(MASSES), :2] *= np.maximum(1.0 - self._downhill / np.maximum(size, TINY), 0.0
                                             )[:, None]
        unexplained = np.einsum('hi,hi->h', left, np.linalg.solve(mass, left.T).T
                                ) / robot.total_mass
        self._seen += dt
        keep = math.exp(-dt / MEMORY)
        self._square = keep * self._square + (1.0 - keep) * (unexplained + apart)
        self._judge(dt)

    @property
    def well(self) -> bool:
        """True when payload, slope and the reported torques explain the motion."""
        return self._seen > MEMORY and bool(
            self._square[:len(MASSES)].min() < LEAST_SPEED ** 2)

    def _judge(self, dt: float) -> None:
        """Keep the best explanation if it has been the same for a while."""
        well = float(self._square[:len(MASSES)].min())
        rest = self._square[len(MASSES):]
        best = int(rest.argmin())
        wrongs = self._hypotheses[len(MASSES) + best]
        drives = {w.drive for w in wrongs}
        # sets that contain the same drives and one more explain as much
        others = [float(value) for value, some in zip(rest, self._hypotheses[len(MASSES):],
                                                      strict=True)
                  if not drives <= {w.drive for w in some}]
        clear = (well > LEAST_SPEED ** 2 and rest[best] < EXPLAINED * well
                 and CLEARLY * rest[best] < min(others, default=math.inf))
        simple: tuple[Wrong, ...] = ()
        if clear:
            simple = self._simplest(drives, EXPLAINED * well)
        self._time = self._time + dt if simple and simple == self._best else 0.0
        self._best = simple
        if self._time >= PATIENCE:
            self.found = simple

    def _simplest(self, drives: set[int], most: float) -> tuple[Wrong, ...]:
        """Return the best of the explanations with the fewest of these drives, () for BOTH."""
        found = [(len(wrongs), float(square), wrongs) for square, wrongs in zip(
            self._square[len(MASSES):], self._hypotheses[len(MASSES):], strict=True)
            if square < most and {w.drive for w in wrongs} <= drives]
        _, _, wrongs = min(found)
        return () if any(w.kind == BOTH for w in wrongs) else wrongs
