# SPDX-License-Identifier: Apache-2.0
"""The numbers of a robot that its motion can tell: names, units, and how they enter the model."""

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
        Where it stands in a robot's YAML; empty for what is no property of the robot.
    shown_by : str
        A motion that shows it.
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

# in the order in which they are kept where the motion cannot tell two of them apart
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

# what is estimated when nothing else is asked for
USUAL = ('platform_mass', 'platform_inertia', 'platform_com_x', 'platform_com_y',
         'rolling_coulomb', 'rolling_viscous', 'pivot_coulomb', 'scrub_coulomb', 'pivot_viscous',
         'smoothing', 'delay')

FRICTION = ('rolling_coulomb', 'rolling_viscous', 'pivot_coulomb', 'scrub_coulomb',
            'pivot_viscous', 'smoothing')
_PLATFORM = ('platform_mass', 'platform_inertia')
_COM = ('platform_com_x', 'platform_com_y')

# seconds of delay that are expected between a command and its effect
USUAL_DELAY = 0.01


class Unknown(NamedTuple):
    """A number to be estimated: of one caster (from 0), or shared by all (`caster` None)."""

    parameter: str
    caster: int | None = None

    @property
    def name(self) -> str:
        """``rolling_coulomb``, or ``rolling_coulomb_1`` for the first caster."""
        return self.parameter if self.caster is None else f'{self.parameter}_{self.caster + 1}'


def is_per_caster(parameter: str) -> bool:
    """Return whether every caster has a `parameter` of its own."""
    return parameter not in (*_PLATFORM, *_COM, 'smoothing', 'delay')


def unknowns(robot: CasterRobot, estimate: Iterable[str], per_caster: Iterable[str] = ()
             ) -> list[Unknown]:
    """
    Return what is to be estimated, in the order of `PARAMETERS`.

    Parameters
    ----------
    robot : CasterRobot
    estimate : iterable of str
        Keys of `PARAMETERS`.
    per_caster : iterable of str
        Those of them that shall differ between casters.

    Raises
    ------
    ValueError
        A name that is not known or not estimated, or one that casters do not have.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.3, [0.0, 3.1], 0.04, 0.04, 30.0, 3.5)
    >>> [u.name for u in unknowns(robot, ['delay', 'rolling_coulomb'], ['rolling_coulomb'])]
    ['rolling_coulomb_1', 'rolling_coulomb_2', 'delay']
    """
    wanted, single = set(estimate), set(per_caster)
    if lost := sorted(wanted - set(PARAMETERS)):
        raise ValueError(f'estimate = {lost}: not known; choose from {", ".join(PARAMETERS)}')
    if lost := sorted(single - wanted):
        raise ValueError(f'per_caster = {lost}: not among what is estimated, {sorted(wanted)}')
    if lost := sorted(p for p in single if not is_per_caster(p)):
        raise ValueError(f'per_caster = {lost}: belongs to the whole robot, not to a caster')
    if not wanted:
        raise ValueError('estimate is empty: name at least one of ' + ', '.join(PARAMETERS))
    return [Unknown(p, i) for p in PARAMETERS if p in wanted
            for i in (range(robot.count) if p in single else (None,))]


def _holder(robot: CasterRobot, parameter: str) -> Any:
    return robot.friction if parameter in FRICTION else robot


def described(robot: CasterRobot, unknown: Unknown) -> float:
    """Return what the description says: a mean over the casters where one value is shared."""
    if unknown.parameter == 'delay':
        return USUAL_DELAY
    if unknown.parameter in _COM:
        return float(robot.platform_com[_COM.index(unknown.parameter)])
    value = np.asarray(getattr(_holder(robot, unknown.parameter), unknown.parameter), float)
    if value.ndim and unknown.caster is not None:
        return float(value[unknown.caster])
    return float(value.mean())


def with_values(robot: CasterRobot, where: Sequence[Unknown], values: Sequence[float]
                ) -> tuple[CasterRobot, float]:
    """
    Return `robot` with the `values` put `where` they belong, and the delay.

    Raises
    ------
    ModelError
        A value that no robot can have.
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
    Return what counts as much of a number: its own size, or what matters where it is near zero.

    Parameters
    ----------
    robot : CasterRobot
    unknown : Unknown
    torque, rate : float, N·m and rad/s
        Rms of the wheel torques and of the joint rates of the motion: 3 % of the torques is much
        friction, whatever the description says.
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
    Return the least and the largest value that each unknown can have.

    Masses and lengths stay above a thousandth of the description, friction and inertias of links
    and wheels do not become negative, the delay (s) stays within ±`most_delay`, the smoothing
    (rad/s) above `least_smoothing`; `where` says which they are and `robot` what is described.
    """
    low, high = np.full(len(where), -np.inf), np.full(len(where), np.inf)
    for i, unknown in enumerate(where):
        name = unknown.parameter
        if name == 'delay':
            low[i], high[i] = -most_delay, most_delay
        elif name in (*_PLATFORM, 'caster_offset', 'wheel_radius'):
            low[i] = 1e-3 * described(robot, unknown)
        elif name not in (*_COM, 'link_com'):
            low[i] = least_smoothing if name == 'smoothing' else 0.0
    return low, high
