# SPDX-License-Identifier: Apache-2.0
"""
The papers' velocity control as a torque law, and with the inverse dynamics in another node.

Paper I, Fig. 5: velocity loop, inverse dynamics, fusion. `PaperLaw` is all of it in one call.
`PaperChain` publishes the desired acceleration of a cycle and fuses the reply of the inverse
dynamics, which may arrive after the next cycle has begun, into the wheel torques.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from c3p_controller.command_follower import NOTHING, STOP, TWIST, FollowerSettings
from c3p_controller.paper.fusion import OUR_READING, FusionOptions
from c3p_controller.paper.velocity import VelocityController, VelocityGains
from c3p_controller.setpoint_limits import ReferenceLimits
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_controller.torques import GrippingLaw, TractionControl
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT, inverse_dynamics

# cycles that may wait for their reply at once: on a busy computer the next cycle begins before
# the reply to the last has arrived, and that reply is still the newest available
UNANSWERED = 8


@dataclass(frozen=True)
class PaperSettings:
    """
    Gains, limits and readings of the papers' law.

    Attributes
    ----------
    gains : VelocityGains
    limits : ReferenceLimits
    virtual_steering_weight : float
        w_s of the inverse dynamics and of the friction compensation; 1 is the papers' reading.
    options : FusionOptions
        Reading of eq. (13).
    """

    gains: VelocityGains = field(default_factory=VelocityGains)
    limits: ReferenceLimits = field(default_factory=ReferenceLimits)
    virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT
    options: FusionOptions = OUR_READING


class PaperLaw:
    """
    Velocity loop, inverse dynamics and fusion: a `TorqueLaw`.

    Of the setpoint only the twist is used.

    Parameters
    ----------
    robot : CasterRobot
    settings : PaperSettings, optional

    Attributes
    ----------
    controller : VelocityController

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> law, still = PaperLaw(robot), np.zeros(3)
    >>> sensed = Sensed(0.0, still, still, still, still)
    >>> law.reset(sensed)
    >>> torque = law.step(sensed, Setpoint(np.array([0.0, 0.3, 0.0])), 0.005)
    >>> bool((torque > 0.0).all())
    True
    """

    def __init__(self, robot: CasterRobot, settings: PaperSettings | None = None) -> None:
        """Start from rest."""
        s = settings or PaperSettings()
        self.controller = VelocityController(robot, s.gains, s.limits, s.virtual_steering_weight,
                                             s.options)

    @property
    def limit(self) -> Array:
        """Largest torque of each wheel (n,) N·m; may be lowered between steps."""
        return self.controller.limit

    @limit.setter
    def limit(self, limit: Array) -> None:
        """Replace the limits."""
        self.controller.limit = limit

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r, (3,) in ``base_link``."""
        return self.controller.reference

    def retune(self, settings: PaperSettings) -> None:
        """Replace the settings."""
        controller = self.controller
        controller.gains, controller.options = settings.gains, settings.options
        controller.virtual_steering_weight = settings.virtual_steering_weight
        controller.shaper.limits = settings.limits

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the measured twist (rest when omitted)."""
        self.controller.reset(None if sensed is None else sensed.twist)

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the wheel torques, limited, (n,) N·m; parameters as in `TorqueLaw.step`."""
        controller = self.controller
        accel = controller.accel(setpoint.twist, sensed.twist, dt)
        dynamics = inverse_dynamics(controller.robot, sensed.steering, sensed.twist, accel,
                                    controller.virtual_steering_weight)
        return controller.fuse(sensed.steering, sensed.wheel_rate, sensed.twist, dynamics)


class PaperChain:
    """
    The papers' law in two steps per cycle, matched by the stamp of the cycle.

    Parameters
    ----------
    robot : CasterRobot
    law : PaperLaw
    settings : FollowerSettings, optional
        Stop deceleration and traction control are used.

    Attributes
    ----------
    follows : str
        Last setpoint: ``twist``, ``stop``, or ``nothing`` yet.
    traction : TractionControl
    """

    def __init__(self, robot: CasterRobot, law: PaperLaw,
                 settings: FollowerSettings | None = None) -> None:
        """Start from rest, without a setpoint."""
        settings = settings or FollowerSettings()
        self._robot, self._law = robot, law
        self.traction = TractionControl(robot, settings.traction)
        self._gripping = GrippingLaw(law, self.traction)
        self._pending: dict[int, Sensed] = {}
        self.follows = NOTHING
        self._limit(settings, law.controller.shaper.limits)

    def _limit(self, settings: FollowerSettings, limits: ReferenceLimits) -> None:
        self.traction.settings, self._driving = settings.traction, limits
        self._stopping = replace(limits, acceleration=settings.stop_deceleration)

    def retune(self, settings: FollowerSettings, law_settings: PaperSettings) -> None:
        """Replace the settings, and those of the law."""
        self._law.retune(law_settings)
        self._limit(settings, law_settings.limits)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the measured twist (rest when omitted)."""
        self.follows = NOTHING
        self._law.reset(sensed)

    def forget(self) -> None:
        """Drop the cycles that wait for a reply: time has restarted."""
        self._pending.clear()

    def warm_up(self) -> None:
        """Compile the kernels."""
        controller, zero = self._law.controller, np.zeros(self._robot.count)
        controller.accel(np.ones(3), np.zeros(3), 0.01)
        controller.fuse(zero, zero, np.zeros(3), zero)
        self.reset()
        self.traction.warm_up()

    def accel(self, sensed: Sensed, command: Array | None, cycle: int, dt: float | None) -> Array:
        """
        Return the desired acceleration (3,) of this cycle, the input of the inverse dynamics.

        Parameters
        ----------
        sensed : Sensed
        command : (3,) array or None
            Twist, ``base_link``; None stops the robot.
        cycle : int, ns
            Stamp of the cycle.
        dt : float, s, or None
            Since the last call; None after a reset: the acceleration is zero.
        """
        self._pending[cycle] = sensed
        if dt is not None:
            self._gripping.begin(sensed, dt)
        if len(self._pending) > UNANSWERED:
            del self._pending[next(iter(self._pending))]
        if dt is None:
            return np.zeros(3)
        self.follows, controller = STOP if command is None else TWIST, self._law.controller
        controller.shaper.limits = self._stopping if command is None else self._driving
        return controller.accel(np.zeros(3) if command is None else command, sensed.twist, dt)

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
        return self._gripping.apply(self._law.controller.fuse(
            sensed.steering, sensed.wheel_rate, sensed.twist, dynamics)).copy()
