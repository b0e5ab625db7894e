# SPDX-License-Identifier: Apache-2.0
"""Controllers by name: a torque law with its position controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from c3p_controller.closed_form.controller import ClosedFormController, ClosedFormSettings
from c3p_controller.law import TorqueLaw
from c3p_controller.paper.law import PaperLaw
from c3p_controller.path_controller import PathController, PathGains
from c3p_controller.position_controller import PositionController, PositionGains
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.traction_control import GrippingLaw, TractionControl
from c3p_description.model import CasterRobot


class Controller(NamedTuple):
    """
    A torque law with its position controller.

    Attributes
    ----------
    name : str
    law : TorqueLaw
    position : callable
        Returns a new position controller; one with ``set_path`` can follow any path.
    looks_ahead : bool
        The law uses the reference ahead.
    """

    name: str
    law: TorqueLaw
    position: Callable[[], Any]
    looks_ahead: bool


def _paper(robot: CasterRobot, latency: float, speed: float | None) -> Controller:
    gains = PositionGains() if speed is None else replace(PositionGains(), speed=speed)
    return Controller('paper', PaperLaw(robot), lambda: PositionController(gains), False)


def _closed_form(robot: CasterRobot, latency: float, speed: float | None) -> Controller:
    law = ClosedFormController(robot, ClosedFormSettings(latency=latency))
    gains = PathGains() if speed is None else replace(PathGains(), speed=speed)
    return Controller('closed_form', law, lambda: PathController(gains), True)


def _predictive(robot: CasterRobot, latency: float, speed: float | None) -> Controller:
    law = PredictiveController(robot, PredictiveSettings(latency=latency))
    gains = PathGains() if speed is None else replace(PathGains(), speed=speed)
    return Controller('mpc', law, lambda: PathController(gains), True)


MAKERS: dict[str, Callable[[CasterRobot, float, float | None], Controller]] = {
    'paper': _paper, 'closed_form': _closed_form, 'mpc': _predictive}

NAMES = tuple(MAKERS)


def make_controller(name: str, robot: CasterRobot, *, latency: float = 0.010,
                    speed: float | None = None) -> Controller:
    """
    Return the controller called `name` for `robot`.

    Parameters
    ----------
    name : str
        One of `NAMES`: ``paper``, the papers' cascade; ``closed_form``, feedback linearisation
        that leaves singular sets; ``mpc``, the predictive controller.
    robot : CasterRobot
        Model of the controller.
    latency : float, s
        Delay of the loop in the model of the controller.
    speed : float, m/s, optional
        Travel speed to goals and along paths; default that of the gains.

    Raises
    ------
    ValueError
        An unknown name.
    """
    if name not in MAKERS:
        raise ValueError(f'controller = {name}: must be one of {", ".join(NAMES)}')
    controller = MAKERS[name](robot, latency, speed)
    return controller._replace(law=GrippingLaw(controller.law, TractionControl(robot)))
