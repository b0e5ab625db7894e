# SPDX-License-Identifier: Apache-2.0
"""
Observer of pose, twist and disturbance from odometry and torques, and the input delay.

The model predicts the motion under the acting torques; the pose of the odometry corrects it so
that errors decay with the poles β, β, β_w = e^(−ω₀ dt), e^(−ω₀ dt), e^(−ω_w dt):

    e = Rᵀ(pose − p̂)       p̂ ← p̂ + l₁ R e       ν̂ ← ν̂ + l₂ e/dt       ŵ ← ŵ + M l₃ e/dt²
    l₁ = 1 − β²β_w,   l₃ = (1 − β)²(1 − β_w),   l₂ = 3 − 2β − β_w − l₁ − l₃/2

The disturbance ŵ (a wrench in ``base_link``) is the unmodelled rest: slopes, pushes, wrong masses,
friction. A torque sent now acts after the latency of the loop: `InputDelay` keeps the torques in
between. The steps are in
_observer_kernels.py, the states in states.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.predictive._observer_kernels import (
    JUMP,
    SHORTEST,
    observe_alone,
    pass_alone,
    predict_alone,
)
from c3p_controller.predictive.states import MotionEstimate, PendingTorques
from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import STEEPNESS, packed_model

__all__ = ['JUMP', 'InputDelay', 'OdometrySample', 'MotionObserver']

# pending torques that memory is kept for at first: those of the delay estimator's whole memory
# may become pending at once
PENDING = 320


class OdometrySample(NamedTuple):
    """Sample of the odometry: pose and twist (3,), and of the steering angles (n,)."""

    pose: Array
    twist: Array
    steering: Array


class MotionObserver:
    """
    Estimates pose, twist and disturbance; the memory is the estimate.

    Parameters
    ----------
    robot : CasterRobot
    losses : (n, 6) array
        Friction of the prediction, as ``CasterRobot.losses``.
    bandwidth, disturbance_bandwidth : float, rad/s
        ω₀ of pose and twist, ω_w of the disturbance.
    wrench_limit : (3,) array, N, N, N·m
        Saturation limit of the disturbance estimate.

    Attributes
    ----------
    memory : MotionEstimate
    """

    def __init__(self, robot: CasterRobot, losses: Array, bandwidth: float,
                 disturbance_bandwidth: float, wrench_limit: Array) -> None:
        """Start at rest."""
        self.robot = robot
        self.model = packed_model(robot.geometry, robot.caster_inertia, robot.platform, losses)
        self.memory = MotionEstimate.new(robot.count, bandwidth=bandwidth,
                                         disturbance_bandwidth=disturbance_bandwidth)
        self.memory.limit[:] = wrench_limit

    def use(self, block: Array) -> None:
        """Keep the memory in the `block` of a MotionEstimate from now on."""
        block[:] = self.memory.block
        self.memory = MotionEstimate.of(block, self.robot.count)

    @property
    def state(self) -> Array:
        """Estimate at the last sample, (6 + n,) as in _kernels.py."""
        return self.memory.state

    @property
    def ahead(self) -> Array:
        """Estimate for the time at which a torque that is sent now begins to act, (6 + n,)."""
        return self.memory.ahead

    @property
    def wrench(self) -> Array:
        """Disturbance in ``base_link``, (3,) N, N, N·m."""
        return self.memory.wrench

    def soften(self, smoothing: float) -> None:
        """Set the rate, rad/s, over which the model's dry friction changes its sign."""
        self.model[2][:, STEEPNESS] = 1.0 / smoothing

    def reset(self, pose: Array, twist: Array, steering: Array) -> None:
        """Restart from the measurement, without disturbance."""
        self.state[:3] = pose
        self.state[3:6] = twist
        self.state[6:] = steering
        self.wrench[:] = 0.0
        self.memory.speed[0] = math.hypot(*twist[:2])
        self.memory.saturation[0] = 0.0

    def predict(self, state: Array, torque: Array, duration: float) -> Array:
        """Return the state `duration` later under `torque` and the disturbance."""
        after = np.array(state, float)
        if duration > SHORTEST:
            predict_alone(self.memory.block, self.model, torque, duration, after)
        return after

    def step(self, pose: Array, twist: Array, steering: Array, delay: InputDelay, dt: float
             ) -> Array:
        """
        Process a sample of `pose`, `twist` and `steering`; return their estimate in a row.

        The last sample was `dt` seconds ago; `delay` contains the torques since then, and
        advances by `dt`. The row is `state`, which the next step overwrites.
        """
        observe_alone(self.memory.block, self.model, delay.memory.block, delay.memory.values,
                       OdometrySample(pose, twist, steering), dt)
        return self.state


class InputDelay:
    """
    Input delay: torques of `count` motors act after `latency`, s; the memory is the pending ones.

    Attributes
    ----------
    memory : PendingTorques
        The first torque acts already.

    Examples
    --------
    >>> delay = InputDelay(1, 0.01)
    >>> delay.add(np.ones(1))
    >>> delay.begins.tolist(), delay.torques[:, 0].tolist()
    ([-inf, 0.01], [0.0, 1.0])
    """

    def __init__(self, count: int, latency: float) -> None:
        """Start with no torque."""
        if not 0.0 <= latency < 1.0:
            raise ValueError(f'latency = {latency}: must be from 0 to below 1 s')
        self.memory = PendingTorques.new((count, PENDING), capacity=PENDING)
        self.latency = latency
        self.reset()

    @property
    def latency(self) -> float:
        """Time from the sending of a torque to its effect, s."""
        return float(self.memory.latency[0])

    @latency.setter
    def latency(self, latency: float) -> None:
        """Replace the latency of the torques that are sent from now on."""
        self.memory.latency[0] = latency

    @property
    def begins(self) -> Array:
        """Time from now at which each torque begins to act, (k,) s, increasing."""
        return self.memory.begins[:int(self.memory.count[0])]

    @property
    def torques(self) -> Array:
        """Torques that act or are pending, (k, efforts) N·m."""
        return self.memory.torques[:int(self.memory.count[0])]

    def reset(self) -> None:
        """Drop all torques; zero acts."""
        self.memory.begins[0] = -np.inf
        self.memory.torques[0] = 0.0
        self.memory.count[0] = 1

    def add(self, torque: Array) -> None:
        """Send `torque` now."""
        self.make_room()
        count = int(self.memory.count[0])
        self.memory.begins[count] = self.latency
        self.memory.torques[count] = torque
        self.memory.count[0] = count + 1

    def make_room(self) -> None:
        """Take more memory if a torque that is added has no place."""
        memory = self.memory
        rows = len(memory.begins)
        if memory.count[0] < rows:
            return
        self.memory = PendingTorques.new((memory.torques.shape[1], 2 * rows), capacity=2 * rows)
        self.latency = float(memory.latency[0])
        self.memory.count[0] = rows
        self.memory.begins[:rows] = memory.begins
        self.memory.torques[:rows] = memory.torques

    def advance(self, dt: float) -> None:
        """Advance the time by `dt`, s: torques that are over then are dropped."""
        pass_alone(self.memory.block, self.memory.values, dt)
