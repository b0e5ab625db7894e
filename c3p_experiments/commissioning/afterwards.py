# SPDX-License-Identifier: Apache-2.0
"""Triangle of a robot after its commissioning: true final error with what was found of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_experiments.commissioning.measured_robot import measured_robot
from c3p_experiments.commissioning.small_drive import SmallDrive, torque_needed
from c3p_experiments.commissioning.trial import AHEAD, LEFT, WiringBench, same, searched
from c3p_experiments.commissioning.wired import few, robot_named
from c3p_experiments.el_shenawy.goals import DWELL, TRIANGLE
from c3p_experiments.loop.closed_loop import Held, run_loop, sensed_odometry
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.commissioning.assignment import Assignment
from c3p_kinematics.commissioning.search import WiringError, settle
from c3p_kinematics.odometry import Odometry
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.parameter_errors import ParameterErrors
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# robots that stand on the contact plant
STANDING = ('c3p', 'four_casters', 'five_casters', 'powered_caster')

# what is wrong in the description of a robot that was just built
ERRORS = ParameterErrors(mass=0.1, com=0.01, friction=0.2, wheel_radius=0.02, caster_offset=0.035,
                         steering_zero=np.radians(2.0))

# longest triangle, s, and pause at its corners
LONGEST = 120.0
PAUSE = 0.2


class Afterwards(NamedTuple):
    """
    Triangles of one robot.

    Attributes
    ----------
    robot : str
    seed : int
    wired, measured, exact : float, m
        True final errors with the wiring mended alone, with all that was found, and, on the same
        sensors, with the true robot; nan of a triangle that was not finished.
    fastest : float, m/s
        Of the pivots in the drive on the spot.
    farthest : float, m
        Of the centre from the start of the commissioning.
    text : str
        What was not found, with the reason.
    """

    robot: str
    seed: int
    wired: float
    measured: float
    exact: float
    fastest: float
    farthest: float
    text: str


def afterwards(name: str, seed: int) -> Afterwards:
    """Commission a robot with a wrong wiring and geometry, then drive triangles."""
    robot = robot_named(name)
    rng = np.random.default_rng([seed, robot.count])
    true = few(robot, rng)
    sensors = SensorSettings.real()
    plant = make_plant('mujoco', robot, PlantOptions(sensors=sensors, seed=seed, errors=ERRORS))
    assert isinstance(plant, SensedPlant)
    plant.reset(steering=rng.uniform(-np.pi, np.pi, robot.count))
    bench = WiringBench(robot, true, plant)
    nan = float('nan')
    nothing = Afterwards(name, seed, nan, nan, nan, bench.fastest, bench.farthest, '')
    try:
        found, motions, text, _ = searched(bench, seed)
        if text:
            return nothing._replace(text=text)
        bench.fastest = 0.0
        record = motions.record()
        drive = SmallDrive(robot, found.assignment, torque_needed(record))
        text = bench.move(drive)
        fastest, farthest = bench.fastest, bench.farthest
        for direction in (AHEAD, LEFT):
            found = settle(robot, found, bench.push(direction), direction)
    except WiringError as error:
        return nothing._replace(text=str(error))
    if text or not same(true, found.assignment):
        return nothing._replace(text=text or 'another wiring was found')
    wiring = found.assignment
    measured = measured_robot(robot, wiring, [record, drive.record()], masses=False)
    inner = plant.plant

    def final(known: CasterRobot) -> float:
        return triangle_error(SensedPlant(inner, sensors, seed, known), known)

    return Afterwards(
        name, seed, final(in_true_channels(robot, true, wiring)),
        final(in_true_channels(measured.robot, true, wiring)) if measured.written else nan,
        final(inner.robot), fastest, farthest, '; '.join(measured.notes))


def in_true_channels(known: CasterRobot, true: Assignment, wiring: Assignment) -> CasterRobot:
    """
    Return a robot as it is known, for channels that are wired rightly.

    A gear and a zero that were found wrongly are as a wrong radius and steering zero.
    """
    n = known.count
    ratio = np.abs(wiring.gear[n:] / true.gear[n:])
    zero = wiring.zero[:n] - true.zero[:n]
    return replace(known, wheel_radius=known.wheel_radius * ratio,
                   steering_zero=known.steering_zero + np.angle(np.exp(1j * zero)))


def triangle_error(plant: SensedPlant, known: CasterRobot) -> float:
    """Return the true distance of the end of a triangle from its goal, m; nan if missed."""
    controller = make_controller('auto', known)
    source = GoalSource(controller.position(), list(TRIANGLE[1:]), dwell=PAUSE)
    sensors = plant.settings
    odometry = Odometry(known, sensed_odometry(
        (sensors.wheel_counts, sensors.steering_counts), sensors.timing))
    log = run_loop(plant, controller.law, source, duration=LONGEST, odometry=odometry,
                   stop=Held(DWELL))
    if not log.ended or log.fault:
        return float('nan')
    return float(np.hypot(*(log.ground_truth.pose[-1] - np.array(TRIANGLE[-1]))[:2]))


def failed_afterwards(case: tuple[str, int], reason: str) -> Afterwards:
    """Return the result of a case whose worker was lost."""
    nan = float('nan')
    return Afterwards(*case, nan, nan, nan, 0.0, 0.0, reason)


def afterwards_summary(found: Sequence[Afterwards]) -> dict[str, Any]:
    """Return the metrics: p90 of the errors where the triangle was finished, and what failed."""
    out: dict[str, Any] = {
        'drives': len(found), 'not_measured': sum(not np.isfinite(one.measured) for one in found),
        'fastest_mps': max((one.fastest for one in found), default=0.0),
        'way_m': max((one.farthest for one in found), default=0.0)}
    for kind in ('wired', 'measured', 'exact'):
        errors = np.array([getattr(one, kind) for one in found])
        errors = errors[np.isfinite(errors)]
        for part in (50, 90):
            out[f'{kind}_error_p{part}_m'] = (float(np.quantile(errors, 0.01 * part))
                                             if len(errors) else None)
    return out
