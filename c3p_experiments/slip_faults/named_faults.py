# SPDX-License-Identifier: Apache-2.0
"""Verdict of odometry on a fault in a tape: found or not, and the name it gets."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_experiments.slip_faults.joint_faults import FaultPlace, JointFault, put_fault
from c3p_experiments.slip_faults.quiet_driving import ERRORS
from c3p_experiments.slip_faults.scoring import odometry_settings
from c3p_experiments.slip_faults.tapes import PERIOD, Tape, sensed
from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_kinematics.fault_report import KINDS, SURE
from c3p_kinematics.faults import FaultReport
from c3p_kinematics.odometry import Odometry
from c3p_simulation.plants.parameter_errors import perturbed
from c3p_simulation.plants.sensors import SensorSettings

# a fault begins within these seconds of a drive, at the first instant from which the wheel rolls
# at this speed, m/s, in steps of this time, s
BEGINS, ROLLS, STEP = (5.0, 10.0), 0.05, 0.01


class Naming(NamedTuple):
    """
    Verdict on a fault.

    Attributes
    ----------
    found : float, s
        Time until an alarm begins; inf for never.
    caster : bool or None
        The caster that is named most of the time is the right one; None if none is named.
    kind : bool or None
        So is the kind.
    """

    found: float
    caster: bool | None
    kind: bool | None


def first_rolling(robot: CasterRobot, tape: Tape, caster: int, rng: np.random.Generator) -> int:
    """
    Return the instant of the `tape` at which a fault of a `caster` of the `robot` begins.

    It is drawn from `rng`, and then the first one at which the wheel rolls.
    """
    step = round(STEP / PERIOD)
    begin = int(rng.uniform(*BEGINS) / PERIOD)
    speed = np.abs(tape.wheel_rate[begin::step, caster]) * robot.wheel_radius[caster]
    rolls = np.flatnonzero(speed >= ROLLS)
    return begin + step * int(rolls[0]) if len(rolls) else begin


def naming(robot: CasterRobot, tape: Tape, fault: JointFault, sensors: SensorSettings, seed: int
           ) -> Naming:
    """
    Return the verdict of odometry by a wrong description of a robot on a fault in a tape.

    Parameters
    ----------
    robot : CasterRobot
        The true one.
    tape : Tape
    fault : JointFault
    sensors : SensorSettings
    seed : int
        Of caster, begin, size, sensors and description. Sensors do not change what the first
        three are.

    Examples
    --------
    >>> from c3p_description.reading.loader import load_casters
    >>> from c3p_experiments.slip_faults.joint_faults import FAULTS
    >>> from c3p_experiments.slip_faults.tapes import record
    >>> c3p = load_casters('c3p')
    >>> stuck = FAULTS['wheel encoder stuck']
    >>> naming(c3p, record(c3p, 1, 12.0, 'analytic'), stuck, SensorSettings(), 1)[1:]
    (True, True)
    """
    rng = np.random.default_rng([11, seed])
    caster = int(rng.integers(robot.count))
    begin = first_rolling(robot, tape, caster, rng)
    wrong = put_fault(fault, tape, FaultPlace(robot, caster, begin, rng))
    described, zero = wrongly_described(robot, seed)
    steps = (2.0 * np.pi / sensors.wheel_counts, 2.0 * np.pi / sensors.steering_counts)
    odometry = Odometry(described, odometry_settings(steps, sensors.timing))
    begins = PERIOD * begin
    found = np.inf
    names: Counter[tuple[int, int]] = Counter()
    before = False
    for time, sample in sensed(robot, wrong, sensors, seed):
        if time > begins + fault.lasts:
            break
        faults = odometry.step(sample.time, sample.steering + zero, sample.wheel_angle,
                               sample.wheel_rate, sample.steering_rate).faults
        if time >= begins and faults.alarm:
            if not before:
                found = min(found, time - begins)
            name = named(faults)
            if name is not None:
                names[name] += 1
        before = faults.alarm
    if not names:
        return Naming(found, None, None)
    (who, what), _ = names.most_common(1)[0]
    return Naming(found, who == caster, who == caster and KINDS[what] in fault.kinds)


def wrongly_described(robot: CasterRobot, seed: int) -> tuple[CasterRobot, Array]:
    """Return a wrong description of a robot, and what its steering zeros add to angles."""
    off = perturbed(robot, seed, ERRORS)
    return calibrated(robot, parameters_of(off)), off.steering_zero - robot.steering_zero


def named(faults: FaultReport) -> tuple[int, int] | None:
    """Return caster and the most probable kind of an alarm, if the caster is sure."""
    if faults.caster < 0 or faults.confidence < SURE:
        return None
    return faults.caster, int(np.argmax(faults.probability[faults.caster]))
