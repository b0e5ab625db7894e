# SPDX-License-Identifier: Apache-2.0
"""
The papers' law in two steps per cycle, with the inverse dynamics in another node.

A cycle publishes its desired acceleration. The reply of the inverse dynamics, which may arrive
after the next cycle has begun, is fused into the wheel torques.
"""

from __future__ import annotations

import numpy as np

from c3p_controller.command_follower import (
    NOTHING,
    STANDSTILL_COMMAND,
    STOP,
    TWIST,
    FollowerSettings,
)
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import ReferenceLimits, TractionControl
from c3p_controller.paper.velocity import PaperLaw, PaperSettings
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.model import Array, CasterRobot
from c3p_description.settings import computed

# cycles that may wait for their reply at once: on a busy computer the next cycle begins before
# the reply to the last has arrived, and that reply is still the newest available
UNANSWERED = 8


class PaperChain:
    """
    The papers' law in two steps per cycle, matched by the stamp of the cycle.

    Of the FollowerSettings stop deceleration and traction control are used. `follows` is the last
    setpoint: ``twist``, ``stop``, or ``nothing`` yet.
    """

    def __init__(self, robot: CasterRobot, law: PaperLaw,
                 settings: FollowerSettings | None = None) -> None:
        """Start from rest, without a setpoint."""
        settings = settings or FollowerSettings()
        self._robot = robot
        self._law = law
        self.traction = TractionControl(robot, settings.traction)
        self._gripping = GrippingLaw(law, self.traction)
        self._pending: dict[int, Sensed] = {}
        self.follows = NOTHING
        self._limit(settings, law.settings.limits)

    def _limit(self, settings: FollowerSettings, limits: ReferenceLimits) -> None:
        self.traction.settings = settings.traction
        self._driving = limits
        self._stopping = computed(limits, acceleration=settings.stop_deceleration)

    def retune(self, settings: FollowerSettings, law_settings: PaperSettings) -> None:
        """Replace the settings, and those of the law."""
        self._law.retune(law_settings)
        self._limit(settings, law_settings.limits)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the measured twist (rest when omitted)."""
        self.follows = NOTHING
        self._law.reset(sensed)

    def metrics(self) -> dict[str, str]:
        """Return no metrics: the law has no input delay."""
        return {}

    def forget(self) -> None:
        """Drop the cycles that wait for a reply: time has restarted."""
        self._pending.clear()

    def warm_up(self) -> None:
        """Compile the kernels."""
        zero = np.zeros(self._robot.count)
        self._law.accel(np.ones(3), np.zeros(3), 0.01)
        self._law.fuse(Sensed(0.0, zero, zero, np.zeros(3), np.zeros(3)),
                       np.zeros(self._robot.efforts))
        self.reset()
        self.traction.warm_up()

    def accel(self, sensed: Sensed, command: Array | None, cycle: int, dt: float | None) -> Array:
        """
        Return the desired acceleration (3,) of a cycle, the input of the inverse dynamics.

        `cycle` is its stamp, ns. The `command` (3,) is in ``base_link``; None stops the robot.
        `dt`, s, is None after a reset: the acceleration of `sensed` is zero then. An
        ArithmeticError is a law that diverges.
        """
        self._pending[cycle] = sensed
        if dt is not None:
            self._gripping.begin(sensed, dt)
            self._gripping.supervise(sensed, Setpoint(np.zeros(3) if command is None
                                                      else command), dt)
        if len(self._pending) > UNANSWERED:
            del self._pending[next(iter(self._pending))]
        if dt is None:
            return np.zeros(3)
        self.follows = STOP if command is None else TWIST
        self._law.shaper.limits = self._stopping if command is None else self._driving
        return self._law.accel(np.zeros(3) if command is None else command, sensed.twist, dt)

    def halts(self, command: Array | None) -> float:
        """Return the deceleration of the stop of `command`, m/s²; 0 for a command that moves."""
        if command is None:
            return self._stopping.acceleration
        moves = bool(np.abs(command).max() >= STANDSTILL_COMMAND)
        return 0.0 if moves else self._driving.acceleration

    def prepare(self) -> None:
        """Do nothing: the law computes nothing ahead."""

    def expects(self, stamp: int) -> bool:
        """Return whether a cycle with this stamp, ns, waits for a reply."""
        return stamp in self._pending

    def torque(self, stamp: int, dynamics: Array) -> Array:
        """
        Return the wheel torques (n,) N·m of the cycle with this `stamp`, ns.

        `dynamics` is the reply of the inverse dynamics, N·m. Older cycles no longer wait.
        """
        sensed = self._pending.pop(stamp)
        for old in [s for s in self._pending if s < stamp]:
            del self._pending[old]
        return self._gripping.apply(self._law.fuse(sensed, dynamics)).copy()
