# SPDX-License-Identifier: Apache-2.0
"""A controller made from the parameters of the nodes, without nodes."""

from __future__ import annotations

from collections.abc import Mapping

from c3p_controller import PAPER
from c3p_controller.controllers import make_law, make_position, traction_of
from c3p_controller.limits import GrippingLaw, TractionControl
from c3p_description.model import CasterRobot
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.tuning.parameters import NODES, defaults, schemas
from c3p_ros.schema import typed, values_class


def make(controller: str, robot: CasterRobot, latency: float, changed: Mapping[str, float],
         speed: float | None = None) -> Controller:
    """
    Return a controller as the nodes would make it from their parameters.

    Parameters
    ----------
    controller : str
    robot : CasterRobot
        As the controller knows it.
    latency : float, s
        As the controller knows it.
    changed : mapping
        Full name → value, of parameters that are not at their default.
    speed : float, m/s, optional
        At which is travelled, in the place of the parameter.

    Raises
    ------
    ValueError
        A combination of parameters that cannot be.
    """
    values = defaults() | dict(changed)
    for node in NODES:
        values[f'{node}.controller'] = controller
    if controller != PAPER:
        values[f'velocity_controller.{controller}.latency'] = latency
    if speed is not None:
        values['position_controller.speed'] = speed
    nodes = typed(values_class(schemas()), values)
    lower, upper = (getattr(nodes, node) for node in NODES)
    law, previews = make_law(lower, robot), controller != PAPER
    return Controller(controller, GrippingLaw(law, TractionControl(robot, traction_of(lower))),
                      lambda: make_position(upper), previews)
