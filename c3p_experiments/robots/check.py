# SPDX-License-Identifier: Apache-2.0
"""Check of a robot: reading, abilities, battery on both plants, page and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from c3p_controller import AUTO, chosen_law, law_named
from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import WHAT, describe, describes_urdf
from c3p_description.reading.notes import Note
from c3p_dynamics.traction import traction_report
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.parallel.workers import Workers, computing
from c3p_experiments.robots.ability import Ability, ability_json, ability_of
from c3p_experiments.robots.battery import BatteryDrive, DriveOutcome, drive, tasks
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import Pace, pace_of
from c3p_experiments.robots.stops import stops_json
from c3p_simulation.make_plant import PLANTS

# metrics of a drive in the JSON; the first four are those of the command's contract
KEYS = ('path_error_max_m', 'final_error_m', 'torque_variation_nm_per_s',
        'ground_truth_path_error_max_m', 'ground_truth_final_error_m', 'time_s', 'align_time_s',
        'rms_wheel_torque_nm', 'max_wheel_torque_nm', 'yaw_rate_ripple_rms_radps', 'runaway')


# processes of a battery: each needs 300 MB
MOST_WORKERS = 8

# of a file without masses, in the text of its refusal: a small robot on four wheels
EXAMPLE_MASSES = {'platform.mass': 20, 'platform.inertia': 1, 'wheel.mass': 0.3,
                  'wheel.spin_inertia': 4e-4, 'wheel.yaw_inertia': 3e-4}

# warning of a robot with fewer motors than freedoms
HEADING = ('2 of 3 freedoms are driven: the robot follows paths with a heading of its own, and '
           'goals are judged by their position')


@dataclass(frozen=True)
class RobotCheck:
    """
    Result of a check.

    Attributes
    ----------
    source : str
        Name or path of the robot.
    robot : CasterRobot
    notes : tuple of Note
        Of the reader.
    ability : Ability
    pace : Pace
        Of the battery.
    drives : tuple of DriveOutcome
        The battery, empty if it was not requested.
    controller : str
    """

    source: str
    robot: CasterRobot
    notes: tuple[Note, ...]
    ability: Ability
    pace: Pace
    drives: tuple[DriveOutcome, ...] = field(default=())
    controller: str = 'mpc'

    @property
    def warnings(self) -> list[str]:
        """Warnings of the reader, of traction and of the abilities."""
        found = [note.text for note in self.notes if note.kind == 'warning']
        free = self.ability.heading_free
        return [*found, *filter(None, [traction_report(self.robot)]),
                *([HEADING] if free else []), *self.ability.obstacles(),
                *self.ability.doubts()]

    @property
    def missed(self) -> list[DriveOutcome]:
        """The drives that were not done or did not reach their goal."""
        return [drive for drive in self.drives if not drive.reached]


def read_robot(source: str, options: Mapping[str, Any]) -> tuple[CasterRobot, tuple[Note, ...]]:
    """
    Return the caster robot `source` with the notes of its reader.

    Raises
    ------
    ModelError
        As `loader.load`; also for a robot that is not on casters.
    """
    reading = describe(source, options)
    if not isinstance(reading.robot, CasterRobot):
        raise ModelError(f'robot {source!r} {WHAT[type(reading.robot)]}; here give c3p or your '
                         'caster robot')
    return reading.robot, reading.notes


def check_robot(source: str, options: Mapping[str, Any], controller: str = AUTO) -> RobotCheck:
    """
    Read the robot `source` with `options` and find its abilities; `with_battery` drives it.

    Errors as `read_robot`, and ModelError for a `controller` of other wheels or a robot without
    any mass.
    """
    robot, notes = read_robot(source, options)
    if lacking := without_masses(robot, notes):
        raise ModelError(f'robot {robot.name}: {lacking}')
    if controller != AUTO:
        law_named(controller).check_wheels(robot)
    ability = ability_of(robot)
    return RobotCheck(source, robot, notes, ability, pace_of(robot, ability.travel),
                      controller=chosen_law(controller, robot))


def without_masses(robot: CasterRobot, notes: tuple[Note, ...]) -> str:
    """Return what a robot whose file has no mass at all lacks, with the options that give it."""
    if (all(note.field != 'platform.mass' for note in notes)
            or robot.link_mass.any() or robot.wheel_mass.any()):
        return ''
    return ('no link of the file has a mass. Odometry, import, report and calibration need none; '
            'to drive it give the masses, of the platform and of one wheel, in kg and kg·m²: '
            + ' '.join(f'--robot-option {name}={value:g}'
                       for name, value in EXAMPLE_MASSES.items())
            + ', in a robot file the same fields')


def with_battery(check: RobotCheck,
                 progress: Callable[[DriveOutcome, float], None] | None = None,
                 workers: int = 0) -> RobotCheck:
    """
    Drive the battery of a robot on both plants; return its check with the drives.

    `progress` takes each drive when it is done, in the order of the battery, and the fraction of
    the battery that is done. They are driven in `workers` processes; 0: as many as cores, up to
    `MOST_WORKERS`.
    """
    shape = None if describes_urdf(check.source) else check.source
    planned = tasks(check.robot, check.pace)
    jobs = []
    done = []
    for plant in PLANTS:
        bench = RobotBench(check.robot, Conditions(plant=plant, controller=check.controller),
                           shape)
        reason = _obstacle(bench, check.ability)
        jobs += [DriveOutcome(task, plant, failure=reason, possible=False) if reason
                 else (bench, task, check.pace) for task in planned]
    waiting = _in_processes([job for job in jobs if not isinstance(job, DriveOutcome)],
                            workers or min(MOST_WORKERS, Workers().count))
    for job in jobs:
        done.append(job if isinstance(job, DriveOutcome) else next(waiting))
        if progress is not None:
            progress(done[-1], len(done) / len(jobs))
    return replace(check, drives=tuple(done))


def _in_processes(jobs: list[tuple[RobotBench, BatteryDrive, Pace]], most: int
                  ) -> Iterator[DriveOutcome]:
    """Yield the drives in their order; they run in up to `most` processes."""
    workers = max(1, min(len(jobs), most))
    numbered = [(number, *job) for number, job in enumerate(jobs)]
    done: dict[int, DriveOutcome] = {}
    due = 0
    with computing(Workers(workers)) as compute:
        # the first drive compiles what the robot needs; together, each process would do so
        for part in (numbered[:1], numbered[1:]):
            for number, outcome in compute(_numbered, part):
                # one that has overtaken others waits for them
                done[number] = outcome
                while due in done:
                    yield done.pop(due)
                    due += 1


def _numbered(number: int, bench: RobotBench, task: BatteryDrive, pace: Pace
              ) -> tuple[int, DriveOutcome]:
    """Return the outcome of a drive with its number."""
    return number, drive(bench, task, pace)


def _obstacle(bench: RobotBench, ability: Ability) -> str:
    """Return the reason for which the battery is not driven on this plant; '' if it is."""
    if obstacles := ability.obstacles():
        return obstacles[0]
    try:
        bench.plant()
    except ValueError as error:
        return f'{error}'
    return ''


def check_json(check: RobotCheck) -> dict[str, Any]:
    """Return a check for JSON, SI units; ``battery`` is empty if it was not requested."""
    ability = ability_json(check.ability)
    return {
        'robot': check.robot.name, 'source': check.source, 'loads': True,
        'warnings': check.warnings,
        'assumed': [note.text for note in check.notes if note.kind != 'warning'],
        'casters': check.robot.count, 'driven': check.robot.driven.tolist(),
        'total_mass_kg': check.robot.total_mass, **ability,
        'stopping': stops_json(check.robot),
        'controller': check.controller, 'pace': check.pace._asdict(),
        'reached': not check.missed if check.drives else None,
        'battery': {drive.name: {'reached': drive.reached,
                                 **{key: _plain(drive.metrics.get(key)) for key in KEYS},
                                 'failure': drive.failure, 'possible': drive.possible}
                    for drive in check.drives}}


def _plain(value: Any) -> Any:
    """Return a metric for JSON, None where it is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def unread_json(source: str, reason: str) -> dict[str, Any]:
    """Return the JSON of a robot that does not load, with the `reason`."""
    return {'robot': None, 'source': source, 'loads': False, 'warnings': [reason],
            'assumed': [], 'driven_freedoms': 0, 'torque_bound_nm': [], 'reached': None,
            'battery': {}}
