# SPDX-License-Identifier: Apache-2.0
"""Study of robots that are wired wrongly and drive: the path until the wiring is named."""

from __future__ import annotations

import math
from functools import cache, partial

from figure_study import Cell, Figures, Study

from c3p_description.model import CasterRobot
from c3p_experiments.commissioning.in_operation import ACCUSED, GOALS, drive_wrongly, named_wiring
from c3p_experiments.commissioning.wired import robot_named

# robots, each with three goals: with free casters, and with a motor at each steering axis
GROUPS = {'free': ('c3p', 'four_casters', 'five_casters'), 'powered': ('powered_caster',)}

# what is wired, in words: hypothesis, and whether motors are wired as their encoders
WRONG = {
    'modules 1 and 2 exchanged': ('casters 1 and 2 exchanged', True),
    'drives 1 and 2 exchanged': ('wheel encoders of casters 1 and 2 exchanged', True),
    'wheel encoders 1 and 3 exchanged': ('wheel encoders of casters 1 and 3 exchanged', False),
    'steering encoders 2 and 3 exchanged': (
        'steering encoders of casters 2 and 3 exchanged', False),
    'all drives reversed': ('all wheel encoders reversed', True),
    'all steering encoders reversed': ('all steering encoders reversed', False),
    'zero of caster 2 off by 90°': ('steering zero of caster 2 is 90° off', False),
    'all zeros off by 90°': ('all steering zeros are 90° off', False),
    'all zeros off by 180°': ('all steering zeros are 180° off', False)}

# drives of each, and the first seed: none of these drives served the development
DRIVES, FIRST = 18, 210_000

# a robot whose centre has moved by less stands: its motors hold each other, m
STANDS = 0.05

# pose errors in cm
CENTIMETRES = 100.0


@cache
def robot_of(name: str) -> CasterRobot:
    """Return a robot of the drives."""
    return robot_named(name)


def miswired(group: str, name: str, seed: int) -> Figures:
    """Return what becomes of a drive with a wrong wiring, on tyres and with `real` sensors."""
    names = GROUPS[group]
    robot = robot_of(names[seed // len(GOALS) % len(names)])
    text, motors = WRONG[name]
    wiring = named_wiring(robot, text)
    assert wiring is not None, text
    found = drive_wrongly(robot, wiring, FIRST + seed, motors)
    named = math.isfinite(found.named)
    stands = not named and found.path < STANDS
    return {'stands': float(stands), 'named': None if stands else float(named),
            'path': found.named if named else None if not stands else 0.0,
            'right': float(found.right) if named else None,
            'innocent': float(found.accused > ACCUSED),
            'error': CENTIMETRES * found.error if found.reached and not named else 0.0}


def cells(group: str, name: str) -> list[Cell]:
    """Return the cells of a wiring."""
    case = f'{name}, {group}'
    return [Cell('miswired', case, figure, digits, kind) for figure, digits, kind in (
        ('named', 0, 'count'), ('path', 2, 'middle'), ('path', 2, 'p90'), ('right', 0, 'count'),
        ('innocent', 0, 'sum'), ('stands', 0, 'sum'), ('error', 0, 'middle'))]


MISWIRED = Study(
    {f'{name}, {group}': partial(miswired, group, name) for group in GROUPS for name in WRONG},
    ('wired', 'steering', 'named', 'path until then [m]', 'p90', 'rightly',
     'another caster accused', 'stands', 'reached without a name: error [cm]'),
    [(name, group, *cells(group, name)) for name in WRONG for group in GROUPS], seeds=DRIVES)
