# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from position_controller_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of position_controller.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class ExponentialParameters(CheckedSettings):
    """
    Gains of the exponential law, and its goal zone.

    Attributes
    ----------
    speed : float
        K, speed far from the goal [m/s]. Paper I, Table I.
    approach : float
        μ, rate of the exponential approach to the goal [1/m], with paper. Paper I, Table I.
    line_approach : float
        μ across the line from start to goal [1/m], with paper; 0 disables line tracking.
    yaw_gain : float
        K_Φ, yaw rate per yaw error [1/s], with paper. Soft on purpose: casters across the
        direction of travel turn only when the platform may yaw. Paper I, Table I has 0.2.
    line_yaw_gain : float
        K_er, yaw rate per angle between the line and the remaining error [1/s], with paper. Paper
        I, Table I has -0.3 with clockwise angles, which steers away from the line; an
        omnidirectional robot returns to the line without a turn.
    yaw_rate : float
        Limit of the commanded yaw rate [rad/s], with paper.
    goal_tolerance : float
        Radius of the goal zone [m]. Paper I has 5 cm.
    yaw_tolerance : float
        Largest yaw error in the goal zone [rad].
    stop_distance : float
        Distance to the goal at which the robot stops inside the goal zone [m], with paper.
    stop_yaw : float
        Yaw error at which the robot stops turning inside the goal zone [rad], with paper.
    """

    speed: float = setting(0.5, bounds=(0.01, 3.0), parameter='speed')
    approach: float = setting(1.2, bounds=(0.05, 20.0), parameter='approach')
    line_approach: float = setting(0.95, bounds=(0.0, 20.0), parameter='line_approach')
    yaw_gain: float = setting(0.36, bounds=(0.0, 5.0), parameter='yaw_gain')
    line_yaw_gain: float = setting(0.0, bounds=(-2.0, 2.0), parameter='line_yaw_gain')
    yaw_rate: float = setting(0.5, bounds=(0.01, 5.0), parameter='yaw_rate')
    goal_tolerance: float = setting(0.05, bounds=(0.001, 1.0), parameter='goal_tolerance')
    yaw_tolerance: float = setting(0.15, bounds=(0.005, 3.15), parameter='yaw_tolerance')
    stop_distance: float = setting(0.02, bounds=(0.0005, 1.0), parameter='stop_distance')
    stop_yaw: float = setting(0.05, bounds=(0.002, 3.15), parameter='stop_yaw')


@dataclass(frozen=True)
class PathGains(CheckedSettings):
    """
    Speed profile along a path, and goal zone.

    In the equations `speed` is K, `acceleration` a, `deceleration` a_b, `approach` k,
    `line_approach` μ_⊥, `yaw_gain` K_Φ and `yaw_rate` ω_max. Inside the zone the robot approaches
    the goal to `stop_distance` and `stop_yaw` and then stops until it leaves the zone.

    Attributes
    ----------
    speed : float
        K, speed far from the goal [m/s]. Paper I, Table I.
    acceleration : float
        Acceleration along the path [m/s²].
    deceleration : float
        Deceleration towards the end of the path [m/s²].
    approach : float
        Rate of the final exponential approach [1/s].
    line_approach : float
        μ across the path, in the commanded twist [1/m].
    yaw_gain : float
        K_Φ, yaw rate per yaw error, in the commanded twist [1/s].
    yaw_rate : float
        Limit of the yaw rate, commanded and along the path [rad/s].
    goal_tolerance : float
        Radius of the goal zone [m]. Paper I has 5 cm.
    yaw_tolerance : float
        Largest yaw error in the goal zone [rad].
    stop_distance : float
        Distance to the goal at which the robot stops inside the goal zone [m].
    stop_yaw : float
        Yaw error at which the robot stops inside the goal zone [rad].
    horizon : float
        Duration of the preview [s].
    """

    speed: float = setting(0.5, bounds=(0.01, 3.0), parameter='speed')
    acceleration: float = setting(0.8, bounds=(0.01, 20.0), parameter='path.acceleration')
    deceleration: float = setting(1.0, bounds=(0.01, 20.0), parameter='path.deceleration')
    approach: float = setting(8.0, bounds=(0.1, 50.0), parameter='path.approach')
    line_approach: float = setting(2.0, bounds=(0.0, 20.0), parameter='path.line_approach')
    yaw_gain: float = setting(1.0, bounds=(0.0, 10.0), parameter='path.yaw_gain')
    yaw_rate: float = setting(1.5, bounds=(0.01, 10.0), parameter='path.yaw_rate')
    goal_tolerance: float = setting(0.05, bounds=(0.001, 1.0), parameter='goal_tolerance')
    yaw_tolerance: float = setting(0.15, bounds=(0.005, 3.15), parameter='yaw_tolerance')
    stop_distance: float = setting(0.0008, bounds=(0.0002, 1.0), parameter='path.stop_distance')
    stop_yaw: float = setting(0.02, bounds=(0.001, 3.15), parameter='path.stop_yaw')
    horizon: float = setting(1.2, bounds=(0.1, 5.0), parameter='path.horizon')


@dataclass(frozen=True)
class PaperPositionGains(CheckedSettings):
    """
    Gains of eqs (14)-(16); the defaults are Table I as printed.

    A `goal_zone` of 0 disables the zone; with a zone a pure turn is reached at once, without
    turning.

    Attributes
    ----------
    axis_gain : tuple[float, float]
        K_x, K_y, speeds far from the goal [m/s]. Paper I, Table I; with K_y = 0 there is no motion
        along Y, the triangle needs 0.5, 0.5.
    axis_rate : tuple[float, float]
        μ_x, μ_y, rates of the exponential approach [1/m]. Paper I, Table I.
    yaw_gain : float
        K_Φ, yaw rate per yaw error [1/s]. Paper I, Table I.
    line_yaw_gain : float
        K_er, yaw rate per line error [1/s]. Paper I, Table I; clockwise it turns away from the
        line.
    goal_zone : float
        Radius in which all velocities are zero [m]; 0 disables the zone.
    """

    axis_gain: tuple[float, float] = setting(
        (0.5, 0.0), size=2, bounds=(0.0, 3.0), parameter='printed.axis_gain')
    axis_rate: tuple[float, float] = setting(
        (1.2, 1.2), size=2, bounds=(0.05, 20.0), parameter='printed.axis_rate')
    yaw_gain: float = setting(0.2, bounds=(0.0, 5.0), parameter='printed.yaw_gain')
    line_yaw_gain: float = setting(-0.3, bounds=(-2.0, 2.0), parameter='printed.line_yaw_gain')
    goal_zone: float = setting(0.05, bounds=(0.0, 1.0), parameter='printed.goal_zone')


@dataclass(frozen=True)
class PrintedReadings(CheckedSettings):
    """
    Readings of eqs (14)-(16) of paper I.

    Attributes
    ----------
    frame : str
        Frame of the velocities. rotated, from the floor to base_link; as_printed, without R.
    line : str
        Direction ϑ of the line. from_start, to the goal; as_printed, of the goal's coordinates.
    arctangent : str
        Reading of the arctangent of ϑ and δ_g; printed with one argument.
    sense : str
        Sense of the angles ϑ and δ_g; clockwise as printed.
    angles : str
        Range of Φ_e and δ_er. wrapped; as_printed, plain differences.
    zone : str
        Zero velocity of the zone. every_cycle, while inside; latched, from the first entry on.
    undefined : str
        Handling of δ_er = 0/0. leave_out, without its term; stop, zero velocity.
    """

    frame: str = setting('rotated', one_of=('rotated', 'as_printed'), parameter='printed.frame')
    line: str = setting(
        'from_start', one_of=('from_start', 'as_printed'), parameter='printed.line')
    arctangent: str = setting(
        'two_argument', one_of=('two_argument', 'one_argument'), parameter='printed.arctangent')
    sense: str = setting(
        'clockwise', one_of=('clockwise', 'counter_clockwise'), parameter='printed.sense')
    angles: str = setting('wrapped', one_of=('wrapped', 'as_printed'), parameter='printed.angles')
    zone: str = setting('every_cycle', one_of=('every_cycle', 'latched'), parameter='printed.zone')
    undefined: str = setting(
        'leave_out', one_of=('leave_out', 'stop'), parameter='printed.undefined')
