# SPDX-License-Identifier: Apache-2.0
"""
Model of a spring-applied holding brake of a joint: a stiff bristle that slips above its torque.

    τ = −k (θ − θ₀) − c θ̇,  |τ| ≤ τ_max

θ₀ is the angle at which the brake has closed; where |τ| would be larger it moves along (Dahl).
"""

from __future__ import annotations

# from the order until the brake holds, or is free, s
DELAY = 0.03

# stiffness, N·m/rad, and damping, N·m·s/rad: 0.016 kg·m² (a third of 30 kg on a wheel of 4 cm)
# settle in 40 ms, and steps of 1 ms are stable
STIFFNESS = 25.0
DAMPING = 1.0


class HoldingBrake:
    """
    State of a brake.

    Parameters
    ----------
    torque : float, N·m
        Largest torque; 0 without a brake.
    angle : float, rad
        Of the joint, at which it is closed.
    """

    def __init__(self, torque: float, angle: float = 0.0) -> None:
        """Start closed."""
        self.torque = torque
        self._held = angle
        self._holds = True
        self._waited = 0.0

    def step(self, dt: float, closed: bool, angle: float, rate: float) -> float:
        """
        Let `dt`, s, pass with the order `closed`; return the torque on the joint, N·m.

        `angle` and `rate` are those of the joint, rad and rad/s.
        """
        if self.torque == 0.0:
            return 0.0
        self._waited = 0.0 if closed == self._holds else self._waited + dt
        if self._waited > DELAY:
            self._holds = closed
            self._held = angle
            self._waited = 0.0
        if not self._holds:
            return 0.0
        elastic = -STIFFNESS * (angle - self._held)
        limited = max(-self.torque, min(self.torque, elastic))
        # it slips
        self._held = angle + limited / STIFFNESS
        return max(-self.torque, min(self.torque, limited - DAMPING * rate))
