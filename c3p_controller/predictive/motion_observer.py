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
from c3p_kernels.compiled import borrowed, kernel
from c3p_kernels.elementary import wrap_angle

# odometry further from the prediction was set from outside: restart, m and rad
JUMP = 0.05

# longest prediction step, s
SUBSTEP = 0.0101

# a torque that acts for less than this is left out, s
SHORTEST = 1e-9

# begin of a torque that acts already, s from now
ALWAYS = np.array([-math.inf])

# pending torques that memory is kept for at first: a latency of 0.15 s at 200 Hz
PENDING = 32


@kernel
def _carry(model, state, torque, wrench, duration, rate, after):
    # the state `duration` later under one torque
    steps = max(1, math.ceil(duration / SUBSTEP))
    for _ in range(steps):
        advance(model, state, torque, wrench, duration / steps, rate, after)
        for j in range(len(state)):
            state[j] = after[j]


@kernel
def _duration(begins, count, k, end):
    # for how long torque k of an `InputDelay` acts from now to `end`, s
    stop = begins[k + 1] if k + 1 < count else math.inf
    duration = min(stop, end) - max(begins[k], 0.0)
    return duration if duration > SHORTEST else 0.0


@kernel
def _carry_through(model, state, begins, torques, count, end, wrench, work):
    # the state at `end`, s from now, under the torques of an `InputDelay`
    for k in range(count):
        duration = _duration(begins, count, k, end)
        if duration > 0.0:
            _carry(model, state, torques[k], wrench, duration, work[0], work[1])


@kernel
def _pass_time(begins, torques, count, dt):
    # drop the torques that are over `dt` s later; returns how many are left
    for k in range(count):
        begins[k] -= dt
    over = 0
    while over < count - 1 and begins[over + 1] <= 0.0:
        over += 1
    if over > 0:
        for k in range(count - over):
            begins[k] = begins[k + over]
            for j in range(torques.shape[1]):
                torques[k, j] = torques[k + over, j]
    return count - over


@kernel
def _correct(model, state, pose, steering, dt, bandwidth, disturbance_bandwidth, limit, wrench,
             error, pull):
    # correction of a predicted state by a sample; returns False where the odometry was set
    ex, ey = pose[0] - state[0], pose[1] - state[1]
    turn = wrap_angle(pose[2] - state[2])
    if math.hypot(ex, ey) > JUMP or abs(turn) > JUMP:
        return False
    c, s = math.cos(state[2]), math.sin(state[2])
    error[0] = c * ex + s * ey
    error[1] = c * ey - s * ex
    error[2] = turn
    beta = math.exp(-bandwidth * dt)
    slow = math.exp(-disturbance_bandwidth * dt)
    first = 1.0 - beta**2 * slow
    third = (1.0 - beta)**2 * (1.0 - slow)
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


@kernel
def _foresee(model, state, begins, torques, count, latency, wrench, work, ahead):
    # the state when a torque that is sent now begins to act
    for j in range(len(state)):
        ahead[j] = state[j]
    _carry_through(borrowed(model), borrowed(ahead), begins, borrowed(torques), count, latency,
                   borrowed(wrench), borrowed(work))


@kernel
def _observe(model, state, begins, torques, count, latency, pose, steering, dt, bandwidth,
             disturbance_bandwidth, limit, wrench, work, ahead):
    # a cycle of `MotionObserver`; returns the number of torques left, whether the pose was near
    # the prediction, and speed and saturation
    _carry_through(borrowed(model), borrowed(state), begins, borrowed(torques), count, dt,
                   borrowed(wrench), borrowed(work))
    count = _pass_time(begins, torques, count, dt)
    known = _correct(borrowed(model), borrowed(state), pose, steering, dt, bandwidth,
                     disturbance_bandwidth, limit, wrench, borrowed(work)[0], borrowed(work)[1])
    if known:
        _foresee(model, state, begins, torques, count, latency, wrench, work, ahead)
    saturation = max(abs(wrench[0]) / limit[0], abs(wrench[1]) / limit[1])
    return count, known, math.hypot(state[3], state[4]), saturation


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
    state : (6 + n,) array
        Estimate at the last sample, as in _kernels.py.
    ahead : (6 + n,) array
        Estimate for the time at which a torque that is sent now begins to act.
    wrench : (3,) array, N, N, N·m
        Disturbance, in ``base_link``.
    speed : float, m/s
        Of `state`.
    saturation : float
        Force of the disturbance, as a fraction of its limits.
    """

    def __init__(self, robot: CasterRobot, losses: Array, bandwidth: float,
                 disturbance_bandwidth: float, wrench_limit: Array) -> None:
        """Start at rest."""
        self.robot = robot
        self.model = packed_model(robot.geometry, robot.caster_inertia, robot.platform, losses)
        self.bandwidth = bandwidth
        self.disturbance_bandwidth = disturbance_bandwidth
        self.wrench_limit = np.asarray(wrench_limit, float)
        n = robot.count
        self._work = np.empty((2, 6 + n))
        self.state, self.ahead = np.zeros(6 + n), np.zeros(6 + n)
        self.wrench = np.zeros(3)
        self.speed = self.saturation = 0.0
        # compile what a step alone does not
        self.predict(self.state, np.zeros(robot.efforts), 0.0)

    def soften(self, smoothing: float) -> None:
        """Set the rate, rad/s, over which the model's dry friction changes its sign."""
        self.model[2][:, STEEPNESS] = 1.0 / smoothing

    def reset(self, pose: Array, twist: Array, steering: Array) -> None:
        """Restart from the measurement, without disturbance."""
        self.state[:3] = pose
        self.state[3:6] = twist
        self.state[6:] = steering
        self.wrench[:] = 0.0
        self.speed = math.hypot(*twist[:2])
        self.saturation = 0.0

    def predict(self, state: Array, torque: Array, duration: float) -> Array:
        """Return the state `duration` later under `torque` and the disturbance."""
        after = np.empty_like(state)
        _foresee(self.model, state, ALWAYS, torque[None], 1, duration, self.wrench, self._work,
                 after)
        return after

    def foresee(self, delay: InputDelay) -> None:
        """Predict `ahead` under the pending torques of `delay`."""
        _foresee(self.model, self.state, delay.begins, delay.torques, delay.count, delay.latency,
                 self.wrench, self._work, self.ahead)

    def step(self, pose: Array, twist: Array, steering: Array, delay: InputDelay, dt: float
             ) -> Array:
        """
        Process a sample of `pose`, `twist` and `steering`; return their estimate in a row.

        The last sample was `dt` seconds ago; `delay` contains the torques since then, and
        advances by `dt`. The row is `state`, which the next step overwrites.
        """
        delay.count, known, self.speed, self.saturation = _observe(
            self.model, self.state, delay.begins, delay.torques, delay.count, delay.latency, pose,
            steering, dt, self.bandwidth, self.disturbance_bandwidth, self.wrench_limit,
            self.wrench, self._work, self.ahead)
        if not known:
            self.reset(pose, twist, steering)
            self.foresee(delay)
        return self.state


class InputDelay:
    """
    Input delay: torques of `count` wheels act after `latency`, s; the memory is the pending ones.

    Attributes
    ----------
    latency : float, s
    begins : (k,) array, s
        Time from now at which each torque begins to act, increasing; the first acts already.
    torques : (k, efforts) array, N·m
    count : int
        Rows in use of both.

    Examples
    --------
    >>> delay = InputDelay(1, 0.01)
    >>> delay.add(np.ones(1))
    >>> delay.begins[:delay.count].tolist(), delay.torques[:delay.count, 0].tolist()
    ([-inf, 0.01], [0.0, 1.0])
    """

    def __init__(self, count: int, latency: float) -> None:
        """Start with no torque."""
        if not 0.0 <= latency < 1.0:
            raise ValueError(f'latency = {latency}: must be from 0 to below 1 s')
        self.begins, self.torques = np.empty(PENDING), np.empty((PENDING, count))
        self.change(latency, [])

    def reset(self) -> None:
        """Drop all torques; zero acts."""
        self.begins[0] = -np.inf
        self.torques[0] = 0.0
        self.count = 1

    def change(self, latency: float, sent: list[tuple[float, Array]]) -> None:
        """Set the latency; `sent` are the last torques as (time before now, torque), in order."""
        self.reset()
        for ago, torque in sent:
            self._append(latency - ago, torque)
        self.latency = latency
        self.count = _pass_time(self.begins, self.torques, self.count, 0.0)

    def add(self, torque: Array) -> None:
        """Send `torque` now."""
        self._append(self.latency, torque)

    def _append(self, begin: float, torque: Array) -> None:
        k = self.count
        if k == len(self.begins):
            self.begins = np.concatenate([self.begins, np.empty(k)])
            self.torques = np.concatenate([self.torques, np.empty_like(self.torques)])
        self.begins[k] = begin
        self.torques[k] = torque
        self.count = k + 1
