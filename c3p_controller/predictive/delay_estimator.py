# SPDX-License-Identifier: Apache-2.0
"""
Estimate of the input delay from odometry and the torques that were sent.

The reduced model is affine in the torques, ``ν̇ = A(θ_s) τ + b(θ_s, ν)``. A candidate delay d
explains the motion by ``A τ(t − d)``. Pose and explanations pass the same filter, the innovation
of a linear observer with the poles λ, λ, β,

    H(s) = s³ / ((s + λ)² (s + β)),     y = H (p − b/s²),     u_d = H A τ(t − d)/s²

on the floor. It takes out noise of the odometry above λ, and slopes, friction and other slow
disturbances below β. With sums over the past, forgotten with a time constant, each candidate has
the cost of its best gain g, which takes up wrong masses:

    J_d = Σ|y|² − 2 g Σ y·u_d + g² Σ|u_d|²,      G_LEAST ≤ g ≤ G_MOST

The estimate moves to the candidate of least cost only where the motion contradicts the present
one. Torques that hardly change excite nothing, and the estimate stays.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.predictive._delay_kernels import SPACING, learn_alone, resend_alone
from c3p_controller.predictive.motion_observer import InputDelay
from c3p_controller.predictive.states import DelayEvidence
from c3p_description.model import Array, CasterRobot


class DelayEstimator:
    """
    Estimates the input delay; the memory is the estimate and its evidence.

    Parameters
    ----------
    robot : CasterRobot
    first : float, s
        First estimate.
    longest : float, s
        Longest candidate.

    Attributes
    ----------
    memory : DelayEvidence
    """

    def __init__(self, robot: CasterRobot, first: float, longest: float) -> None:
        """Start with the delay `first`."""
        self._first = first
        # yaw as seen at the casters
        scale = 0.5 * float(np.mean(np.sum(robot.hip_position**2, axis=1)))
        self.memory = DelayEvidence.new(
            (robot.count, robot.efforts, candidates_up_to(longest)), scale=scale)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the memory in the `block` of a DelayEvidence from now on."""
        block[:] = self.memory.block
        self.memory = DelayEvidence.of(block, self.memory.values)

    @property
    def latency(self) -> float:
        """The estimate, s."""
        return float(self.memory.latency[0])

    def reset(self) -> None:
        """Forget the estimate and its evidence."""
        memory = self.memory
        memory.latency[0] = self._first
        for sums in (memory.total, memory.forced, memory.cross, memory.own):
            sums[:] = 0.0
        memory.seen[0] = 0.0
        self.restart()

    def restart(self) -> None:
        """Forget the torques and the motion, as after a pause; keep the estimate."""
        self.memory.newest[0] = 0.0
        self.memory.filled[0] = 0.0
        self.memory.settling[0] = 0.0

    def step(self, model: tuple[Array, ...], state: Array, pose: Array, torque: Array, dt: float,
             trusted: bool = True) -> bool:
        """
        Process a sample; return whether the estimate has changed.

        Parameters
        ----------
        model : tuple
            Of `packed_model`.
        state : (6 + n,) array
            Estimate at the sample, of which twist and steering are used.
        pose : (3,) array
            Odometry, m and rad.
        torque : (m,) array, N·m
            Sent since the last sample.
        dt : float, s
            Since the last sample.
        trusted : bool
            False while a wheel slips: nothing is learned.
        """
        return bool(learn_alone(self.memory.block, self.memory.values, model,
                                 (state, pose, torque), dt, trusted))

    def resend(self, delay: InputDelay) -> None:
        """Replace the torques of `delay` by those that act at the estimate, and its latency."""
        pending = delay.memory
        resend_alone(self.memory.block, self.memory.values, pending.block, pending.values)


def candidates_up_to(longest: float) -> int:
    """Return the number of candidates of the delay from 0 to `longest`, s."""
    return max(2, math.ceil(longest / SPACING - 1e-9) + 1)
