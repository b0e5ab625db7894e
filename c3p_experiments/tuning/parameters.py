# SPDX-License-Identifier: Apache-2.0
"""
Parameters of the control nodes for an optimiser: names and ranges.

The schemas of the nodes define the parameters and their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import c3p_controller
from c3p_controller import law_named
from c3p_controller.reading.law_parameters import ENTRIES
from c3p_ros.schema import read_schema

NODES = ('velocity_controller', 'position_controller')

# factor of the search range around a start above zero
FACTOR = 10.0

# search ranges of parameters that may be zero, narrower than their schemas
RANGES = {'lambda_1': (0.0, 2.0), 'lambda_2': (0.0, 2.0), 'line_yaw_gain': (-0.3, 0.3)}

# parameters that are not tuned: numerics of a law, standstill and goal tolerances
FIXED = ('steps', 'iterations', 'latency', 'latency_max', 'period', 'horizon', 'standstill_speed',
         'standstill_yaw_rate', 'goal_tolerance', 'yaw_tolerance', 'stop_distance', 'stop_yaw')

# names of groups: symbols of the papers and suffixes of parameters
GROUPS = {
    'lambda': ('velocity_controller.lambda_1', 'velocity_controller.lambda_2'),
    'K': ('position_controller.speed', 'position_controller.yaw_gain',
          'position_controller.line_yaw_gain'),
    'mu': ('position_controller.approach', 'position_controller.line_approach'),
    'loop': tuple(f'velocity_controller.{name}' for name in (
        'linear_gain', 'yaw_gain', 'integral_gain', 'wheel_gain', 'friction_compensation')),
    'path': tuple(f'position_controller.path.{name}' for name in (
        'acceleration', 'deceleration', 'approach', 'line_approach', 'yaw_gain')),
}
SUFFIXES = {'weights': ('_weight',), 'gains': ('_stiffness', '_damping', '_gain')}

Values = dict[str, float]


@dataclass(frozen=True)
class Tunable:
    """
    A parameter with its start and search range.

    Attributes
    ----------
    name : str
        Full name: ``velocity_controller.mpc.across_weight``.
    start, low, high : float
    logarithmic : bool
        The search is in the logarithm.
    """

    name: str
    start: float
    low: float
    high: float
    logarithmic: bool

    def fraction(self, value: float) -> float:
        """Return the position of `value` from `low` (0) to `high` (1)."""
        low, high, value = (math.log(v) if self.logarithmic else v
                            for v in (self.low, self.high, value))
        return (value - low) / (high - low)

    def value(self, fraction: float) -> float:
        """Return the value at a `fraction` of the range, clamped to it; inverse of `fraction`."""
        part = min(max(float(fraction), 0.0), 1.0)
        if self.logarithmic:
            found = math.exp((1 - part) * math.log(self.low) + part * math.log(self.high))
        else:
            found = (1 - part) * self.low + part * self.high
        # six significant digits: readable, and below any useful resolution of a gain
        return float(min(max(float(f'{found:.6g}'), self.low), self.high))


@cache
def _files() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the entries of the schema file of each control node."""
    folder = Path(c3p_controller.__file__).parent
    return {node: read_schema(folder / f'{node}_parameters.yaml') for node in NODES}


def schemas(controller: str = '') -> dict[str, dict[str, Any]]:
    """
    Return the entry of each parameter of the control nodes, by full name.

    The settings of a `controller` of another package are among them.
    """
    given = {'controller': controller} if controller else {}
    return {f'{node}.{name}': entry for node, entries in _files().items()
            for name, entry in {**entries, **ENTRIES[node](entries, given)}.items()}


def defaults(controller: str = '') -> dict[str, Any]:
    """Return the default of every parameter; `controller` as for `schemas`."""
    return {name: entry.get('default_value') for name, entry in schemas(controller).items()}


def tunables(controller: str) -> list[str]:
    """Return the full names of the tunable parameters of a controller."""
    law = law_named(controller)
    own = {f'{node}.{name}' for node, kind in zip(NODES, (law, law.position), strict=True)
           for name in kind.parameters(controller)}
    return [name for name, entry in schemas(controller).items() if entry['type'] == 'double'
            and name in own and name.split('.')[-1] not in FIXED]


def find(controller: str, what: Sequence[str], start: Mapping[str, float]) -> list[Tunable]:
    """
    Return the selected parameters with their ranges.

    Parameters
    ----------
    controller : str
        Name of a law.
    what : sequence of str
        Full names, unambiguous last parts of names, or groups (`GROUPS`, ``weights``, ``gains``),
        each with an optional range, ``name=LOW:HIGH``. Empty selects those of the law, `tuned` of
        its class.
    start : mapping
        Full name → start of the search, where it differs from the default.

    Raises
    ------
    ValueError
        An unknown or ambiguous name, or an invalid range.
    """
    known = tunables(controller)
    entries = schemas(controller)
    found: dict[str, Tunable] = {}
    for word in what or law_named(controller).tuned or _own(controller, known):
        text, _, limits = word.partition('=')
        names = _selected(controller, text, known)
        for name in names:
            found[name] = _tunable(name, entries[name], start.get(name), limits)
    return list(found.values())


def _own(controller: str, known: Sequence[str]) -> list[str]:
    """Return the tunable settings of a law that does not name what is tuned."""
    own = [name for name in known if name.startswith(f'velocity_controller.{controller}.')]
    if not own:
        raise ValueError(f'controller {controller} has no numbers to tune: name parameters; '
                         f'tunable: {", ".join(known) or "none"}')
    return own


def _selected(controller: str, text: str, known: Sequence[str]) -> list[str]:
    names = _named(controller, text, known)
    if len(names) > 1 and text not in GROUPS and text not in SUFFIXES:
        raise ValueError(f'{text} is ambiguous, {" or ".join(names)}: give the full name')
    if not names:
        groups = [group for group in (*GROUPS, *SUFFIXES) if _named(controller, group, known)]
        raise ValueError(f'{text}: not a tunable parameter of the controller {controller}; '
                         f'tunable: {", ".join(known)}; groups: {", ".join(groups) or "none"}')
    return names


def _named(controller: str, text: str, known: Sequence[str]) -> list[str]:
    """Return the names that match `text`."""
    if text in GROUPS:
        return [name for name in GROUPS[text] if name in known]
    if text in SUFFIXES:
        return [name for name in known if name.endswith(SUFFIXES[text])
                and name.startswith(f'velocity_controller.{controller}.')]
    return [name for name in known if name == text or name.endswith(f'.{text}')]


def _tunable(name: str, entry: Mapping[str, Any], start: float | None, limits: str) -> Tunable:
    first = float(entry['default_value'] if start is None else start)
    lowest, highest = (float(v) for v in entry.get('validation', {}).get(
        'bounds<>', (-math.inf, math.inf)))
    if limits:
        try:
            low, high = map(float, limits.split(':'))
        except ValueError:
            raise ValueError(f'{name}={limits}: a range is LOW:HIGH') from None
    elif first > 0.0 and lowest >= 0.0:
        low = max(lowest, first / FACTOR)
        high = min(highest, first * FACTOR)
    else:
        low, high = RANGES.get(name.split('.')[-1], (lowest, highest))
        low = max(low, lowest)
        high = min(high, highest)
    if not (lowest <= low < high <= highest and math.isfinite(high - low)):
        raise ValueError(f'{name} from {low} to {high}: must be inside {lowest} to {highest}, the '
                         'larger number last')
    if not low <= first <= high:
        raise ValueError(f'{name}: the search starts at {first}, which is not within {low} to '
                         f'{high}; give a range that contains it')
    return Tunable(name, first, low, high, low > 0.0)
