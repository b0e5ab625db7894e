# SPDX-License-Identifier: Apache-2.0
"""
Evidence of a wrong description of the wiring, beside that of single faults.

Monitors of slip and faults compare casters under one description. Where that is wrong the caster
that disagrees most is often the only one that is wired rightly. Here the description competes with
each order, sign and zero that it may have instead (wiring_hypotheses.py), by what each leaves of
the rolling constraints in windows of 2.5 cm, summed since the start until it is excluded
(_wiring_kernels.py). See docs/slip_and_faults.md.
"""

from __future__ import annotations

import math
from itertools import compress
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._wiring_kernels import judge_window
from c3p_kinematics.wiring_hypotheses import Wiring, wirings
from c3p_kinematics.wiring_states import WiringCosts, WiringWindow
from c3p_kinematics.wiring_yaw import REVERSES, yaw_factors

# probability, before any motion, of a wrong order, sign or zero, all of them together, and of
# another wrong description
WRONG = 0.005
OTHERWISE_WRONG = 1e-4

# odds of a wrong wiring of all casters or of more than two, against one of one or two
RARE = 0.3

# the same of each wiring that reverses the yaw, where these alone are compared: zeros measured
# from the back of the robot, and casters numbered from there, are likelier than other confusions
OTHER_SIDE = 0.001

# deviations of the motion of a contact in a window: of rounding and play, wheel radii; of wrong
# lengths, of zeros up to 4° off, and of creep, per path; of the times of two joints, s
NOISE = 0.0125
FRACTION = 0.07
LEAST_SKEW = 0.003

# beside unknown constant errors, to distinguish the side to which the robot turns: creep per path,
# and the deviations of these errors, of radii per radius and of zeros, rad (docs/real_robots.md)
CREEP = 0.02
RADIUS = 0.03
ZERO = math.radians(2.5)

# probability from which a wheel counts backwards: its brake is watched then
BACKWARDS = 0.5

# probability below which a hypothesis is not mentioned, and the most that are
LEAST = 0.05
MOST = 3

# probability of the other side of a turn from which the pose is in doubt
DOUBTFUL = 0.05

LOOK = 'turn it on the spot, and look; `c3p commission` finds the wiring'

REMEDY = ('find order, directions and zeros of the joints with `c3p commission`, then '
          'start again or call ~/reset_odometry')


class LikelyWiring(NamedTuple):
    """
    Wrong description that is likely.

    Attributes
    ----------
    probability : float
    wiring : Wiring or None
        None for one that is wrong in another manner.
    residual : float
        Rms of the residuals with it, in their deviations; nan without a wiring.
    """

    probability: float
    wiring: Wiring | None
    residual: float

    @property
    def name(self) -> str:
        """Wiring in words."""
        return self.wiring.text() if self.wiring else 'another order, sign or zero'


class WiringReport(NamedTuple):
    """
    Evidence on the wiring.

    Attributes
    ----------
    doubted : bool
        A wrong description is likelier than the given one with any single fault; the pose is
        unknown. Begins after three windows with a probability of the description below 0.5, and
        ends above 0.95.
    right : float
        Probability of the description.
    likely : tuple of LikelyWiring
        Wrong descriptions with a probability from 0.05 on, the likeliest first.
    residual : float
        Rms of the residuals with the description, in their deviations.
    open : bool
        Not every wrong wiring is excluded yet.
    reversing : tuple of str
        Those that are not, and by which the joints turn to the other side than the robot.
    other_side : float
        Probability of these against the description alone, by their fine comparison
        (_wiring_side_kernels.py).
    """

    doubted: bool
    right: float
    likely: tuple[LikelyWiring, ...]
    residual: float
    open: bool
    reversing: tuple[str, ...] = ()
    other_side: float = 0.0

    @property
    def backwards(self) -> tuple[int, ...]:
        """Casters, from 0, whose wheels count backwards by the likely wirings, in a doubt."""
        if not self.doubted:
            return ()
        found = [(one.probability, one.wiring.wheel_sign) for one in self.likely if one.wiring]
        count = len(found[0][1]) if found else 0
        return tuple(i for i in range(count)
                     if sum(p for p, sign in found if sign[i] < 0.0) >= BACKWARDS)

    def side_text(self) -> str:
        """
        Return why the side to which the robot turns is in doubt; empty where it is not.

        Examples
        --------
        >>> wirings = ('all steering zeros are 180° off',)
        >>> WiringReport(False, 0.7, (), 1.0, True, wirings, 0.3).side_text()[:68]
        'the robot may turn to the other side than its joints, with a probabi'
        """
        if self.other_side < DOUBTFUL:
            return ''
        return ('the robot may turn to the other side than its joints, with a probability of '
                f'{self.other_side:.2f}: {", or ".join(self.reversing)}; {LOOK}')

    def side_metric(self) -> str:
        """Return what is not known of the side to which the robot turns, for diagnostics."""
        if not self.reversing:
            return 'observed'
        return f'not observed yet: perhaps {", or ".join(self.reversing)}; {LOOK}'

    def text(self) -> str:
        """Return the doubt in words, with the best hypotheses, empty without one."""
        if not self.doubted:
            return ''
        named = ', or '.join(f'{one.name}, {one.probability:.2f}' for one in self.likely[:MOST])
        evidence = f'residuals are {self.residual:.2g} times their deviation'
        if self.likely and self.likely[0].wiring:
            evidence += f', {self.likely[0].residual:.2g} times with the first of these'
        return (f'the joints contradict the description: {named or "wrong wiring"}; {evidence}; '
                f'{REMEDY}')


RIGHT = WiringReport(False, 1.0, (), 0.0, False)


class WiringMonitor:
    """
    Comparison of the described wiring of a robot with wrong ones; bounded memory and time.

    Parameters
    ----------
    robot : CasterRobot
    skew : float, s
        Standard deviation of the times of the joints of a sample from each other.

    Attributes
    ----------
    window : WiringWindow
        Motion that is judged next; `use` connects it with that of an odometry.
    report : WiringReport
        Present evidence.

    Examples
    --------
    >>> from c3p_kinematics.casters import inverse
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> monitor, steering = WiringMonitor(robot), np.array([1.0, 0.3, 0.2])
    >>> for _ in range(200):  # casters 1 and 2 are plugged at the place of each other
    ...     wheel, steer, _ = inverse(robot, steering, [0.2, 0.1, 0.3])
    ...     other = [1, 0, 2]
    ...     monitor.step(steering[other], 0.01 * steer[other], 0.01 * wheel[other], 0.01)
    ...     steering = steering + 0.01 * steer
    >>> monitor.report.text()[:69]
    'the joints contradict the description: casters 1 and 2 exchanged, 0.7'
    """

    def __init__(self, robot: CasterRobot, skew: float = 0.0) -> None:
        """Start without motion."""
        self._robot = robot
        # a row of a tyre that is assumed to roll, or of a joint that is not measured, does not
        # distinguish wirings
        self._compares = bool(np.all(robot.rows == 1.0))
        n = robot.count
        self.wirings = wirings(n)
        factors = yaw_factors(robot, self.wirings)
        reversing = [k for k, factor in enumerate(factors, 1) if factor < REVERSES]
        self._reversing = [self.wirings[k - 1].text() for k in reversing]
        count = len(self.wirings) + 2
        self._costs = costs = WiringCosts.new(
            (n, count, 1 + len(reversing)), noise=NOISE * float(robot.wheel_radius.mean()),
            fraction=FRACTION, creep=CREEP, radius=RADIUS, zero=ZERO,
            skew=max(skew, LEAST_SKEW))
        costs.sides.wiring[1:] = reversing
        usual = np.array([RARE if not wiring.casters or len(wiring.casters) > 2 else 1.0
                          for wiring in self.wirings])
        costs.prior[1:-1] = -2.0 * np.log(WRONG * usual / usual.sum())
        costs.prior[-1] = -2.0 * math.log(OTHERWISE_WRONG)
        costs.caster[:] = -1.0
        free = ~robot.steered & (robot.caster_offset > 0.0)
        costs.unstable[free] = 1.0 / robot.caster_offset[free]
        costs.steering_of[:] = costs.wheel_of[:] = np.arange(n)
        for array in (costs.steering_sign, costs.wheel_sign, costs.turn_cosine):
            array[:] = 1.0
        for k, wiring in enumerate(self.wirings, 1):
            if len(wiring.casters) == 1:
                costs.caster[k] = wiring.casters[0]
            costs.steering_of[k], costs.wheel_of[k] = wiring.steering_of, wiring.wheel_of
            costs.steering_sign[k], costs.wheel_sign[k] = wiring.steering_sign, wiring.wheel_sign
            costs.turn_cosine[k], costs.turn_sine[k] = np.cos(wiring.turn), np.sin(wiring.turn)
        self.window = WiringWindow.new(n)
        self.use(self.window.block)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the window in a `block`, as that of the odometry; `reset` is due then."""
        robot = self._robot
        self.window = WiringWindow.of(block, robot.count)
        self.window.length[:] = robot.caster_offset, robot.wheel_radius

    def reset(self) -> None:
        """Forget all evidence: the joints may be wired in another manner from now on."""
        costs = self._costs
        window = self.window
        sides = costs.sides
        costs.cost[:] = costs.prior
        for array in (costs.faulty, costs.excluded, costs.led, costs.misfit, costs.windows,
                      costs.probability, sides.excluded, sides.other, sides.spent, sides.faulty,
                      sides.square, sides.information, sides.right, window.begun, window.turned,
                      window.against, window.doubted, window.proved, window.own):
            array[:] = 0.0
        sides.cost[1:] = -2.0 * math.log(OTHER_SIDE)
        costs.probability[0] = 1.0
        window.right[0] = window.judged[0] = window.open[0] = window.share[0] = 1.0
        if not self._compares:
            costs.excluded[1:] = sides.excluded[1:] = 1.0
            window.open[0] = 0.0
        window.alarm[0] = 0.0
        self.report = self._report()
        self.drop()

    def drop(self) -> None:
        """Begin a new window: the motion of the present one is unknown."""
        self.window.steps[0] = self.window.due[0] = 0.0

    def warm_up(self) -> None:
        """Compile all kernels, and reset."""
        self.judge()
        self.reset()

    def step(self, steering: Array, steered: Array, rolled: Array, dt: float) -> None:
        """
        Judge a window of motion as it is.

        Parameters
        ----------
        steering : (n,) array, rad
            At its begin.
        steered, rolled : (n,) array, rad
            Turns of steering axes and wheels in it.
        dt : float, s
            Duration.
        """
        window = self.window
        window.begun[:] = steering
        window.turned[0], window.turned[1] = steered, rolled
        window.time[0] = dt
        self.judge()

    def judge(self) -> None:
        """Judge the motion of `window`, and begin the next one."""
        costs = self._costs
        judge_window(costs.block, costs.values, self._robot.geometry, self.window.block)
        self.report = self._report()

    def evidence(self) -> tuple[Array, Array]:
        """Return a copy of the evidence, for `adopt`."""
        return self._costs.block.copy(), self.window.block.copy()

    def adopt(self, evidence: tuple[Array, Array]) -> None:
        """Continue with `evidence` of another time, and a new window."""
        self._costs.block[:], self.window.block[:] = evidence
        self.drop()
        self.report = self._report()

    def _report(self) -> WiringReport:
        window = self.window
        probability = self._costs.probability
        likely: tuple[LikelyWiring, ...] = ()
        if window.right[0] < 1.0 - LEAST:
            order = np.argsort(-probability[1:], kind='stable')
            likely = tuple(self._likely(1 + int(k)) for k in order if probability[1 + k] >= LEAST)
        sides = self._costs.sides
        reversing = tuple(compress(self._reversing, sides.excluded[1:] == 0.0))
        return WiringReport(bool(window.doubted[0]), float(window.right[0]), likely,
                            self._residual(0), bool(window.open[0]), reversing,
                            float(sides.other[0]))

    def _likely(self, k: int) -> LikelyWiring:
        known = k <= len(self.wirings)
        return LikelyWiring(float(self._costs.probability[k]),
                            self.wirings[k - 1] if known else None,
                            self._residual(k) if known else math.nan)

    def _residual(self, k: int) -> float:
        """Return the rms of the residuals with hypothesis `k`, in their deviations."""
        freedoms = self._costs.windows[0] * (2 * self._robot.count - 3)
        return math.sqrt(self._costs.misfit[k] / freedoms) if freedoms else 0.0
