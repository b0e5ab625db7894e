# SPDX-License-Identifier: Apache-2.0
"""Controllers by name: a torque law with its position controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from c3p_controller import CONTROLLERS, PAPER
from c3p_controller.controllers import TABLE, check_motors
from c3p_controller.limits import GrippingLaw, TractionControl
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


NAMES = CONTROLLERS


def make_controller(name: str, robot: CasterRobot, *, latency: float = 0.010,
                    speed: float | None = None) -> Controller:
    """
    Return the controller called `name` for `robot`.

    Parameters
    ----------
    name : str
        One of `NAMES`: ``paper``, the papers' cascade; ``mpc``, the predictive controller.
    robot : CasterRobot
        Model of the controller.
    latency : float, s
        Delay of the loop in the model of the controller.
    speed : float, m/s, optional
        Travel speed to goals and along paths; default that of the gains.

    Raises
    ------
    ValueError
        An unknown name, or too few motors for the law.
    """
    if name not in TABLE:
        raise ValueError(f'controller = {name}: must be one of {", ".join(NAMES)}')
    check_motors(name, robot)
    entry, previews = TABLE[name], name != PAPER
    settings = entry.settings(latency=latency) if previews else entry.settings()
    gains = entry.gains() if speed is None else entry.gains(speed=speed)
    return Controller(name, GrippingLaw(entry.law(robot, settings), TractionControl(robot)),
                      lambda: entry.position(gains), previews)
