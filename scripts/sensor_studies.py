# SPDX-License-Identifier: Apache-2.0
"""Studies of monitors with the sensors of real robots: an hour without faults, and faults."""

from __future__ import annotations

import math
from functools import cache, partial

from figure_study import PLANTS, Cell, Figures, Study

from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.real_sensors.drives import TASKS
from c3p_experiments.real_sensors.squared_errors import squared_errors
from c3p_experiments.robots.random_robots import random_robot
from c3p_experiments.slip_faults.joint_faults import FAULTS
from c3p_experiments.slip_faults.named_faults import naming
from c3p_experiments.slip_faults.quiet_driving import all_driven, quiet_drive
from c3p_experiments.slip_faults.scenes import ring
from c3p_experiments.slip_faults.tapes import Tape, record

# duration of a drive, s, and drives of each robot: an hour of all together
DRIVE, DRIVES = 30.0, 10

# rings of casters like those of the C3P, and the first random robot; those of two casters, in
# which nothing is isolated, are left out
RINGS, FIRST_RANDOM, ROBOTS = (4, 5, 6), 800, 12

# first seed of the drives and descriptions, none of which served the development
FIRST = 160_000


@cache
def robots() -> dict[str, CasterRobot]:
    """Return the robots of the drives by their name, with a motor at each wheel."""
    c3p = load_casters('c3p')
    found = {'C3P': c3p, **{f'C3P with {count} casters': ring(c3p, count) for count in RINGS}}
    seed = FIRST_RANDOM
    while len(found) < ROBOTS:
        drawn = random_robot(seed)
        if drawn.count > 2:
            found[f'random robot {seed}'] = drawn
        seed += 1
    return {name: all_driven(robot) for name, robot in found.items()}


def quiet(name: str, seed: int) -> Figures:
    """Return the alarms of a drive without faults by a wrong description, with `real` sensors."""
    conditions = Conditions(plant='analytic', seed=seed, sensor_profile='real')
    first = FIRST + 100 * [*robots()].index(name)
    found = quiet_drive(robots()[name], 'clean', first + seed, DRIVE, conditions)
    return {'minutes': found.time / 60.0, 'alarms': float(found.false_alarms),
            'largest': found.largest, 'slips': float(found.of_slip),
            'largest of slip': found.largest_of_slip}


QUIET = Study(
    {name: partial(quiet, name) for name in robots()},
    ('robot', 'casters', 'driving [min]', 'alarms of faults', 'largest statistic per its limit',
     'alarms of slip', 'largest statistic per its limit'),
    [*((name, str(robot.count), *(Cell('quiet', name, figure, digits, kind)
                                  for figure, digits, kind in (
        ('minutes', 1, 'sum'), ('alarms', 0, 'sum'), ('largest', 2, 'middle'),
        ('slips', 0, 'sum'), ('largest of slip', 2, 'middle'))))
       for name, robot in robots().items())], seeds=DRIVES)

# ---- one fault of one wheel, which the sensors read: robots in turn, each with drives of its own
FAULTY = tuple(name for name in robots() if name.startswith('C3P'))
FAULTY_DRIVES, FAULTY_FIRST, PROFILES = 4, 170_000, ('encoders', 'real')


def faulty_robot(seed: int) -> CasterRobot:
    """Return the robot of a drive, with a motor at each wheel."""
    return robots()[FAULTY[seed % len(FAULTY)]]


@cache
def faulty_tape(seed: int) -> Tape:
    """Return the tape of a drive on the contact plant, for all faults."""
    return record(faulty_robot(seed), FAULTY_FIRST + seed, DRIVE)


def faulty(name: str, profile: str, seed: int) -> Figures:
    """Return what becomes of a fault, with a profile of sensors."""
    sensors = Conditions(sensor_profile=profile).sensors
    found = naming(faulty_robot(seed), faulty_tape(seed), FAULTS[name], sensors,
                   FAULTY_FIRST + seed)
    after = found.found if math.isfinite(found.found) else None
    return {'found': float(after is not None), 'after': after,
            **{figure: None if value is None else float(value)
               for figure, value in (('wheel', found.caster), ('kind', found.kind))}}


def faulty_cells(name: str, profile: str) -> list[Cell]:
    """Return the cells of a fault with a profile of sensors."""
    return [Cell('faulty', f'{name}, {profile}', figure, 2, kind) for figure, kind in (
        ('found', 'count'), ('after', 'middle'), ('wheel', 'count'), ('kind', 'count'))]


FAULTY_STUDY = Study(
    {f'{name}, {profile}': partial(faulty, name, profile)
     for name in FAULTS for profile in PROFILES},
    ('fault', *(f'`{profile}`: {figure}' if figure == 'found' else figure
                for profile in PROFILES
                for figure in ('found', 'after [s]', 'right wheel', 'right kind'))),
    [(name, *(cell for profile in PROFILES for cell in faulty_cells(name, profile)))
     for name in FAULTS], seeds=FAULTY_DRIVES)

# ---- errors of pose and twist against their covariance, with `real` sensors: 200 drives
CONSISTENT_FIRST, CONSISTENT_DRIVES = 190_000, 50
KINDS = ('described', 'learned')


def consistent(plant: str, task: str, seed: int) -> Figures:
    """Return squared errors per expected one, and of the twist in (cm/s)²."""
    both = squared_errors(plant, task, CONSISTENT_FIRST + seed)
    return {f'{kind} {name}': scale * getattr(found, name)
            for kind, found in zip(KINDS, both, strict=True)
            for name, scale in (('pose', 1.0), ('twist', 1.0), ('along', 1e4), ('across', 1e4))}


CONSISTENCY = Study(
    {f'{task}, {plant}': partial(consistent, plant, task) for task in TASKS for plant in PLANTS},
    ('drive', 'drives', *(f'{kind}: {figure}' if figure == 'pose' else figure
                          for kind in KINDS
                          for figure in ('pose', 'twist', 'twist along, rms [cm/s]', 'across'))),
    [(f'{task}, `{plant}`', Cell('consistency', f'{task}, {plant}', 'described pose', 0, 'seeds'),
      *(Cell('consistency', f'{task}, {plant}', f'{kind} {name}', 2, how) for kind in KINDS
        for name, how in (('pose', 'mean'), ('twist', 'mean'), ('along', 'root'),
                          ('across', 'root'))))
     for task in TASKS for plant in PLANTS], seeds=CONSISTENT_DRIVES)
