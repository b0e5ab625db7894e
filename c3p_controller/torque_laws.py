# SPDX-License-Identifier: Apache-2.0
"""The laws that the velocity controller may follow, by name and from their parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from c3p_controller.closed_form.controller import ClosedFormController, ClosedFormSettings
from c3p_controller.fusion import FusionOptions
from c3p_controller.one_step import OneStep
from c3p_controller.paper.chain import PaperChain
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.reference import ReferenceLimits
from c3p_controller.traction_control import TractionSettings
from c3p_controller.velocity_controller import VelocityGains
from c3p_description.model import CasterRobot
from c3p_kinematics.compiled import COMPILED

# the law that asks the inverse dynamics, and is no TorqueLaw by itself
PAPER = 'paper'

# law and settings of each name; the parameters are the group of that name
LAWS = {'closed_form': (ClosedFormController, ClosedFormSettings),
        'mpc': (PredictiveController, PredictiveSettings)}


def make_law(values: Any, robot: CasterRobot) -> PaperChain | OneStep:
    """
    Return the law that the parameter ``controller`` names, its kernels compiled.

    Parameters
    ----------
    values : namespace
        Parameters of the velocity controller.
    robot : CasterRobot

    Raises
    ------
    ValueError
        Settings that cannot work, or predictive control without a compiler.
    """
    name = values.controller
    if name == 'mpc' and not COMPILED:
        raise ValueError('controller: mpc needs the compiler numba (`pip install numba`), without '
                         'it a plan takes longer than it lasts; choose closed_form')
    if name == PAPER:
        law = PaperChain(robot, gains_of(values), limits_of(values), values.stop_acceleration,
                         values.virtual_steering_weight, fusion_of(values))
    else:
        law = OneStep(robot, LAWS[name][0](robot, settings_of(values)), limits_of(values),
                      values.stop_acceleration, standstill_of(values), values.stop_damping)
    law.traction.settings = traction_of(values)
    law.warm_up()
    law.traction.warm_up()
    return law


def check(values: Any) -> None:
    """Raise ValueError for parameters that `retune` cannot use."""
    if values.controller == PAPER:
        gains_of(values), fusion_of(values)
    else:
        settings_of(values)
    traction_of(values), limits_of(values)


def retune(law: PaperChain | OneStep, values: Any) -> None:
    """Give `law` the present parameters, which `check` accepts."""
    law.traction.settings = traction_of(values)
    if isinstance(law, PaperChain):
        law.retune(gains_of(values), limits_of(values), values.stop_acceleration,
                   values.virtual_steering_weight, fusion_of(values))
        return
    # some have nothing that may change while they run
    if hasattr(law.law, 'retune'):
        law.law.retune(settings_of(values))
    law.limits, law.stop_deceleration = limits_of(values), values.stop_acceleration
    law.standstill, law.stop_damping = standstill_of(values), values.stop_damping


def settings_of(values: Any) -> Any:
    """Return the settings of the chosen law; what the parameters do not name has its default."""
    group, kind = getattr(values, values.controller), LAWS[values.controller][1]
    return kind(**{f.name: getattr(group, f.name) for f in fields(kind) if hasattr(group, f.name)})


def gains_of(values: Any) -> VelocityGains:
    """Return the gains of the papers' law."""
    return VelocityGains(**{f.name: getattr(values, f.name) for f in fields(VelocityGains)})


def fusion_of(values: Any) -> FusionOptions:
    """Return how the papers' fusion is read; ValueError for readings that exclude each other."""
    return FusionOptions(**{f.name: getattr(values.fusion, f.name)
                            for f in fields(FusionOptions)})


def traction_of(values: Any) -> TractionSettings:
    """Return how slip is answered."""
    return TractionSettings(**{f.name: getattr(values.traction, f.name)
                               for f in fields(TractionSettings)})


def limits_of(values: Any) -> ReferenceLimits:
    """Return the limits of what is asked."""
    return ReferenceLimits(values.speed_limit, values.yaw_rate_limit, values.acceleration_limit,
                           values.yaw_acceleration_limit, values.command_smoothing)


def standstill_of(values: Any) -> tuple[float, float]:
    """Return the speed and the yaw rate below which the robot stands."""
    return values.standstill_speed, values.standstill_yaw_rate
