# SPDX-License-Identifier: Apache-2.0
"""Controllers from parameters of the control nodes, without nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c3p_controller import position_laws
from c3p_controller.paper.law import PaperLaw
from c3p_controller.path_controller import PathController, PathGains
from c3p_controller.position_controller import PositionController, PositionGains
from c3p_controller.torque_laws import (
    LAWS,
    PAPER,
    gains_of,
    limits_of,
    settings_of,
    traction_of,
)
from c3p_controller.traction_control import GrippingLaw, TractionControl
from c3p_description.model import CasterRobot
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.tuning.parameters import NODES, defaults, schemas
from c3p_ros.schema import typed, values_class


def make(controller: str, robot: CasterRobot, latency: float, changed: Mapping[str, float],
         speed: float | None = None) -> Controller:
    """
    Return the controller that the nodes make of these parameters.

    Parameters
    ----------
    controller : str
    robot : CasterRobot
        Model of the controller.
    latency : float, s
        In the model of the controller.
    changed : mapping
        Full name → value, of parameters that differ from their default.
    speed : float, m/s, optional
        Travel speed; default that of the parameters.

    Raises
    ------
    ValueError
        An invalid combination of parameters.
    """
    values = defaults() | dict(changed)
    values['velocity_controller.controller'] = controller
    if controller != PAPER:
        values[f'velocity_controller.{controller}.latency'] = latency
    if speed is not None:
        values['position_controller.speed'] = speed
    nodes = typed(values_class(schemas()), values)
    lower, upper = (getattr(nodes, node) for node in NODES)

    def gripping(name: str, law: Any, position: Any, looks_ahead: bool) -> Controller:
        traction = TractionControl(robot, traction_of(lower))
        return Controller(name, GrippingLaw(law, traction), position, looks_ahead)

    if controller == PAPER:
        law: Any = PaperLaw(robot, gains_of(lower), limits_of(lower),
                            lower.virtual_steering_weight)
        gains = position_laws.gains_of(PositionGains, upper)
        return gripping(controller, law, lambda: PositionController(gains), False)
    law = LAWS[controller][0](robot, settings_of(lower))
    path = position_laws.gains_of(PathGains, upper.path, upper)
    return gripping(controller, law, lambda: PathController(path), True)
