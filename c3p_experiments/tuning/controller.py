# SPDX-License-Identifier: Apache-2.0
"""Controllers from parameters of the control nodes, without nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c3p_controller import law_named
from c3p_controller.controllers import make_law, make_position, traction_of
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import TractionControl
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
    law = law_named(controller)
    values: dict[str, Any] = {**defaults(controller), **changed}
    for node in NODES:
        values[f'{node}.controller'] = controller
    if law.takes_latency():
        values[f'velocity_controller.{controller}.latency'] = latency
    if speed is not None:
        values['position_controller.speed'] = speed
    nodes = typed(values_class(schemas(controller)), values)
    lower, upper = (getattr(nodes, node) for node in NODES)
    traction = TractionControl(robot, traction_of(lower))
    return Controller(controller, GrippingLaw(make_law(lower, robot), traction),
                      lambda: make_position(upper, robot), law.previews)
