# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Observer of pose, twist and disturbance from odometry and torques, and the input delay.

The model predicts the motion under the acting torques; the pose of the odometry corrects it so
that errors decay with the poles β, β, β_w = e^(−ω₀ dt), e^(−ω₀ dt), e^(−ω_w dt):

    e = Rᵀ(pose − p̂)       p̂ ← p̂ + l₁ R e       ν̂ ← ν̂ + l₂ e/dt       ŵ ← ŵ + M l₃ e/dt²
    l₁ = 1 − β²β_w,   l₃ = (1 − β)²(1 − β_w),   l₂ = 3 − 2β − β_w − l₁ − l₃/2

The disturbance ŵ (a wrench in ``base_link``) is the unmodelled rest: slopes, pushes, wrong masses,
friction. A torque sent now acts after the latency of the loop: `InputDelay` keeps the torques in
between.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.predictive._kernels import advance
from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import STEEPNESS, mass_times, packed_model
from c3p_kinematics._planar_kernels import wrap_angle
from c3p_kinematics.compiled import kernel

# odometry further from the prediction was set from outside: restart, m and rad
JUMP = 0.05

# longest prediction step, s
SUBSTEP = 0.0101


@kernel
def _carry(model, state, torque, wrench, dt, steps, rate, after):
    for _ in range(steps):
        advance(model, state, torque, wrench, dt, rate, after)
        for j in range(len(state)):
            state[j] = after[j]


@kernel
def _correct(model, state, pose, steering, dt, bandwidth, disturbance_bandwidth, limit, wrench,
             error, pull):
    # correction of a predicted state by a sample; returns False where the odometry was set
    ex, ey = pose[0] - state[0], pose[1] - state[1]
    turn = wrap_angle(pose[2] - state[2])
    if math.hypot(ex, ey) > JUMP or abs(turn) > JUMP:
        return False
    c, s = math.cos(state[2]), math.sin(state[2])
    error[0], error[1], error[2] = c * ex + s * ey, c * ey - s * ex, turn
    beta, slow = math.exp(-bandwidth * dt), math.exp(-disturbance_bandwidth * dt)
    first, third = 1.0 - beta**2 * slow, (1.0 - beta)**2 * (1.0 - slow)
    second = 3.0 - 2.0 * beta - slow - first - 0.5 * third
    state[0] += first * ex
    state[1] += first * ey
    state[2] += first * turn
    for j in range(3):
        state[3 + j] += second / dt * error[j]
        error[j] *= third / dt**2
    for i in range(len(steering)):
        state[6 + i] = steering[i]
    mass_times(model, state[6:], error, pull)
    for j in range(3):
        wrench[j] = min(max(wrench[j] + pull[j], -limit[j]), limit[j])
    return True


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
    """

    def __init__(self, robot: CasterRobot, losses: Array, bandwidth: float,
                 disturbance_bandwidth: float, wrench_limit: Array) -> None:
        """Start at rest."""
        self.robot = robot
        self.model = packed_model(robot.geometry, robot.caster_inertia, robot.platform, losses)
        self.bandwidth, self.disturbance_bandwidth = bandwidth, disturbance_bandwidth
        self.wrench_limit = np.asarray(wrench_limit, float)
        n = robot.count
        self._rate, self._after = np.empty(6 + n), np.empty(6 + n)
        self._error, self._pull = np.empty(3), np.empty(3)
        self.state = np.zeros(6 + n)
        self.wrench = np.zeros(3)

    def soften(self, smoothing: float) -> None:
        """Set the rate, rad/s, over which the model's dry friction changes its sign."""
        self.model[2][:, STEEPNESS] = 1.0 / smoothing

    def reset(self, pose: Array, twist: Array, steering: Array) -> None:
        """Restart from the measurement, without disturbance."""
        self.state[:3], self.state[3:6], self.state[6:] = pose, twist, steering
        self.wrench[:] = 0.0

    def predict(self, state: Array, torque: Array, duration: float) -> Array:
        """Return the state `duration` later under `torque` and the disturbance."""
        steps = max(1, math.ceil(duration / SUBSTEP))
        state = state.copy()
        _carry(self.model, state, torque, self.wrench, duration / steps, steps, self._rate,
               self._after)
        return state

    def step(self, pose: Array, twist: Array, steering: Array, torques: list[tuple[float, Array]],
             dt: float) -> Array:
        """
        Process a sample of `pose`, `twist` and `steering`; return their estimate in a row.

        `torques` are those since the last sample, `dt` seconds ago, with their durations.
        """
        state = self.state
        for duration, torque in torques:
            state = self.predict(state, torque, duration)
        if not _correct(self.model, state, pose, steering, dt, self.bandwidth,
                        self.disturbance_bandwidth, self.wrench_limit, self.wrench, self._error,
                        self._pull):
            self.reset(pose, twist, steering)
            return self.state
        self.state = state
        return state


class InputDelay:
    """
    Input delay: torques of `count` wheels act after `latency`, s; the memory is the pending ones.

    Examples
    --------
    >>> delay = InputDelay(1, 0.01)
    >>> delay.add(np.ones(1))
    >>> [(round(d, 4), float(t[0])) for d, t in delay.past(0.015)]
    [(0.01, 0.0), (0.005, 1.0)]
    """

    def __init__(self, count: int, latency: float) -> None:
        """Start with no torque."""
        if not 0.0 <= latency < 1.0:
            raise ValueError(f'latency = {latency}: must be from 0 to below 1 s')
        self.latency = latency
        self._zero = np.zeros(count)
        self.reset()

    def reset(self) -> None:
        """Drop all torques; zero acts."""
        # (time from now at which it begins to act, torque); the first acts already
        self._sent: list[tuple[float, Array]] = [(-np.inf, self._zero)]

    def change(self, latency: float, sent: list[tuple[float, Array]]) -> None:
        """Set the latency; `sent` are the last torques as (time before now, torque), in order."""
        self.latency = latency
        self._sent = [(-np.inf, self._zero), *((latency - ago, torque) for ago, torque in sent)]
        self._forget()

    def add(self, torque: Array) -> None:
        """Send `torque` now."""
        self._sent.append((self.latency, np.array(torque, float)))

    def past(self, dt: float) -> list[tuple[float, Array]]:
        """Advance the time by `dt`; return the torques that acted as (duration, torque)."""
        acted = self._pieces(0.0, dt)
        self._sent = [(begin - dt, torque) for begin, torque in self._sent]
        self._forget()
        return acted

    def _forget(self) -> None:
        # all but the last of those that began are over
        while len(self._sent) > 1 and self._sent[1][0] <= 0.0:
            del self._sent[0]

    def pending(self) -> list[tuple[float, Array]]:
        """Return the torques that act during the latency from now on, as (duration, torque)."""
        return self._pieces(0.0, self.latency)

    def _pieces(self, begin: float, end: float) -> list[tuple[float, Array]]:
        pieces = []
        for k, (start, torque) in enumerate(self._sent):
            stop = self._sent[k + 1][0] if k + 1 < len(self._sent) else np.inf
            duration = min(stop, end) - max(start, begin)
            if duration > 1e-9:
                pieces.append((duration, torque))
        return pieces
