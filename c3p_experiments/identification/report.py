# SPDX-License-Identifier: Apache-2.0
"""Results of an identification as metrics, notes and a robot file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from c3p_description.model import CasterRobot
from c3p_description.reading.robot_files import base_of
from c3p_dynamics.identification.parameters import (
    PARAMETERS,
    Unknown,
    scale,
)
from c3p_dynamics.identification.result import Identification

# correlation of consecutive errors above which they are not noise
PERSISTENT = 0.5

# errors below this are from integration, below encoder resolution, m over ground
RESOLVED = 1e-6

# number of fixed parameters listed, and least listed influence, fraction of an estimate per 1 %
LISTED = 3
INFLUENTIAL = 0.002


def metrics_of(found: Identification) -> dict[str, Any]:
    """Return the metrics of an identification for JSON, SI units."""
    names = [e.name for e in found.estimates]
    return {
        'confidence': found.confidence,
        'estimates': {e.name: {'value': e.value, 'low': e.low, 'high': e.high, 'unit': e.unit,
                               'described': e.described} for e in found.estimates},
        'not_identifiable': {u.unknown.name: {
            'described': u.described, 'remedy': u.remedy,
            'half_width': u.half_width if np.isfinite(u.half_width) else None}
            for u in found.unseen},
        'correlated': [list(pair) for pair in found.correlated()],
        'influence_of_1_percent': {fixed: dict(zip(names, map(float, shift), strict=True))
                                   for fixed, shift in found.influence.items()},
        'noise_m': {'steering': float(found.noise[0]), 'wheel': float(found.noise[1])},
        'error_persistence': found.persistence,
        'segments': {'used': int(np.sum(~found.set_aside)),
                     'set_aside': int(np.sum(found.set_aside)),
                     'seconds': float(np.sum(np.diff(found.segments)))},
        'notes': notes(found),
    }


def notes(found: Identification) -> list[str]:
    """Return notes on the result, one sentence each."""
    text = []
    for u in found.unseen:
        width = ('others have the same effect' if np.isinf(u.half_width)
                 else f'the interval would be ±{u.half_width:.2g} '
                      f'{PARAMETERS[u.unknown.parameter].unit}')
        text.append(f'{u.unknown.name} is not identifiable from this motion ({width}); it stays '
                    f'{u.described:g} as described. To see it, {u.remedy}')
    text += [f'{a} and {b} are hardly distinguishable (correlation {rho:.2f}): use both together'
             for a, b, rho in found.correlated()]
    if found.persistence > PERSISTENT and found.noise.max() > RESOLVED:
        text.append(f'errors of consecutive samples are correlated ({found.persistence:.2f}): the '
                    'model lacks an effect (slip, wrong lengths, flexing, a floor that is not '
                    'level), and deviations may exceed the intervals')
    aside = int(found.set_aside.sum())
    if aside:
        text.append(f'{aside} of {len(found.set_aside)} segments fit much worse than the rest '
                    '(slip, a push) and were set aside')
    if found.sudden:
        text.append('dry friction changes sign faster than the samples resolve: smoothing is at '
                    f'most {found["smoothing"].value:.2g} rad/s. A simulation may use more')
    return text + _influences(found)


def _influences(found: Identification) -> list[str]:
    """Return the largest influences of fixed parameters on estimates."""
    # size of each parameter, for relative shifts
    size = np.array([scale(found.robot, e.unknown, 0.0, 1.0) for e in found.estimates])
    shifts = {fixed: shift / size for fixed, shift in found.influence.items()}
    most = sorted(shifts, key=lambda fixed: -np.abs(shifts[fixed]).max())[:LISTED]
    text = []
    for fixed in most:
        order = np.argsort(-np.abs(shifts[fixed]))[:LISTED]
        parts = [f'{found.estimates[i].name} {found.influence[fixed][i]:+.2g} '
                 f'{found.estimates[i].unit}' for i in order
                 if abs(shifts[fixed][i]) > INFLUENTIAL]
        if parts:
            text.append(f'{fixed} is as described; if 1 % larger: ' + ', '.join(parts))
    return text


def robot_file(found: Identification, robot: str, file: str | Path, source: str) -> str:
    """
    Return the text of a robot file that extends `robot`, a file or a URDF, by the estimates.

    Parameters
    ----------
    found : Identification
    robot : str
        Name or path of the description.
    file : str or Path
        Path of the new file: the path in ``extends`` is relative to it.
    source : str
        Source of the motion, for the comment.
    """
    (key, base), = base_of(robot, file).items()
    lines = [f'# Identified from {source}. After each value: its '
             f'{100 * found.confidence:g} % interval and the description.',
             f'{key}: {base}']
    return '\n'.join([*lines, *identified_sections(found)]) + '\n'


def identified_sections(found: Identification) -> list[str]:
    """Return the lines of a robot file with the estimates, and the delay as a comment."""
    lines: list[str] = []
    sections: dict[str, list[str]] = {}
    for name, p in PARAMETERS.items():
        some = [e for e in found.estimates if e.unknown.parameter == name
                # an upper bound is not an estimate, and makes a simulation stiff
                and not (name == 'smoothing' and found.sudden)]
        if not some or not p.section or name == 'platform_com_y' and any(
                e.name == 'platform_com_x' for e in found.estimates):
            continue
        if p.key == 'com' and p.section == 'platform':
            some = [e for e in found.estimates if e.unknown.parameter.startswith('platform_com')]
        comment = ', '.join(f'{e.name} {e.low:.6g} … {e.high:.6g} {e.unit} ({e.described:.6g})'
                            for e in some)
        sections.setdefault(p.section, []).append(
            f'  {p.key}: {_value(found.robot, some[0].unknown)}  # {comment}')
    for section, keys in sections.items():
        lines += ['', f'{section}:', *keys]
    delay = next((e for e in found.estimates if e.name == 'delay'), None)
    if delay is not None:
        lines += ['', f'# delay of the torques: {1e3 * delay.value:.3g} ms '
                      f'({1e3 * delay.low:.3g} … {1e3 * delay.high:.3g})']
    return lines


def identified_fields(found: Identification) -> list[str]:
    """Return the attributes of the robot that a file of `robot_file` describes anew."""
    names = {e.unknown.parameter for e in found.estimates}
    centre = {'platform_com'} if names & {'platform_com_x', 'platform_com_y'} else set()
    return sorted(centre | {name for name in names if hasattr(found.robot, name)})


def _value(robot: CasterRobot, unknown: Unknown) -> str:
    """Return the value of a parameter as YAML, a list where casters or axes differ."""
    name = unknown.parameter
    if name.startswith('platform_com'):
        value = robot.platform_com
    else:
        value = np.atleast_1d(getattr(robot if hasattr(robot, name) else robot.friction, name))
    numbers = [float(f'{x:.7g}') for x in np.asarray(value, float)]
    if name.startswith('platform_com'):
        return yaml.safe_dump(numbers, default_flow_style=True).strip()
    same = all(x == numbers[0] for x in numbers)
    return yaml.safe_dump(numbers[0] if same else numbers,
                          default_flow_style=True).split('\n')[0].strip()
