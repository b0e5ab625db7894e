# SPDX-License-Identifier: Apache-2.0
"""Identifiable parameters of a robot: names, units, and their places in the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot


class Parameter(NamedTuple):
    """
    One kind of number.

    Attributes
    ----------
    unit : str
    section, key : str
        Place in a robot's YAML; empty for the delay.
    shown_by : str
        Motion that identifies it.
    """

    unit: str
    section: str
    key: str
    shown_by: str


_ANY = 'accelerate harder and in all directions'
_TURN = 'turn with changing yaw rate'
_STEER = ('let the casters turn at changing rates: change the direction of travel often, and turn '
          'on the spot')
_APART = ('separate pivot and tyre: circles of constant radius (tyres turn, pivots rest) and '
          'straight travel with the platform turning (pivots turn, tyres do not)')

# in the order of preference between parameters that the motion does not distinguish
PARAMETERS: dict[str, Parameter] = {
    'platform_mass': Parameter('kg', 'platform', 'mass', _ANY),
    'platform_inertia': Parameter('kg·m²', 'platform', 'inertia', _TURN),
    'platform_com_x': Parameter('m', 'platform', 'com', f'{_TURN}, and accelerate'),
    'platform_com_y': Parameter('m', 'platform', 'com', f'{_TURN}, and accelerate'),
    'rolling_coulomb': Parameter('N·m', 'friction', 'rolling_coulomb', 'drive longer'),
    'rolling_viscous': Parameter('N·m·s/rad', 'friction', 'rolling_viscous',
                                 'drive fast as well as slowly'),
    'pivot_coulomb': Parameter('N·m', 'friction', 'pivot_coulomb', _APART),
    'scrub_coulomb': Parameter('N·m', 'friction', 'scrub_coulomb', _APART),
    'pivot_viscous': Parameter('N·m·s/rad', 'friction', 'pivot_viscous', _STEER),
    'smoothing': Parameter('rad/s', 'friction', 'smoothing',
                           'reverse wheels and casters more often'),
    'delay': Parameter('s', '', '', 'change the torques more often'),
    'link_inertia': Parameter('kg·m²', 'link', 'inertia', _STEER),
    'wheel_spin_inertia': Parameter('kg·m²', 'wheel', 'spin_inertia', _STEER),
    'caster_offset': Parameter('m', 'casters', 'caster_offset', _STEER),
    'wheel_radius': Parameter('m', 'casters', 'wheel_radius', 'drive longer'),
    'link_com': Parameter('m', 'link', 'com', _STEER),
    'link_mass': Parameter('kg', 'link', 'mass', 'weigh it'),
    'wheel_mass': Parameter('kg', 'wheel', 'mass', 'weigh it'),
    'wheel_yaw_inertia': Parameter('kg·m²', 'wheel', 'yaw_inertia', _STEER),
}

# estimated by default
USUAL = ('platform_mass', 'platform_inertia', 'platform_com_x', 'platform_com_y',
         'rolling_coulomb', 'rolling_viscous', 'pivot_coulomb', 'scrub_coulomb', 'pivot_viscous',
         'smoothing', 'delay')

FRICTION = ('rolling_coulomb', 'rolling_viscous', 'pivot_coulomb', 'scrub_coulomb',
            'pivot_viscous', 'smoothing')
_PLATFORM = ('platform_mass', 'platform_inertia')
_COM = ('platform_com_x', 'platform_com_y')

# nominal delay between a command and its effect, s
USUAL_DELAY = 0.01


class Unknown(NamedTuple):
    """A number to be estimated: of one caster (from 0), or shared by all (`caster` None)."""

    parameter: str
    caster: int | None = None

    @property
    def name(self) -> str:
        """``rolling_coulomb``, or ``rolling_coulomb_1`` for the first caster."""
        return self.parameter if self.caster is None else f'{self.parameter}_{self.caster + 1}'


def unknowns(robot: CasterRobot, estimate: Iterable[str], per_caster: Iterable[str] = ()
             ) -> list[Unknown]:
    """
    Return the unknowns, in the order of `PARAMETERS`.

    Parameters
    ----------
    robot : CasterRobot
    estimate : iterable of str
        Keys of `PARAMETERS`.
    per_caster : iterable of str
        Those that may differ between casters.

    Raises
    ------
    ValueError
        An unknown name, or one of `per_caster` that is not estimated or not per caster.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.3, [0.0, 3.1], 0.04, 0.04, 30.0, 3.5)
    >>> [u.name for u in unknowns(robot, ['delay', 'rolling_coulomb'], ['rolling_coulomb'])]
    ['rolling_coulomb_1', 'rolling_coulomb_2', 'delay']
    """
    chosen = set(estimate)
    single = set(per_caster)
    if lost := sorted(chosen - set(PARAMETERS)):
        raise ValueError(f'estimate = {lost}: not known; choose from {", ".join(PARAMETERS)}')
    if lost := sorted(single - chosen):
        raise ValueError(f'per_caster = {lost}: not among what is estimated, {sorted(chosen)}')
    if lost := sorted(single & {*_PLATFORM, *_COM, 'smoothing', 'delay'}):
        raise ValueError(f'per_caster = {lost}: belongs to the whole robot, not to a caster')
    if not chosen:
        raise ValueError('estimate is empty: name at least one of ' + ', '.join(PARAMETERS))
    return [Unknown(p, i) for p in PARAMETERS if p in chosen
            for i in (range(robot.count) if p in single else (None,))]


def _holder(robot: CasterRobot, parameter: str) -> Any:
    return robot.friction if parameter in FRICTION else robot


def described(robot: CasterRobot, unknown: Unknown) -> float:
    """Return the described value: the mean over the casters if one value is shared."""
    if unknown.parameter == 'delay':
        return USUAL_DELAY
    if unknown.parameter in _COM:
        return float(robot.platform_com[_COM.index(unknown.parameter)])
    value = np.asarray(getattr(_holder(robot, unknown.parameter), unknown.parameter), float)
    if value.ndim and unknown.caster is not None:
        return float(value[unknown.caster])
    return float(value.mean())


def with_values(robot: CasterRobot, where: Sequence[Unknown], values: Sequence[float] | Array
                ) -> tuple[CasterRobot, float]:
    """
    Return `robot` with the `values` of the unknowns `where`, and the delay.

    Raises
    ------
    ModelError
        A value that is not physical.
    """
    changed: dict[str, Any] = {}
    delay = USUAL_DELAY
    com = np.array(robot.platform_com)
    for unknown, value in zip(where, values, strict=True):
        name = unknown.parameter
        if name == 'delay':
            delay = float(value)
        elif name in _COM:
            com[_COM.index(name)] = value
        elif unknown.caster is None:
            changed[name] = float(value)
        else:
            array = changed.setdefault(name, np.array(np.broadcast_to(
                getattr(_holder(robot, name), name), (robot.count,)), float))
            array[unknown.caster] = value
    friction = replace(robot.friction, **{k: changed.pop(k) for k in FRICTION if k in changed})
    return replace(robot, friction=friction, platform_com=com, **changed), delay


def scale(robot: CasterRobot, unknown: Unknown, torque: float, rate: float) -> float:
    """
    Return the scale of a number: its own size, or a significant value if it is near zero.

    `torque` and `rate` are the rms of wheel torques, N·m, and joint rates, rad/s, of the motion:
    friction of 3 % of the torques is significant, independently of the description of the `robot`.
    """
    name = unknown.parameter
    if name == 'delay':
        return USUAL_DELAY
    if name in (*_COM, 'link_com'):
        return 0.1 * float(np.hypot(*np.asarray(robot.hip_position).T).mean())
    if name in FRICTION and name != 'smoothing':
        much = 0.03 * torque / (rate if name.endswith('viscous') else 1.0)
        return max(abs(described(robot, unknown)), much)
    return abs(described(robot, unknown)) or 1.0


def bounds(where: Sequence[Unknown], robot: CasterRobot, most_delay: float,
           least_smoothing: float) -> tuple[Array, Array]:
    """
    Return lower and upper bounds of each unknown.

    Masses and lengths stay above a thousandth of the description, friction and inertias of links
    and wheels do not become negative, the delay (s) stays within ±`most_delay`, the smoothing
    (rad/s) above `least_smoothing`. `where` are the unknowns, `robot` is the description.
    """
    low = np.full(len(where), -np.inf)
    high = np.full(len(where), np.inf)
    for i, unknown in enumerate(where):
        name = unknown.parameter
        if name == 'delay':
            low[i] = -most_delay
            high[i] = most_delay
        elif name in (*_PLATFORM, 'caster_offset', 'wheel_radius'):
            low[i] = 1e-3 * described(robot, unknown)
        elif name not in (*_COM, 'link_com'):
            low[i] = least_smoothing if name == 'smoothing' else 0.0
    return low, high
