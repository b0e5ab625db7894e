# SPDX-License-Identifier: Apache-2.0
"""Agreement of drive power between our motion with masses and MuJoCo's, over hills."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from c3p_description.reading.loader import load_tricycle
from c3p_experiments.auchter_moore.mujoco_vehicle import MujocoRun, drive_mujoco
from c3p_rough_ground.dynamics import (
    DriveTimes,
    DynamicRun,
    HeavyVehicle,
    Tyre,
    drive,
    heavy_tricycle,
)
from c3p_rough_ground.terrain import SplineGround, Terrain

# a tyre with the deflection and the slip stiffness of MuJoCo's contacts, without rolling
# resistance, which the hubs have instead, N·m·s
TYRE = Tyre(stiffness=100e3, shear_stiffness=100e3, relaxation=0.25, rolling=0.0)
HUB = 0.5


class ComparedDrive(NamedTuple):
    """
    One drive in both.

    Attributes
    ----------
    name : str
        Of the ground.
    ours, theirs : DynamicRun, MujocoRun
    power_error : float
        Of the mean power of all motors while they drive.
    work_error : float
        Of the work of the motors, per the work while they drive.
    trace_error : float
        Root of the mean square difference of the power per that of the power.
    apart : float, m
        Between the ends.
    """

    name: str
    ours: DynamicRun
    theirs: MujocoRun
    power_error: float
    work_error: float
    trace_error: float
    apart: float


class SimulatorAgreement(NamedTuple):
    """Drives over several grounds in both simulators."""

    drives: tuple[ComparedDrive, ...]

    @property
    def power_error(self) -> float:
        """Largest relative difference of the drive power."""
        return max(abs(one.power_error) for one in self.drives)

    def metrics(self) -> dict[str, Any]:
        """Return the differences for JSON."""
        return {'power_error': self.power_error,
                'work_error': max(abs(one.work_error) for one in self.drives),
                'trace_error': max(one.trace_error for one in self.drives),
                'apart_m': max(one.apart for one in self.drives),
                'drives': {one.name: {'power': one.power_error, 'work': one.work_error,
                                      'trace': one.trace_error} for one in self.drives}}


def checked_vehicle(robot: str | Path, form: str = 'camber') -> HeavyVehicle:
    """Return a tricycle with tyres and hubs as MuJoCo has them; arguments of `heavy_tricycle`."""
    heavy = heavy_tricycle(load_tricycle(robot), form, tyre=TYRE)
    spins = {heavy.vehicle.joints[k].name for k in heavy.vehicle.spins}
    return replace(heavy, servos={
        name: replace(servo, viscous=HUB) if name in spins else servo
        for name, servo in heavy.servos.items()})


def compared(heavy: HeavyVehicle, name: str, terrain: Terrain, duration: float,
             settling: float = 2.0) -> ComparedDrive:
    """
    Drive a `heavy` vehicle of `checked_vehicle` over a `terrain` called `name` in both simulators.

    `duration` and the time at standstill before, `settling`, are in s.
    """
    spins = heavy.vehicle.spins
    desired = [1.0 * (k in spins) for k in range(heavy.vehicle.size[0])]
    ours = drive(heavy, terrain, desired, duration, times=DriveTimes(settling=settling))
    theirs = drive_mujoco(heavy, terrain, desired, duration, settling=settling)
    power = ours.motor_power.sum(axis=1)
    other = np.sum(theirs.motor_torque * theirs.joint_rates, axis=1)
    driving = [float(trapezoid(np.maximum(p, 0.0), ours.time)) for p in (power, other)]
    work = [float((run.work[-1] - run.work[0]).sum()) for run in (ours, theirs)]
    # the jump of the rates at the start is left to each integrator
    after = ours.time > 0.5
    return ComparedDrive(name, ours, theirs, driving[1] / driving[0] - 1.0,
                         (work[1] - work[0]) / driving[0],
                         float(np.sqrt(np.mean((power - other)[after]**2)
                                       / np.mean(power[after]**2))),
                         float(np.linalg.norm(ours.position[-1] - theirs.position[-1])))


def agreement(robot: str | Path, seed: int = 0,
              duration: float = 20.0) -> SimulatorAgreement | None:
    """
    Return the agreement over two random grounds from `seed` on; None without MuJoCo.

    `robot` is the name or file of a tricycle, `duration` that of each drive, s.
    """
    try:
        import mujoco  # noqa: F401
    except ImportError:
        return None
    heavy = checked_vehicle(robot)
    return SimulatorAgreement(tuple(compared(heavy, f'seed {k}', SplineGround.random(k, degree=5),
                                             duration)
                                    for k in (seed, seed + 1)))
