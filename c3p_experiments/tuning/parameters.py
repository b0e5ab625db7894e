# SPDX-License-Identifier: Apache-2.0
"""
Parameters of the control nodes as an optimiser sees them: names and ranges.

The schemas of the nodes say which parameters there are and how far they may go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import c3p_controller
from c3p_controller import PAPER
from c3p_controller.controllers import TABLE
from c3p_controller.goals.path_controller import PathGains
from c3p_controller.paper.exponential import PositionGains
from c3p_controller.paper.velocity import VelocityGains
from c3p_ros.schema import read_schema

NODES = ('velocity_controller', 'position_controller')

# a parameter greater than zero is sought within this factor of where the search starts
FACTOR = 10.0

# where a parameter that may be zero is sought, when its schema allows more than makes sense
RANGES = {'lambda_1': (0.0, 2.0), 'lambda_2': (0.0, 2.0), 'line_yaw_gain': (-0.3, 0.3)}

# what a law is not tuned by: how it is computed, and when it stops or counts as arrived
FIXED = ('steps', 'iterations', 'latency', 'period', 'horizon', 'standstill_speed',
         'standstill_yaw_rate', 'goal_tolerance', 'yaw_tolerance', 'stop_distance', 'stop_yaw')

# limits of the reference that the papers' law is tuned by
LIMITS = ('acceleration_limit', 'yaw_acceleration_limit', 'command_smoothing')

# names for several: those of the papers, and by what parameters are called
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

# what is tuned when nothing is named: the first that the controller has
USUAL = {'paper': (('lambda', 'K', 'mu'),), 'mpc': (('weights',),),
         'closed_form': (('gains',), ('path',))}

Values = dict[str, float]


@dataclass(frozen=True)
class Tunable:
    """
    A parameter that may be changed, and where it is sought.

    Attributes
    ----------
    name : str
        With its node: ``velocity_controller.mpc.across_weight``.
    start, low, high : float
    logarithmic : bool
        Equal factors are equal steps.
    """

    name: str
    start: float
    low: float
    high: float
    logarithmic: bool

    def share(self, value: float) -> float:
        """Return where `value` is between `low` (0) and `high` (1)."""
        low, high, value = (math.log(v) if self.logarithmic else v
                            for v in (self.low, self.high, value))
        return (value - low) / (high - low)

    def value(self, share: float) -> float:
        """Return the value at a `share` of the way; the inverse of `share`, never outside."""
        part = min(max(float(share), 0.0), 1.0)
        if self.logarithmic:
            found = math.exp((1 - part) * math.log(self.low) + part * math.log(self.high))
        else:
            found = (1 - part) * self.low + part * self.high
        # six digits are more than any gain is worth, and can be read
        return float(min(max(float(f'{found:.6g}'), self.low), self.high))


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return the entry of each parameter of the control nodes, by full name."""
    folder = Path(c3p_controller.__file__).parent
    return {f'{node}.{name}': entry for node in NODES
            for name, entry in read_schema(folder / f'{node}_parameters.yaml').items()}


def defaults() -> Values:
    """Return the value of every parameter that nobody sets."""
    return {name: entry.get('default_value') for name, entry in schemas().items()}


def tunables(controller: str) -> list[str]:
    """Return the full names of what a controller may be tuned by."""
    if controller == PAPER:
        own = {f.name for f in fields(VelocityGains)} | {'virtual_steering_weight', *LIMITS}
        groups = [('velocity_controller.', own),
                  ('position_controller.', {f.name for f in fields(PositionGains)})]
    else:
        groups = [(f'velocity_controller.{controller}.',
                   {f.name for f in fields(TABLE[controller].settings)}),
                  ('position_controller.path.', {f.name for f in fields(PathGains)}),
                  ('position_controller.', {'speed'})]
    return [name for name, entry in schemas().items() if entry['type'] == 'double'
            and name.split('.')[-1] not in FIXED
            and any(name.startswith(prefix) and name[len(prefix):] in own
                    for prefix, own in groups)]


def find(controller: str, what: Sequence[str], start: Mapping[str, float]) -> list[Tunable]:
    """
    Return the parameters that are meant.

    Parameters
    ----------
    controller : str
        One of `controllers.NAMES`.
    what : sequence of str
        Names: full, or the last part of one where only one ends so; groups (`GROUPS`,
        ``weights``, ``gains``); each may have a range, ``name=LOW:HIGH``. Empty: what is usual.
    start : mapping
        Where the search starts, for those that do not start at their default.

    Raises
    ------
    ValueError
        A name that nothing or more than one thing has, or a range that cannot be.
    """
    known, entries = tunables(controller), schemas()
    found: dict[str, Tunable] = {}
    usual = (words for words in USUAL[controller] if _named(controller, words[0], known))
    for word in what or next(usual):
        text, _, limits = word.partition('=')
        names = _meant(controller, text, known)
        for name in names:
            found[name] = _tunable(name, entries[name], start.get(name), limits)
    return list(found.values())


def _meant(controller: str, text: str, known: Sequence[str]) -> list[str]:
    names = _named(controller, text, known)
    if len(names) > 1 and text not in GROUPS and text not in SUFFIXES:
        raise ValueError(f'{text} may be {" or ".join(names)}: give the full name')
    if not names:
        groups = [group for group in (*GROUPS, *SUFFIXES) if _named(controller, group, known)]
        raise ValueError(f'{text}: the controller {controller} is not tuned by that, but by '
                         f'{", ".join(known)}; groups: {", ".join(groups) or "none"}')
    return names


def _named(controller: str, text: str, known: Sequence[str]) -> list[str]:
    """Return all that `text` may mean."""
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
        low, high = max(lowest, first / FACTOR), min(highest, first * FACTOR)
    else:
        low, high = RANGES.get(name.split('.')[-1], (lowest, highest))
        low, high = max(low, lowest), min(high, highest)
    if not (lowest <= low < high <= highest and math.isfinite(high - low)):
        raise ValueError(f'{name} from {low} to {high}: must be inside {lowest} to {highest}, the '
                         'larger number last')
    if not low <= first <= high:
        raise ValueError(f'{name}: the search starts at {first}, which is not within {low} to '
                         f'{high}; give a range that contains it')
    return Tunable(name, first, low, high, low > 0.0)
