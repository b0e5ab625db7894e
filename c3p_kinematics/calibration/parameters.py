# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a calibration: radius, offset, hip and steering zero of each caster.

They are rows ``[r, d, x, y, β]`` (n, 5): lengths in metres, β the correction of `steering_zero` in
rad. A vector (5n,) holds the rows one after the other.

No measurement of the joints alone determines the four directions of `gauge`: with all lengths
scaled by one factor, hips and zeros turned by one angle, or hips moved by one vector, the same
joint angles belong to the same motion of another frame (docs/calibration.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from c3p_description.model import Array, CasterRobot, ModelError
from c3p_description.wheels import on_pivot
from c3p_kinematics.calibration._window_kernels import PER_CASTER
from c3p_kinematics.sensed_kinematics_parameters import DescriptionErrors, LearningParameters
from c3p_kinematics.singularity import length_scale

# mean path of the casters in a window per size of the robot
WINDOW = 0.7

# deviation of the angle at which a wheel is mounted, rad
MOUNTED = math.radians(0.3)

# attributes of a robot that are calibrated
FIELDS = ('wheel_radius', 'caster_offset', 'hip_position', 'steering_zero')

# rms of the residuals in units of their noise above which a result has a warning
DOUBTFUL = 3.0

# change of a parameter in standard deviations of the prior beyond which it is refused: 3 % of a
# radius and 3° of a zero with the default prior
FAR = 10.0

# largest variance of a covariance from outside in units of the prior: no estimate is less certain,
# but for lengths that were calibrated since
LARGEST = 1.1

NAMES = ('radius', 'offset', 'hip x', 'hip y', 'steering zero')


class Prior(DescriptionErrors):
    """
    Standard deviations of the described parameters from the true ones.

    The defaults are those of errors uniform within r ± 0.52 %, d ± 3.5 %, hip ± 3 mm and zero
    ± 0.52°.
    """

    def deviations(self, robot: CasterRobot) -> Array:
        """
        Return the standard deviation of each parameter (5n,), m and rad.

        A fixed wheel has no encoder whose zero may be wrong: its angle is that of its mounting,
        `MOUNTED` at most.
        """
        n = robot.count
        zero = np.where(robot.fixed, min(self.zero, MOUNTED), self.zero)
        return np.column_stack([
            self.radius * robot.wheel_radius, self.offset * robot.caster_offset,
            np.full((n, 2), self.hip), zero]).ravel()


@dataclass(frozen=True)
class CalibrationSettings:
    """
    Settings of a calibration.

    Attributes
    ----------
    prior : Prior
        Uncertainty of the description.
    wheel_resolution, steering_resolution : float, rad
        Encoder steps.
    creep : float
        Standard deviation of the path of a contact point per its length: error budget of caster
        scrub, shift of the contact patch and camber of the tyre.
    skew : float, s
        Standard deviation of the age of each joint's angles within a sample, which is estimated
        with the lengths; 0 takes all joints of a sample as of one instant.
    reference_time : float, s
        Standard deviation of the times of a ground truth from those of the joints.
    """

    prior: Prior = field(default_factory=Prior)
    wheel_resolution: float = 2.0 * math.pi / 2000
    steering_resolution: float = 2.0 * math.pi / 4096
    creep: float = LearningParameters.creep
    skew: float = 0.0
    reference_time: float = 0.0

    def __post_init__(self) -> None:
        """Reject values out of range."""
        for name in ('wheel_resolution', 'steering_resolution', 'creep', 'skew', 'reference_time'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: must be finite and not '
                                 'negative')
        if max(self.wheel_resolution, self.creep) == 0.0:
            raise ValueError('creep = 0 with ideal encoders: without any error every window would '
                             'have an infinite weight; use a small creep such as 1e-6')

    @property
    def noise(self) -> Array:
        """Encoder steps of wheel and steering, and creep, as kernels take them."""
        return np.array([self.wheel_resolution, self.steering_resolution, self.creep])


@dataclass(frozen=True)
class LearningSettings:
    """
    Settings of the calibration while driving.

    Attributes
    ----------
    calibration : CalibrationSettings
        Prior and errors of the sensors.
    memory : float, m
        Path of the casters over which the covariance returns to the prior; inf never forgets.
    least_gain : float, nats
        Information gain below which a window is not used.
    most : float
        Limit of each parameter's deviation from the description, in standard deviations of the
        prior.
    """

    calibration: CalibrationSettings = field(default_factory=CalibrationSettings)
    memory: float = LearningParameters.memory
    least_gain: float = 1e-3
    most: float = 4.0

    def __post_init__(self) -> None:
        """Reject values out of range."""
        for name, least in (('memory', 1.0), ('most', 1.0), ('least_gain', 0.0)):
            value = getattr(self, name)
            if not value >= least or (name != 'memory' and value == math.inf):
                raise ValueError(f'{name} = {value}: must be a number, {least:g} or greater')


def parameters_of(robot: CasterRobot) -> Array:
    """
    Return the described parameters (n, 5): β is 0.

    Raises
    ------
    ModelError
        Two wheels on a pivot, whose parameters are not free of each other.
    """
    if shared := np.flatnonzero(on_pivot(robot) > 1).tolist():
        raise ModelError(f'robot {robot.name}: wheels {", ".join(f"{i + 1}" for i in shared)} '
                         'are in pairs on one pivot, and each wheel is calibrated with a pivot '
                         'and a zero of its own: not possible yet; odometry, report and recompute '
                         'work')
    return np.ascontiguousarray(np.column_stack(
        [robot.wheel_radius, robot.caster_offset, robot.hip_position, np.zeros(robot.count)]))


def redundant_rows(robot: CasterRobot) -> int:
    """Return the number of rows of measurement beyond the three of the motion, 1 at least."""
    return max(int(np.count_nonzero(robot.rows)) - 3, 1)


def in_units(value: Array, deviation: Array) -> Array:
    """
    Return `value` / `deviation`, 0 for what is known exactly: an offset d = 0.

    Examples
    --------
    >>> in_units(np.array([0.3, 0.0]), np.array([0.1, 0.0])).round(3).tolist()
    [3.0, 0.0]
    """
    known = deviation == 0.0
    return np.where(known, 0.0, value / np.where(known, 1.0, deviation))


def covariance_in_units(covariance: Array, deviation: Array) -> Array:
    """
    Return a `covariance` (5n, 5n) of parameters in units of a prior, `deviation` (5n,).

    What is known exactly stays at the prior, in whose units the others are.

    Examples
    --------
    >>> covariance_in_units(np.diag([0.09, 0.0]), np.array([0.3, 0.0])).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    normal = in_units(covariance, np.outer(deviation, deviation))
    return normal + np.diag(np.where(deviation > 0.0, 0.0, 1.0))


def check_covariance(normal: Array) -> None:
    """
    Refuse a covariance from outside, in units of the prior, that no estimate has.

    Raises
    ------
    ValueError
        Numbers that are not finite, or a variance above that of the prior.
    """
    if not np.all(np.isfinite(normal)):
        raise ValueError('covariance: every number must be finite')
    largest = float(np.linalg.eigvalsh(normal).max())
    if largest > LARGEST:
        raise ValueError(f'covariance: its largest variance is {largest:.3g} times that of '
                         f'the prior, must be 1 or less: it is damaged, or the prior '
                         '(description_std.* of the node) is narrower than that of the '
                         'calibration')


def window_length(robot: CasterRobot) -> float:
    """Return the mean path of the casters in a window, m."""
    return WINDOW * max(length_scale(robot), float(robot.caster_offset.mean()))


def calibrated(robot: CasterRobot, parameters: Array) -> CasterRobot:
    """
    Return `robot` with `parameters` (n, 5) or (5n,) in place of the described ones.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> found = parameters_of(robot)
    >>> found[1, 0] *= 1.01
    >>> calibrated(robot, found).wheel_radius.round(6).tolist()
    [0.04, 0.0404, 0.04]
    """
    rows = np.asarray(parameters, float).reshape(robot.count, PER_CASTER)
    return replace(robot, wheel_radius=rows[:, 0], caster_offset=rows[:, 1],
                   hip_position=rows[:, 2:4], steering_zero=robot.steering_zero + rows[:, 4])


def gauge(parameters: Array) -> Array:
    """
    Return the directions (5n, 4) that joint sensors do not determine: scale, turn, shift x and y.

    Scale multiplies all lengths by 1 + ε; turn rotates the hips by ε and adds ε to all zeros; the
    shifts move all hips.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> gauge(parameters_of(robot)).shape
    (15, 4)
    """
    rows = np.asarray(parameters, float).reshape(-1, PER_CASTER)
    out = np.zeros((*rows.shape, 4))
    out[:, :4, 0] = rows[:, :4]
    out[:, 2, 1], out[:, 3, 1], out[:, 4, 1] = -rows[:, 3], rows[:, 2], 1.0
    out[:, 2, 2] = out[:, 3, 3] = 1.0
    return out.reshape(-1, 4)


def without_gauge(parameters: Array, difference: Array, weight: Array) -> Array:
    """
    Return `difference` (5n,) of parameters less the gauge that explains most of it.

    `weight` (5n,) are standard deviations, in whose units the rest is smallest.
    """
    directions = gauge(parameters) / weight[:, None]
    part = np.linalg.lstsq(directions, difference / weight, rcond=None)[0]
    return difference - gauge(parameters) @ part
