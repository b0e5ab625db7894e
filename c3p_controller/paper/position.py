# SPDX-License-Identifier: Apache-2.0
"""
Exponential position controller of paper I, eqs (14)-(16), as printed, in all its readings.

    Ẋ = sign(X_e) K_x (1 − e^(−μ_x |X_e|))      Ẏ = sign(Y_e) K_y (1 − e^(−μ_y |Y_e|))
    Φ̇ = K_Φ Φ_e + K_er δ_er,     δ_er = ϑ − δ_g,   ϑ = arctan(−Y_g/X_g),   δ_g = arctan(−Y_e/X_e)

and inside a zone of 5 cm "the robot velocities will be zero". `PaperPositionOptions` names what is
misprinted or left open; its defaults are the print with the necessary corrections.
`exponential.PositionController` is the form for practical use.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from c3p_controller.goals.position_command import (
    PositionCommand,
    PositionLaw,
    body_twist,
    checked_goal,
    exponential,
)
from c3p_controller.paper.angles import direction_angle
from c3p_controller.position_controller_parameters import PaperPositionGains, PrintedReadings
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.se2 import wrap


class TableOne(NamedTuple):
    """
    The numbers of paper I, Table I, and the goal zone of its section IV-B, in SI units.

    They are h, d, r, M_p (paper II has 25 kg), I_p, K_x and K_y, K_Φ, K_er, μ_x and μ_y, λ_1, λ_2,
    θ_si at the start, and the radius of the circle in which "the robot velocities will be zero".
    """

    hip_radius: float = 0.343
    caster_offset: float = 0.04
    wheel_radius: float = 0.04
    platform_mass: float = 30.0
    platform_inertia: float = 3.51
    axis_gain: tuple[float, float] = (0.5, 0.0)
    yaw_gain: float = 0.2
    line_yaw_gain: float = -0.3
    axis_rate: tuple[float, float] = (1.2, 1.2)
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    steering: float = 0.0
    goal_zone: float = 0.05


TABLE_I = TableOne()

# the gain of X on both axes: with K_y = 0 there is no motion along Y, and the triangle of Fig. 10
# is impossible; the −225° of its third leg result from both axes in saturation
BOTH_AXES = (TABLE_I.axis_gain[0], TABLE_I.axis_gain[0])


class PaperPositionOptions(PrintedReadings):
    """
    Readings of eqs (14)-(16).

    Attributes
    ----------
    frame : {'rotated', 'as_printed'}
        Rotated: (14), (15) are velocities over the floor, and the twist in ``base_link`` is R(φ)ᵀ
        of them. As printed: without R, as if the yaw were always zero.
    line : {'from_start', 'as_printed'}
        The direction ϑ of the line. From start: of goal minus start. As printed: of the goal's
        coordinates, which is the same only from the origin; 0/0 with the origin as goal.
    arctangent : {'two_argument', 'one_argument'}
        In ϑ and δ_g; printed with one. See `direction_angle`.
    sense : {'clockwise', 'counter_clockwise'}
        Clockwise, as printed: K_er = −0.3 turns the platform away from the line.
    angles : {'wrapped', 'as_printed'}
        Wrapped: Φ_e and δ_er in (−π, π]. As printed: plain differences, which may exceed π.
    zone : {'every_cycle', 'latched'}
        Every cycle: zero inside the zone, and driving again when pushed out of it. Latched: zero
        for good once it has been entered.
    undefined : {'leave_out', 'stop'}
        Where δ_er is NaN (0/0). Leave out: K_er δ_er is left out. Stop: zero twist.
    """


# every letter of the print
AS_PRINTED = PaperPositionOptions('as_printed', 'as_printed', 'one_argument', 'clockwise',
                                  'as_printed', 'every_cycle', 'stop')

# correction for a platform that yaws and goals in every direction
CORRECTED = PaperPositionOptions(sense='counter_clockwise')


def line_error(line: Array, error: Array, options: PaperPositionOptions) -> float:
    """
    Return δ_er = ϑ − δ_g, rad; NaN where one of the angles is 0/0.

    `line` (2,) is X_g, Y_g, any vector along the line, `error` (2,) X_e, Y_e, the remaining error.

    Examples
    --------
    Right of a line along X, the goal is to the left: clockwise that is negative, so ϑ − δ_g is
    positive, and K_er = −0.3 turns to the right, away from the line.

    >>> options = PaperPositionOptions()
    >>> line_error(np.array([4.0, 0.0]), np.array([1.0, 1.0]), options) == math.pi / 4
    True
    """
    theta, delta = (direction_angle(float(v[0]), float(v[1]), options.arctangent, options.sense)
                    for v in (line, error))
    return float(wrap(theta - delta)) if options.angles == 'wrapped' else theta - delta


def axis_velocity(error: Array, gain: tuple[float, float], rate: tuple[float, float]) -> Array:
    """Return the floor velocity of eqs (14), (15) as printed: each floor axis separately, m/s."""
    return np.array([exponential(error[0], gain[0], rate[0]),
                     exponential(error[1], gain[1], rate[1])])


class PaperPositionController(PositionLaw):
    """
    Drives to a goal pose as printed in paper I; the memory is goal, line and zone.

    Examples
    --------
    >>> controller = PaperPositionController()
    >>> controller.set_goal(np.array([4.0, 0.0, 0.0]), np.zeros(3))
    >>> bool(np.array_equal(controller.step(np.zeros(3)).twist.round(4), [0.4959, 0.0, 0.0]))
    True
    """

    Settings: ClassVar[type[PaperPositionGains]] = PaperPositionGains
    group: ClassVar[str] = 'printed'
    shared: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, values: Any, name: str) -> Any:
        """Return gains and options of the parameters; ValueError for invalid ones."""
        return super().read(values, name), PaperPositionOptions.of(values)

    @classmethod
    def make(cls, gains: Any, robot: CasterRobot | None = None) -> PositionLaw:
        """Return the law with the gains and options that `read` returns."""
        return cls(*gains)

    @classmethod
    def pace(cls, values: Any) -> tuple[float, float]:
        """Return the largest speed and yaw rate of the parameters `values`, m/s and rad/s."""
        return values.speed, values.yaw_rate

    def __init__(self, gains: PaperPositionGains | None = None,
                 options: PaperPositionOptions | None = None) -> None:
        """Start without a goal."""
        super().__init__(gains or PaperPositionGains())
        self.options = options or PaperPositionOptions()
        self._start = np.zeros(2)
        self._there = False

    @property
    def zone(self) -> tuple[float, float]:
        """Goal zone, m and rad; the printed law does not consider yaw."""
        return self.gains.goal_zone, math.inf

    def retune(self, settings: tuple[PaperPositionGains, PaperPositionOptions]) -> None:
        """Replace gains and options."""
        self.gains, self.options = settings

    def set_goal(self, goal: Array, pose: Array) -> None:
        """Drive from `pose` to `goal`, both (x, y, yaw) in the odometry frame."""
        self.goal = checked_goal(goal)
        self._start = np.array(pose[:2], float)
        self._there = False

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """
        Return the command at `pose` (3,), None without a goal; `twist` is not used.

        Always finite; `reached` is the position alone, as in the paper's zone.
        """
        if self.goal is None:
            return None
        gains = self.gains
        options = self.options
        error, distance, yaw_error = self._errors(pose)
        in_zone = 0.0 < gains.goal_zone >= distance
        self._there = in_zone or (self._there and options.zone == 'latched')
        if self._there:
            return PositionCommand(np.zeros(3), distance, yaw_error, in_zone)
        velocity = axis_velocity(error, gains.axis_gain, gains.axis_rate)
        turn = self._turn(self.goal, error, float(pose[2]))
        twist = (body_twist(velocity, turn, pose[2]) if options.frame == 'rotated'
                 else np.array([*velocity, turn]))
        if not np.isfinite(twist).all():
            twist = np.zeros(3)
        return PositionCommand(twist, distance, yaw_error, in_zone)

    def _turn(self, goal: Array, error: Array, yaw: float) -> float:
        """Return Φ̇ of eq. (16); NaN only when an undefined angle is to stop the robot."""
        gains = self.gains
        options = self.options
        yaw_error = float(goal[2]) - yaw
        if options.angles == 'wrapped':
            yaw_error = float(wrap(yaw_error))
        turn = gains.yaw_gain * yaw_error
        if gains.line_yaw_gain == 0.0:
            return turn
        line = goal[:2] if options.line == 'as_printed' else goal[:2] - self._start
        off_line = line_error(line, error, options)
        if math.isnan(off_line) and options.undefined == 'leave_out':
            return turn
        return turn + gains.line_yaw_gain * off_line
