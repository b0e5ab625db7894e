# SPDX-License-Identifier: Apache-2.0
"""An identification in words and numbers: metrics for JSON, notes for people, a robot file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from c3p_description.model import CasterRobot
from c3p_dynamics.identification import Identification
from c3p_dynamics.identification_parameters import (
    PARAMETERS,
    Unknown,
    scale,
)

# errors of consecutive samples that are alike to this part are more than noise
PERSISTENT = 0.5

# smaller errors than this, m over ground, are those of integrating: no encoder resolves them
RESOLVED = 1e-6

# fixed numbers told by name, and what counts as their influence, parts of an estimate per 1 %
TOLD, INFLUENTIAL = 3, 0.002


def metrics_of(found: Identification) -> dict[str, Any]:
    """Return the result as numbers, texts, lists and dicts for JSON, SI units."""
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
    """Return what a reader of the numbers has to know, one sentence each."""
    text = []
    for u in found.unseen:
        width = ('others have the same effect' if np.isinf(u.half_width)
                 else f'the interval would be ±{u.half_width:.2g} '
                      f'{PARAMETERS[u.unknown.parameter].unit}')
        text.append(f'{u.unknown.name} is not identifiable from this motion ({width}); it stays '
                    f'{u.described:g} as described. To see it, {u.remedy}')
    text += [f'{a} and {b} are hardly told apart (correlation {rho:.2f}): only together do they '
             'fit' for a, b, rho in found.correlated()]
    if found.persistence > PERSISTENT and found.noise.max() > RESOLVED:
        text.append(f'errors of consecutive samples are alike ({found.persistence:.2f}): the '
                    'model misses something (slip, wrong lengths, flexing, a floor that is not '
                    'level), and values may be off by more than their intervals')
    aside = int(found.set_aside.sum())
    if aside:
        text.append(f'{aside} of {len(found.set_aside)} pieces fit much worse than the rest '
                    '(slip, a push) and were set aside')
    if found.sudden:
        text.append('dry friction changes its sign faster than this can resolve: smoothing is '
                    f'{found["smoothing"].value:.2g} rad/s at most. A simulation may use more')
    return text + _influences(found)


def _influences(found: Identification) -> list[str]:
    """Return what hangs most on numbers that were not estimated."""
    # without torques and rates only its own size counts as much of a friction
    size = np.array([scale(found.robot, e.unknown, 0.0, 1.0) for e in found.estimates])
    shifts = {fixed: shift / size for fixed, shift in found.influence.items()}
    most = sorted(shifts, key=lambda fixed: -np.abs(shifts[fixed]).max())[:TOLD]
    text = []
    for fixed in most:
        order = np.argsort(-np.abs(shifts[fixed]))[:TOLD]
        parts = [f'{found.estimates[i].name} {found.influence[fixed][i]:+.2g} '
                 f'{found.estimates[i].unit}' for i in order
                 if abs(shifts[fixed][i]) > INFLUENTIAL]
        if parts:
            text.append(f'{fixed} was taken as described; were it 1 % larger: ' + ', '.join(parts))
    return text


def robot_file(found: Identification, robot: str, file: str | Path, source: str) -> str:
    """
    Return the text of a robot file that extends `robot` by what was identified.

    Parameters
    ----------
    found : Identification
    robot : str
        Name or path of the description.
    file : str or Path
        Where the text will stand: a path in it is relative to that.
    source : str
        Of the motion, for the comment.
    """
    base = robot
    if Path(robot).suffix in ('.yaml', '.yml') or Path(robot).name != robot:
        base = os.path.relpath(Path(robot).resolve(), Path(file).resolve().parent)
    lines = [f'# Identified from {source}. Behind each value: its '
             f'{100 * found.confidence:g} % interval and the description.', f'extends: {base}']
    sections: dict[str, list[str]] = {}
    for name, p in PARAMETERS.items():
        some = [e for e in found.estimates if e.unknown.parameter == name
                # a bound is no value, and one that makes a simulation stiff
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
    return '\n'.join(lines) + '\n'


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
