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
from c3p_description.reading.urdf_tree import UrdfJoint, UrdfTree

# a wheel that pushes the whole robot with more than this many times its weight is not a real one
MOST_PUSH = 3.0
# speed of the rim, m/s: no vehicle on casters is faster
FASTEST = 100.0
# rate of a steering axis, rad/s: fifty turns a second
FASTEST_STEERING = 100 * math.pi


def driven_wheels(tree: UrdfTree, pairs: Sequence[Pair], given: Any, notes: Notes) -> Any:
    """
    Return which wheels of `pairs` have a motor in `tree`; `given` is the option ``driven``.

    The rule that was used is added to `notes`.

    Raises
    ------
    ModelError
        The option names a wheel that does not exist.
    """
    if given is not None:
        return named('driven', given, [pair.wheels[0] for pair in pairs])
    names = [pair.wheels[0].name for pair in pairs]
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


def named(option: str, given: Any, joints: Sequence[UrdfJoint]) -> Any:
    """Return an option as true or false for each of the joints, which it may name."""
    if not isinstance(given, tuple):
        return given
    if not isinstance(given[0], str):
        if len(given) != len(joints):
            raise ModelError(f'{option} has {len(given)} values: expected one for each of the '
                             f'{len(joints)} casters')
        return list(given)
    names = [joint.name for joint in joints]
    if unknown := sorted(set(given) - set(names)):
        raise ModelError(f'{option} = {unknown}: no such joints; there are {", ".join(names)}')
    return [name in given for name in names]


def steering_motors(tree: UrdfTree, pairs: Sequence[Pair], given: Any, offsets: Sequence[float],
                    radii: Sequence[float], mass: float, notes: Notes) -> dict[str, Any]:
    """
    Return the fields of the motors of the steering axes; `given` is the option ``steered``.

    `tree` has the motors of `pairs`. One wheel below its pivot, which nothing else turns, has a
    motor also where the file names none. Efforts are judged by the levers of the contacts, which
    are `offsets` or, without an offset, `radii` [m], and by the `mass` of the robot; what is
    assumed is added to `notes`.

    Raises
    ------
    ModelError
        The option names a joint that does not exist.
    """
    # a fixed wheel has no motor there
    steers = np.array([pair.steering is not None for pair in pairs])
    pivots = [pair.steering or pair.wheels[0] for pair in pairs]
    steered = ([pivot.name in tree.control.commanded for pivot in pivots] if given is None
               else named('steered', given, pivots))
    moved = np.broadcast_to(steered, len(pairs)) & steers
    names = [pivot.name for pivot in pivots]
    alone = np.array([names.count(name) == 1 and len(pair.wheels) == 1
                      for name, pair in zip(names, pairs, strict=True)])
    below = alone & steers & (np.asarray(offsets) == 0.0) & ~moved
    if given is None and below.any():
        moved = moved | below
        found = [name for name, wheel in zip(names, below, strict=True) if wheel]
        notes.assume('steered', found, f'steering axes {", ".join(found)} have a motor: their '
                     'wheels are below their pivots, and nothing else turns them; the option '
                     'steered names the motors')
    # at the contact, d behind the pivot
    # a wheel below its pivot is turned against the scrub of its tyre
    levers = [offset or radius for offset, radius in zip(
        offsets, np.broadcast_to(radii, len(pairs)), strict=True)]
    most = MOST_PUSH * mass * GRAVITY * np.asarray(levers)
    limits = [pivot.effort if turns and pivot.effort and pivot.effort <= force else math.inf
              for pivot, force, turns in zip(pivots, most, steers, strict=True)]
    if given is None and np.any(moved & ~below):
        driven = list(dict.fromkeys(
            name for name, motor in zip(names, moved & ~below, strict=True) if motor))
        notes.assume('steered', driven, f'steering axes with a motor are {", ".join(driven)}: a '
                     '<transmission> or a ros2_control command interface drives them')
    far = [pivot for pivot, motor, limit in zip(pivots, moved, limits, strict=True)
           if motor and pivot.effort and math.isinf(limit)]
    if far:
        notes.warn('casters.steering_torque_limit', math.inf,
                   f'joints {", ".join(pivot.name for pivot in far)}: effort = '
                   f'{far[0].effort:g} N·m at the steering axis of a {mass:.4g} kg robot is '
                   'not a motor limit: taken as no limit; casters.steering_torque_limit gives the '
                   'motors')
    rates = [pivot.velocity if turns and pivot.velocity and pivot.velocity <= FASTEST_STEERING
             else math.inf for pivot, turns in zip(pivots, steers, strict=True)]
    return {'steered': moved, 'steering_torque_limit': limits, 'steering_rate_limit': rates}


def encoders(tree: UrdfTree, pairs: Sequence[Pair], motors: Any, notes: Notes) -> dict[str, Any]:
    """
    Return which joints of `pairs` are measured.

    All are, but for free casters beside fixed wheels, where the file names no sensor of them:
    `motors` is true for wheels with a motor in rolling or steering. A joint that mimics another
    has no sensor of its own. What is assumed is added to `notes`.
    """
    fixed = any(pair.steering is None for pair in pairs)
    measured = {}
    for kind, joints in (('steering', [pair.steering for pair in pairs]),
                         ('wheel', [pair.wheels[0] for pair in pairs])):
        measured[kind] = [
            joint is not None and joint.mimic is None
            and (bool(motor) or not fixed or joint.name in tree.control.named)
            for joint, motor in zip(joints, np.broadcast_to(motors, len(pairs)), strict=True)]
    without = [pair.wheels[0].name for pair, *seen in zip(pairs, *measured.values(), strict=True)
               if pair.steering is not None and not any(seen)]
    if without:
        notes.assume('casters.wheel_encoder', measured['wheel'], f'wheels {", ".join(without)} '
                     'have neither motors nor sensors: free casters, which odometry does not '
                     'use; casters.wheel_encoder and casters.steering_encoder give encoders')
    # a fixed wheel needs no encoder of its angle
    steers = [seen or pair.steering is None
              for seen, pair in zip(measured['steering'], pairs, strict=True)]
    return {'steering_encoder': steers, 'wheel_encoder': measured['wheel']}


def torque_limits(pairs: Sequence[Pair], driven: Any, radii: Any, mass: float, notes: Notes
                  ) -> list[float]:
    """
    Return the torque limits of the wheels of `pairs`, N·m; inf where the file means none.

    Efforts of `driven` wheels are judged by their `radii` and the `mass` of the robot, and added
    to `notes`.
    """
    moved = np.broadcast_to(driven, len(pairs))
    radii = np.broadcast_to(radii, len(pairs))
    limits = []
    none = []
    far = []
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
                   f'wheel of a {mass:.4g} kg robot is not a motor limit (from {most:.3g} N·m on '
                   f'one wheel alone would push with {MOST_PUSH:g} times the weight): '
                   + consequence)
    if none:
        notes.assume('casters.torque_limit', math.inf,
                     f'joints {", ".join(none)}: no effort limit: {consequence}')
    return limits


def rate_limits(pairs: Sequence[Pair], radii: Any, notes: Notes) -> list[float]:
    """
    Return the rate limits of the wheels of `pairs`, rad/s; inf where the file means none.

    They are judged by the `radii`, and those that are not given are added to `notes`.
    """
    limits = []
    none = []
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
