# SPDX-License-Identifier: Apache-2.0
"""
Chains, torque laws and position laws of the parameters of the nodes.

The parameter ``controller`` names a law; its class declares what it needs (control_law.py).
"""

from __future__ import annotations

from typing import Any

from c3p_controller import chosen_law, law_named
from c3p_controller.command_follower import CommandFollower, FollowerSettings, LawFailure
from c3p_controller.control_law import ControlLaw
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.limits import TractionSettings, limits_of
from c3p_controller.paper.chain import PaperChain
from c3p_controller.paper.velocity import PaperLaw
from c3p_description.model import CasterRobot
from c3p_dynamics.freedoms import driven_freedoms
from c3p_kernels.compiled import COMPILER, NUMBA


def traction_of(values: Any) -> TractionSettings:
    """Return the settings of traction control."""
    return TractionSettings.of(values)


def follower_of(values: Any) -> FollowerSettings:
    """Return limits, stop, standstill and traction control."""
    return FollowerSettings(
        limits_of(values), values.stop_acceleration,
        (values.standstill_speed, values.standstill_yaw_rate), values.stop_damping,
        traction_of(values))


def check_motors(controller: str, robot: CasterRobot) -> None:
    """
    Raise ValueError where the motors of `robot` are too few for the law `controller`.

    A law that demands all three accelerations at an instant needs motors for three freedoms; mpc
    gives up one of them. Neither drives other wheels than casters.
    """
    law_named(controller).check_wheels(robot)
    freedoms = driven_freedoms(robot)
    if freedoms < 2:
        raise ValueError(f'the motors of {robot.name} control {freedoms} of three freedoms of the '
                         'platform, and no controller reaches goals with fewer than 2; drive '
                         'another wheel or a steering axis (casters.driven, casters.steered)')
    if freedoms < law_named(controller).freedoms:
        raise ValueError(f'controller: {controller} needs motors for all three freedoms of the '
                         f'platform, and those of {robot.name} control {freedoms} at an instant; '
                         'choose mpc, which keeps what the parameter mpc.priority names')


def law_settings(values: Any, robot: CasterRobot) -> Any:
    """Return the settings of the torque law of velocity controller parameters; ValueError."""
    name = chosen_law(values.controller, robot)
    return law_named(name).read(values, name)


def make_law(values: Any, robot: CasterRobot) -> ControlLaw:
    """
    Return the torque law of velocity controller parameters.

    ValueError for invalid parameters, or too few motors for the law.
    """
    name = chosen_law(values.controller, robot)
    check_motors(name, robot)
    law, settings = law_named(name), law_settings(values, robot)
    try:
        return law(robot, settings)
    except ValueError:
        raise
    except Exception as error:  # the law may be the code of another package
        raise _refusal(name, f'{law.__name__}.__init__ raised {type(error).__name__}: {error}'
                       ) from error


def _refusal(name: str, reason: str) -> ValueError:
    return ValueError(f'controller = {name}: {reason}; correct the package of the law')


def make_chain(values: Any, robot: CasterRobot) -> PaperChain | CommandFollower:
    """
    Return the chain from commands to torques of the parameter ``controller``, compiled.

    Raises
    ------
    ValueError
        Invalid settings, or a law that needs a compiler without one.
    """
    name = chosen_law(values.controller, robot)
    if law_named(name).compiler and not COMPILER:
        raise ValueError(f"controller: {name} needs the compiler (`pip install "
                         f"'{NUMBA}'`), without it a plan takes longer than it lasts")
    law = make_law(values, robot)
    settings = follower_of(values)
    chain = (PaperChain(robot, law, settings)
             if law.inverse_dynamics and isinstance(law, PaperLaw)
             else CommandFollower(robot, law, settings))
    try:
        chain.warm_up()
    except LawFailure as error:
        raise _refusal(name, str(error)) from error
    return chain


def check_chain(values: Any, robot: CasterRobot) -> None:
    """Raise ValueError for parameters that `retune_chain` cannot use."""
    law_settings(values, robot), follower_of(values)


def retune_chain(chain: PaperChain | CommandFollower, values: Any, robot: CasterRobot) -> None:
    """Replace the settings of `chain` by the present parameters."""
    chain.retune(follower_of(values), law_settings(values, robot))


def position_of(values: Any, robot: CasterRobot) -> type[PositionLaw]:
    """Return the class of the position law of position controller parameters."""
    return law_named(chosen_law(values.controller, robot)).position_of(values)


def position_gains(values: Any, robot: CasterRobot) -> Any:
    """
    Return the gains of the position law of position controller parameters.

    Raises
    ------
    ValueError
        Invalid gains or readings, or a stop outside the goal zone.
    """
    return position_of(values, robot).read(values, chosen_law(values.controller, robot))


def make_position(values: Any, robot: CasterRobot) -> PositionLaw:
    """Return the position law of the parameters, compiled; errors as in `position_gains`."""
    law = position_of(values, robot).make(position_gains(values, robot), robot)
    law.warm_up()
    return law
