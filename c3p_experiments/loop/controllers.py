# SPDX-License-Identifier: Apache-2.0
"""Controllers by name: a torque law with its position controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from c3p_controller import CONTROLLERS, chosen_law, law_named
from c3p_controller.controllers import check_motors
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import TractionControl
from c3p_description.model import CasterRobot


class Controller(NamedTuple):
    """
    A torque law with its position controller.

    Attributes
    ----------
    name : str
    law : GrippingLaw
    position : callable
        Returns a new position controller; one with ``set_path`` can follow any path.
    uses_preview : bool
        The law uses the preview.
    """

    name: str
    law: GrippingLaw
    position: Callable[[], Any]
    uses_preview: bool


# of the suite; `law_names` has those of other packages as well
NAMES = CONTROLLERS


def make_controller(name: str, robot: CasterRobot, *, latency: float = 0.010,
                    speed: float | None = None) -> Controller:
    """
    Return the controller called `name` for `robot`.

    Parameters
    ----------
    name : str
        ``paper``, the papers' cascade; ``mpc``, the predictive controller; or a law of an
        installed package; ``auto``, that of the robot.
    robot : CasterRobot
        Model of the controller.
    latency : float, s
        Delay of the loop in the model of the controller.
    speed : float, m/s, optional
        Travel speed to goals and along paths; default that of the gains.

    Raises
    ------
    ValueError
        An unknown name, a law that cannot be imported, or too few motors for the law.
    """
    name = chosen_law(name, robot)
    law = law_named(name)
    check_motors(name, robot)
    gains = law.position.Settings() if speed is None else law.position.Settings(speed=speed)
    made = law(robot, law.default_settings(latency))
    return Controller(name, GrippingLaw(made, TractionControl(robot)),
                      lambda: law.position.make(gains, robot), law.previews)
