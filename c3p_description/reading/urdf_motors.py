# SPDX-License-Identifier: Apache-2.0
"""Motors of the wheels of a URDF: which are driven, and what their limits mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from c3p_description.model import GRAVITY, ModelError
from c3p_description.reading.notes import Notes
from c3p_description.reading.urdf_pairs import Pair
from c3p_description.reading.urdf_tree import Tree

# a wheel that pushes the whole robot with more than this many times its weight is no real one
MOST_PUSH = 3.0
# speed of the rim, m/s: no vehicle on casters is faster
FASTEST = 100.0


def driven_wheels(tree: Tree, pairs: Sequence[Pair], given: Any, notes: Notes) -> Any:
    """
    Return which wheels have a motor; `given` is the option ``driven``.

    Raises
    ------
    ModelError
        The option names a wheel that does not exist.
    """
    names = [pair.wheels[0].name for pair in pairs]
    if isinstance(given, tuple) and isinstance(given[0], str):
        if unknown := sorted(set(given) - set(names)):
            raise ModelError(f'driven = {unknown}: no such wheels; there are {", ".join(names)}')
        return [name in given for name in names]
    if given is not None:
        return given
    efforts = [pair.wheels[0].effort for pair in pairs]
    if any(name in tree.control.named for name in names):
        driven = [name in tree.control.commanded for name in names]
        why = 'a <transmission> or a ros2_control command interface drives them'
    elif any(efforts):
        driven = [bool(effort and effort > 0) for effort in efforts]
        why = 'their joints have an effort limit above 0'
    else:
        driven = [True] * len(names)
        why = 'no wheel joint has an effort limit, transmission or command interface'
    chosen = [name for name, moved in zip(names, driven, strict=True) if moved]
    notes.assume('driven', chosen, f'driven wheels are {", ".join(chosen) or "none"}: {why}')
    return driven


def torque_limits(pairs: Sequence[Pair], driven: Any, radii: Any, mass: float, notes: Notes
                  ) -> list[float]:
    """Return the torque limits of the wheels, N·m; inf where the file means none."""
    moved = np.broadcast_to(driven, len(pairs))
    radii = np.broadcast_to(radii, len(pairs))
    limits, none, far = [], [], []
    for pair, motor, radius in zip(pairs, moved, radii, strict=True):
        # twin wheels push together
        effort = sum(wheel.effort or 0.0 for wheel in pair.wheels)
        most = MOST_PUSH * mass * GRAVITY * float(radius)
        # a negative one is refused by the model
        limits.append(effort if effort and effort <= most else math.inf)
        if motor and effort > most:
            far.append((pair.wheels[0].name, effort, most))
        elif motor and not effort:
            none.append(pair.wheels[0].name)
    consequence = ('taken as no limit: controllers use what the tyres transmit; '
                   'casters.torque_limit gives the motors')
    if far:
        _, effort, most = far[0]
        # at the rim of one wheel
        notes.warn('casters.torque_limit', math.inf,
                   f'joints {", ".join(name for name, *_ in far)}: effort = {effort:g} N·m at the '
                   f'wheel of a {mass:.4g} kg robot is no motor limit (from {most:.3g} N·m on one '
                   f'wheel alone would push with {MOST_PUSH:g} times the weight): {consequence}')
    if none:
        notes.assume('casters.torque_limit', math.inf,
                     f'joints {", ".join(none)}: no effort limit: {consequence}')
    return limits


def rate_limits(pairs: Sequence[Pair], radii: Any, notes: Notes) -> list[float]:
    """Return the rate limits of the wheels, rad/s; inf where the file means none."""
    limits, none = [], []
    for pair, radius in zip(pairs, np.broadcast_to(radii, len(pairs)), strict=True):
        rate = min((wheel.velocity for wheel in pair.wheels if wheel.velocity), default=0.0)
        meant = rate and rate * float(radius) <= FASTEST
        limits.append(rate if meant else math.inf)
        if not meant:
            none.append(f'{pair.wheels[0].name} ({rate:g} rad/s)' if rate
                        else pair.wheels[0].name)
    if none:
        notes.assume('wheel.rate_limit', math.inf, f'joints {", ".join(none)}: no velocity limit, '
                     'or one of a rim faster than '
                     f'{FASTEST:g} m/s: taken as no limit; wheel.rate_limit gives it')
    return limits
