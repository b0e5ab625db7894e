# SPDX-License-Identifier: Apache-2.0
"""
The papers' velocity controller as one law of wheel torques.

Paper I, Fig. 5 in one call: velocity loop, inverse dynamics, fusion. The nodes run the same
functions in the same order, with a topic between each two.
"""

from __future__ import annotations

from c3p_controller.fusion import OUR_READING, FusionOptions
from c3p_controller.law import Asked, Sensed
from c3p_controller.reference import ReferenceLimits
from c3p_controller.velocity_controller import VelocityController, VelocityGains
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT, inverse_dynamics


class PaperLaw:
    """
    Velocity loop, inverse dynamics and fusion: a `TorqueLaw`.

    The twist that is asked for is all it uses; a reference ahead is ignored.

    Parameters
    ----------
    robot : CasterRobot
    gains : VelocityGains or None
        None: the defaults.
    limits : ReferenceLimits or None
        None: the defaults.
    virtual_steering_weight : float
        w_s of the inverse dynamics and of the friction compensation; 1 is the papers' reading.
    options : FusionOptions
        How to read eq. (13).

    Attributes
    ----------
    controller : VelocityController
        Its gains, `shaper.limits`, `virtual_steering_weight` and `options` may be changed between
        steps.

    Examples
    --------
    >>> import numpy as np
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> law, still = PaperLaw(robot), np.zeros(3)
    >>> sensed = Sensed(0.0, still, still, still, still)
    >>> law.reset(sensed)
    >>> torque = law.step(sensed, Asked(np.array([0.0, 0.3, 0.0])), 0.005)
    >>> bool((torque > 0.0).all())
    True
    """

    def __init__(self, robot: CasterRobot, gains: VelocityGains | None = None,
                 limits: ReferenceLimits | None = None,
                 virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT,
                 options: FusionOptions = OUR_READING) -> None:
        """Start from rest."""
        self.controller = VelocityController(robot, gains or VelocityGains(),
                                             limits or ReferenceLimits(),
                                             virtual_steering_weight, options)

    @property
    def limit(self) -> Array:
        """Largest torque of each wheel (n,) N·m; may be lowered between steps."""
        return self.controller.limit

    @limit.setter
    def limit(self, limit: Array) -> None:
        """Take other limits."""
        self.controller.limit = limit

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r, (3,) in ``base_link``."""
        return self.controller.reference

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the sensed twist (rest when left out)."""
        self.controller.reset(None if sensed is None else sensed.twist)

    def step(self, sensed: Sensed, asked: Asked, dt: float) -> Array:
        """
        Return the wheel torques, limited, (n,) N·m.

        Parameters
        ----------
        sensed : Sensed
        asked : Asked
            Only the twist is used.
        dt : float, s
            Since the last call; greater than zero.
        """
        controller = self.controller
        accel = controller.ask(asked.twist, sensed.twist, dt)
        dynamics = inverse_dynamics(controller.robot, sensed.steering, sensed.twist, accel,
                                    controller.virtual_steering_weight)
        return controller.fuse(sensed.steering, sensed.wheel_rate, sensed.twist, dynamics)
