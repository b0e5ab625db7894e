# SPDX-License-Identifier: Apache-2.0
"""Choice of the shortest drive after which the lengths are known as well as required."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.excitation import Excitation
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.parameters import CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording
from c3p_kinematics.calibration.words import INTERVAL, relative_to_gauge
from c3p_kinematics.casters import inverse

# durations that are compared, s
DURATIONS = (20.0, 40.0, 60.0, 90.0, 120.0, 180.0, 240.0)

# ratios of yaw rate to speed that are compared, as the platform's rim is to its middle
TURNS = (0.3, 1.0, 2.0)

# step of the computed motion, s
STEP = 0.01


class PatternPlan(NamedTuple):
    """
    A pattern and what is expected of it.

    Attributes
    ----------
    excitation : Excitation
    radius : float
        Half-width of the 95 % interval of the ratios of radii, relative.
    zero : float, rad
        That of the differences of steering zeros.
    enough : bool
        Both are as required.
    """

    excitation: Excitation
    radius: float
    zero: float
    enough: bool


def rolled(robot: CasterRobot, excitation: Excitation) -> JointRecording:
    """Return the joint angles of a robot that rolls along an excitation, from angles 0."""
    times = np.arange(0.0, excitation.duration, STEP)
    steering = np.zeros(robot.count)
    wheel = np.zeros(robot.count)
    rows: list[tuple[Array, Array]] = []
    for time in times:
        rows.append((steering, wheel))
        twist = excitation.twist(float(time))
        rate, turn, _ = inverse(robot, steering, twist)
        # halfway, so that the angles belong to each other
        rate, turn, _ = inverse(robot, steering + 0.5 * STEP * turn, twist)
        steering = steering + STEP * turn
        wheel = wheel + STEP * rate
    return JointRecording(times, *(np.array(column) for column in zip(*rows, strict=True)))


def expected(robot: CasterRobot, excitation: Excitation, settings: CalibrationSettings
             ) -> tuple[float, float]:
    """Return the half-widths of the intervals after a drive: ratios of radii [1], zeros [rad]."""
    try:
        found = calibrate(robot, [rolled(robot, excitation)], settings=settings)
    except CalibrationError:
        return np.inf, np.inf
    own, _ = relative_to_gauge(robot, found.covariance)
    return (INTERVAL * float((own[:, 0] / robot.wheel_radius).max()),
            INTERVAL * float(own[:, 4].max()))


def shortest(robot: CasterRobot, radius: float = 1e-3, zero: float = 1e-3, speed: float = 0.3,
             settings: CalibrationSettings | None = None,
             durations: Sequence[float] = DURATIONS) -> PatternPlan:
    """
    Return the shortest pattern with the required intervals, else the best of the longest.

    Parameters
    ----------
    robot : CasterRobot
    radius : float
        Required half-width of the 95 % interval of the ratios of radii.
    zero : float, rad
        Required half-width of that of the differences of zeros.
    speed : float, m/s
        Largest speed in x and in y.
    settings : CalibrationSettings, optional
    durations : sequence of float, s
        Increasing.
    """
    settings = settings or CalibrationSettings()
    reach = float(np.hypot(*robot.hip_position.T).mean())
    for duration in durations:
        plans = []
        for turn in TURNS:
            excitation = Excitation(duration, speed, turn * speed / max(reach, 0.05))
            found = expected(robot, excitation, settings)
            plans.append(PatternPlan(excitation, *found, found[0] <= radius and found[1] <= zero))
        best = min(plans, key=lambda plan: max(plan.radius / radius, plan.zero / zero))
        if best.enough:
            break
    return best
