# SPDX-License-Identifier: Apache-2.0
"""
The papers' velocity controller in two steps, with the inverse dynamics somewhere else.

A cycle asks for an acceleration; the answer, which may come after the next question, is fused
into the wheel torques.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from c3p_controller.fusion import OUR_READING, FusionOptions
from c3p_controller.law import Sensed
from c3p_controller.one_step import NOTHING, STOP, TWIST
from c3p_controller.reference import ReferenceLimits
from c3p_controller.traction_control import TractionControl
from c3p_controller.velocity_controller import VelocityController, VelocityGains
from c3p_description.model import Array, CasterRobot

# cycles that may wait for their answer at once: on a busy computer the next cycle begins before
# the answer to the last has come, and that answer still is the newest there is
UNANSWERED = 8


class PaperChain:
    """
    Question and answer of each cycle, by its stamp.

    Parameters
    ----------
    robot : CasterRobot
    gains : VelocityGains
    limits : ReferenceLimits
    stop_deceleration : float, m/s²
    virtual_steering_weight : float
    options : FusionOptions
        As in `VelocityController`.

    Attributes
    ----------
    follows : str
        What was asked for last: ``twist``, ``stop``, or ``nothing`` yet.
    traction : TractionControl
    """

    def __init__(self, robot: CasterRobot, gains: VelocityGains, limits: ReferenceLimits,
                 stop_deceleration: float, virtual_steering_weight: float,
                 options: FusionOptions = OUR_READING) -> None:
        """Start from rest, with nothing asked."""
        self._robot = robot
        self.traction, self._sent = TractionControl(robot), np.zeros(robot.count)
        self._controller = VelocityController(robot, gains, limits, virtual_steering_weight)
        self._asked: dict[int, Sensed] = {}
        self.follows = NOTHING
        self.retune(gains, limits, stop_deceleration, virtual_steering_weight, options)

    def retune(self, gains: VelocityGains, limits: ReferenceLimits, stop_deceleration: float,
               virtual_steering_weight: float, options: FusionOptions = OUR_READING) -> None:
        """Take other gains, limits, stop_deceleration, virtual_steering_weight and options."""
        self._controller.gains, self._controller.options = gains, options
        self._controller.virtual_steering_weight = virtual_steering_weight
        self._driving = limits
        self._stopping = replace(limits, acceleration=stop_deceleration)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the sensed twist (rest when left out)."""
        self.follows = NOTHING
        self._controller.reset(None if sensed is None else sensed.twist)

    def forget(self) -> None:
        """Take no answer to what was asked before: time has begun anew."""
        self._asked.clear()

    def warm_up(self) -> None:
        """Compile the kernels."""
        n = self._robot.count
        self._controller.ask(np.ones(3), np.zeros(3), 0.01)
        self._controller.fuse(np.zeros(n), np.zeros(n), np.zeros(3), np.zeros(n))
        self.reset()

    def ask(self, sensed: Sensed, command: Array | None, cycle: int, dt: float | None) -> Array:
        """
        Return the acceleration (3,) to ask of the inverse dynamics in this cycle.

        Parameters
        ----------
        sensed : Sensed
        command : (3,) array or None
            Twist asked for, ``base_link``; None to come to rest.
        cycle : int, ns
            Stamp of the cycle.
        dt : float, s, or None
            Since the last call; None in a cycle that begins afresh, which asks for nothing.
        """
        self._asked[cycle] = sensed
        if dt is not None:
            self.traction.update(sensed, self._sent, dt)
        if len(self._asked) > UNANSWERED:
            del self._asked[next(iter(self._asked))]
        if dt is None:
            return np.zeros(3)
        self.follows = STOP if command is None else TWIST
        self._controller.shaper.limits = self._stopping if command is None else self._driving
        return self._controller.ask(np.zeros(3) if command is None else command, sensed.twist, dt)

    def waits_for(self, stamp: int) -> bool:
        """Return whether an answer with this stamp, ns, is of use."""
        return stamp in self._asked

    def answer(self, stamp: int, dynamics: Array) -> Array:
        """
        Return the wheel torques (n,) N·m of the cycle with this `stamp`, ns.

        `dynamics` is what the inverse dynamics answered, N·m. A newer answer makes the older ones
        useless.
        """
        sensed = self._asked.pop(stamp)
        for old in [s for s in self._asked if s < stamp]:
            del self._asked[old]
        self._controller.limit = self.traction.limit
        self._sent = self.traction.apply(self._controller.fuse(
            sensed.steering, sensed.wheel_rate, sensed.twist, dynamics))
        return self._sent.copy()
