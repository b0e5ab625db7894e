# SPDX-License-Identifier: Apache-2.0
"""
Registry of the controllers: torque law, position law and their parameters, by name.

It is complete: the schemas of the nodes, the experiments and the tuning use these names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, NamedTuple

from c3p_controller import CONTROLLERS, MPC, PAPER
from c3p_controller.command_follower import CommandFollower, FollowerSettings
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.limits import ReferenceLimits, TractionSettings
from c3p_controller.paper.chain import PaperChain
from c3p_controller.paper.exponential import PositionController, PositionGains
from c3p_controller.paper.fusion import FusionOptions
from c3p_controller.paper.position import (
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
)
from c3p_controller.paper.velocity import PaperLaw, PaperSettings, VelocityGains
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.torque_law import TorqueLaw
from c3p_description.model import CasterRobot
from c3p_dynamics.freedoms import driven_freedoms
from c3p_kernels.compiled import COMPILER, NUMBA

# form of the papers' position law as printed, parameter `paper_law`
PRINTED = 'printed'

# gains of a path that are parameters of the whole position controller
OF_EVERY_LAW = ('speed', 'goal_tolerance', 'yaw_tolerance')


class Controller(NamedTuple):
    """
    Classes of a controller, and access to its parameters.

    `law` and `position` are made of their settings, dataclasses `settings` and `gains`. `read`
    returns the settings of the law from the parameters of the velocity controller. `chain`
    executes commands with the law.
    """

    law: Callable[..., TorqueLaw]
    settings: type[Any]
    read: Callable[[Any], Any]
    chain: type
    position: Callable[..., PositionLaw]
    gains: type[Any]


def fill(kind: type, group: Any, names: Iterable[str] | None = None) -> Any:
    """
    Return the dataclass `kind` with its fields `names` (all when omitted) from `group`.

    A field that is not a parameter is an AttributeError: schema and dataclass must match.
    """
    return kind(**{name: getattr(group, name) for name in
                   names or [field.name for field in fields(kind)]})


def limits_of(values: Any) -> ReferenceLimits:
    """Return the limits of the setpoints."""
    return ReferenceLimits(values.speed_limit, values.yaw_rate_limit, values.acceleration_limit,
                           values.yaw_acceleration_limit, values.command_smoothing)


def traction_of(values: Any) -> TractionSettings:
    """Return the settings of traction control."""
    return fill(TractionSettings, values.traction)


def follower_of(values: Any) -> FollowerSettings:
    """Return limits, stop, standstill and traction control."""
    return FollowerSettings(
        limits_of(values), values.stop_acceleration,
        (values.standstill_speed, values.standstill_yaw_rate), values.stop_damping,
        traction_of(values))


def _paper(values: Any) -> PaperSettings:
    return PaperSettings(fill(VelocityGains, values), limits_of(values),
                         values.virtual_steering_weight, fill(FusionOptions, values.fusion))


TABLE = dict(zip(CONTROLLERS, (
    Controller(PaperLaw, PaperSettings, _paper, PaperChain, PositionController, PositionGains),
    Controller(PredictiveController, PredictiveSettings,
               lambda values: fill(PredictiveSettings, values.mpc),
               CommandFollower, PathController, PathGains)), strict=True))


def check_motors(controller: str, robot: CasterRobot) -> None:
    """
    Raise ValueError where the motors of `robot` are too few for the law `controller`.

    Only mpc gives up a freedom, one of three; the papers' law demands all three accelerations at
    an instant.
    """
    freedoms = driven_freedoms(robot)
    if freedoms < 2:
        raise ValueError(f'the motors of {robot.name} control {freedoms} of three freedoms of the '
                         'platform, and no controller reaches goals with fewer than 2; drive '
                         'another wheel or a steering axis (casters.driven, casters.steered)')
    if controller != MPC and freedoms < 3:
        raise ValueError(f'controller: {controller} needs motors for all three freedoms of the '
                         f'platform, and those of {robot.name} control {freedoms} at an instant; '
                         'choose mpc, which keeps what the parameter mpc.priority names')


def make_law(values: Any, robot: CasterRobot) -> TorqueLaw:
    """
    Return the torque law of velocity controller parameters.

    ValueError for invalid parameters, or too few motors for the law.
    """
    check_motors(values.controller, robot)
    entry = TABLE[values.controller]
    return entry.law(robot, entry.read(values))


def make_chain(values: Any, robot: CasterRobot) -> PaperChain | CommandFollower:
    """
    Return the chain from commands to torques of the parameter ``controller``, compiled.

    Raises
    ------
    ValueError
        Invalid settings, or predictive control without a compiler.
    """
    if values.controller == MPC and not COMPILER:
        raise ValueError(f"controller: mpc needs the compiler (`pip install '{NUMBA}'`), without "
                         'it a plan takes longer than it lasts')
    chain = TABLE[values.controller].chain(robot, make_law(values, robot), follower_of(values))
    chain.warm_up()
    return chain


def check_chain(values: Any) -> None:
    """Raise ValueError for parameters that `retune_chain` cannot use."""
    TABLE[values.controller].read(values), follower_of(values)


def retune_chain(chain: PaperChain | CommandFollower, values: Any) -> None:
    """Replace the settings of `chain` by the present parameters."""
    chain.retune(follower_of(values), TABLE[values.controller].read(values))


def _printed(values: Any) -> tuple[PaperPositionGains, PaperPositionOptions]:
    group = values.printed
    return PaperPositionGains(
        tuple(group.axis_gain), tuple(group.axis_rate), group.yaw_gain, group.line_yaw_gain,
        group.goal_zone), fill(PaperPositionOptions, group)


def position_gains(values: Any) -> Any:
    """
    Return the gains of the position law of the parameters ``controller`` and ``paper_law``.

    Raises
    ------
    ValueError
        Invalid gains or readings, or a stop outside the goal zone.
    """
    if values.controller == PAPER:
        return (_printed(values) if values.paper_law == PRINTED
                else fill(PositionGains, values))
    for inner, outer in (('stop_distance', 'goal_tolerance'), ('stop_yaw', 'yaw_tolerance')):
        if getattr(values.path, inner) > getattr(values, outer):
            raise ValueError(f'path.{inner} = {getattr(values.path, inner)}: must be at most '
                             f'{outer} = {getattr(values, outer)}')
    own = [field.name for field in fields(PathGains) if field.name not in OF_EVERY_LAW]
    return PathGains(**{name: getattr(values, name) for name in OF_EVERY_LAW},
                     **{name: getattr(values.path, name) for name in own})


def make_position(values: Any) -> PositionLaw:
    """Return the position law of the parameters, compiled; errors as in `position_gains`."""
    gains = position_gains(values)
    law = (PaperPositionController(*gains)
           if values.controller == PAPER and values.paper_law == PRINTED
           else TABLE[values.controller].position(gains))
    law.warm_up()
    return law


def pace_of(values: Any) -> tuple[float, float]:
    """Return the largest speed and yaw rate of the position law, m/s and rad/s."""
    return values.speed, (values if values.controller == PAPER else values.path).yaw_rate
