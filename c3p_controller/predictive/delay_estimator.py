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

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import forward_derivatives
from c3p_kinematics._planar_kernels import wrap_angle
from c3p_kinematics.compiled import kernel

# between candidates, s
SPACING = 0.005

# poles of the filter, rad/s, and time constant of the sums, s
FAST, SLOW, MEMORY = 15.0, 5.0, 1.0

# limits of the gain g: masses and moments of inertia by up to a factor of 2 off
G_LEAST, G_MOST = 0.5, 2.0

# the estimate moves at least as far as the spacing, s, where the best candidate explains this part
# of Σ|y|², and the present delay costs this many times as much
CHANGE, EXPLAINED, CONTRAST = 0.005, 0.8, 2.0

# and where the difference is this part of Σ|y|², and of the motion that b alone explains: so far
# off may b be, most of which is friction where torques are small
WRONG, FREE_WRONG = 0.005, 0.1

# least duration of the torques that are compared, s
SEEN = 0.1

# after a restart in motion the filters settle, s: the velocity after a pause is a mean of the
# pause, and other torques acted in it, as of the brakes
SETTLE, MOVING = 0.8, 0.01

# samples in the memory of sent torques
SAMPLES = 256


@kernel
def impulse_at(times: Array, impulses: Array, newest: int, filled: int, when: float, place: int,
               impulse: Array) -> int:
    """
    Write the impulse of the torques sent before `when` into `impulse`; return its place.

    `times` and `impulses` are a ring of `filled` samples, the last at `newest`; the search begins
    `place` samples before it.
    """
    size, back = len(times), place
    while back < filled - 1 and times[(newest - back) % size] > when:
        back += 1
    early = (newest - back) % size
    late = (early + 1) % size
    part = 0.0
    if back > 0 and when > times[early]:
        part = (when - times[early]) / (times[late] - times[early])
    for j in range(impulses.shape[1]):
        impulse[j] = impulses[early, j]
        if part > 0.0:
            impulse[j] += part * (impulses[late, j] - impulses[early, j])
    return back


@kernel
def observe(model: tuple, state: Array, pose: Array, ring: tuple[Array, Array], newest: int,
            filled: int, work: tuple[Array, ...], memory: tuple[Array, Array, Array, Array],
            dt: float, scale: float, seen: bool) -> None:
    """
    Advance the filters and sums of `memory`: (motion, free, bank, sums).

    Of `model`, `state` and `pose` see `DelayEstimator.step`; `dt` is the time since the last
    sample. `ring`, `newest` and `filled` are those of `impulse_at`, `work` is scratch memory. The
    filters of the pose, motion, and of the part of b, free, are (3, 3), those of the candidates,
    bank, (k, 3, 3): rows X, Y, φ, columns position, velocity and disturbance. The first row of
    sums (3, k) has Σ|y|² and the same of free, then follow Σ y·u_d and Σ|u_d|². `scale` weighs φ²
    as X² and Y²; without `seen` nothing is summed.
    """
    times, impulses = ring
    motion, free, bank, sums = memory
    accel, d_steering, d_twist, matrix, none, wrench, before, after, past = work
    vx, vy, w = state[3], state[4], state[5]
    forward_derivatives(model, state[6:], state[3:6], none, wrench, accel, d_steering, d_twist,
                        matrix)
    # to the floor: b and the columns of A
    c, s = math.cos(pose[2]), math.sin(pose[2])
    bx, by = accel[0] - w * vy, accel[1] + w * vx
    accel[0], accel[1] = c * bx - s * by, s * bx + c * by
    for j in range(matrix.shape[1]):
        ax, ay = matrix[0, j], matrix[1, j]
        matrix[0, j], matrix[1, j] = c * ax - s * ay, s * ax + c * ay
    # corrections of the observer, see motion_observer.py
    beta, slow = math.exp(-FAST * dt), math.exp(-SLOW * dt)
    first, third = 1.0 - beta * beta * slow, (1.0 - beta)**2 * (1.0 - slow)
    second = (3.0 - 2.0 * beta - slow - first - 0.5 * third) / dt
    third /= dt * dt
    keep, half = math.exp(-dt / MEMORY), 0.5 * dt * dt
    total, forced = 0.0, 0.0
    for i in range(3):
        # the part of b alone
        push = accel[i] + free[i, 2]
        part = free[i, 0] + dt * free[i, 1] + half * push
        free[i, 1] += dt * push - second * part
        free[i, 0] = part - first * part
        free[i, 2] -= third * part
        forced += (scale if i == 2 else 1.0) * part * part
        push = accel[i] + motion[i, 2]
        motion[i, 0] += dt * motion[i, 1] + half * push
        motion[i, 1] += dt * push
        y = pose[i] - motion[i, 0]
        if i == 2:
            y = wrap_angle(y)
        motion[i, 0] += first * y
        motion[i, 1] += second * y
        motion[i, 2] += third * y
        past[i] = y
        total += (scale if i == 2 else 1.0) * y * y
    if seen:
        sums[0, 0] = keep * sums[0, 0] + dt * total
        sums[0, 1] = keep * sums[0, 1] + dt * forced
    now = times[newest]
    recent, older = 0, 0
    for k in range(len(bank)):
        recent = impulse_at(times, impulses, newest, filled, now - k * SPACING, recent, after)
        older = impulse_at(times, impulses, newest, filled, now - k * SPACING - dt, older, before)
        cross, own = 0.0, 0.0
        for i in range(3):
            push = bank[k, i, 2]
            for j in range(matrix.shape[1]):
                push += matrix[i, j] * (after[j] - before[j]) / dt
            u = bank[k, i, 0] + dt * bank[k, i, 1] + half * push
            bank[k, i, 1] += dt * push - second * u
            bank[k, i, 0] = u - first * u
            bank[k, i, 2] -= third * u
            weight = scale if i == 2 else 1.0
            cross += weight * past[i] * u
            own += weight * u * u
        if seen:
            sums[1, k] = keep * sums[1, k] + dt * cross
            sums[2, k] = keep * sums[2, k] + dt * own


@kernel
def cost(sums: Array, k: int) -> float:
    """Return J of candidate k with its best gain."""
    if sums[2, k] <= 0.0:
        return sums[0, 0]
    gain = min(max(sums[1, k] / sums[2, k], G_LEAST), G_MOST)
    return sums[0, 0] - gain * (2.0 * sums[1, k] - gain * sums[2, k])


@kernel
def judge(sums: Array, used: float) -> tuple[float, float, float]:
    """Return the delay of least cost, s, that cost, and the cost of the delay `used`."""
    best, least = 0, cost(sums, 0)
    count = sums.shape[1]
    for k in range(1, count):
        value = cost(sums, k)
        if value < least:
            best, least = k, value
    # the parabola through three neighbours
    delay = SPACING * best
    if 0 < best < count - 1:
        left, right = cost(sums, best - 1) - least, cost(sums, best + 1) - least
        if left + right > 0.0:
            delay += 0.5 * SPACING * (left - right) / (left + right)
    at = min(used / SPACING, count - 1.0)
    k = min(int(at), count - 2)
    return delay, least, cost(sums, k) + (at - k) * (cost(sums, k + 1) - cost(sums, k))


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
    latency : float, s
        The estimate.
    """

    def __init__(self, robot: CasterRobot, first: float, longest: float) -> None:
        """Start with the delay `first`."""
        n, m = robot.count, robot.efforts
        count = max(2, math.ceil(longest / SPACING - 1e-9) + 1)
        self._first = first
        self._ring = np.zeros(SAMPLES), np.zeros((SAMPLES, m))
        self._motion, self._free = np.zeros((3, 3)), np.zeros((3, 3))
        self._bank = np.zeros((count, 3, 3))
        self._sums = np.zeros((3, count))
        self._work = (np.zeros(3), np.zeros((3, n)), np.zeros((3, 3)), np.zeros((3, m)),
                      np.zeros(m), np.zeros(3), np.zeros(m), np.zeros(m), np.zeros(3))
        # yaw as seen at the casters
        self._scale = 0.5 * float(np.mean(np.sum(robot.hip_position**2, axis=1)))
        self.reset()

    def reset(self) -> None:
        """Forget the estimate and its evidence."""
        self.latency = self._first
        self._sums[:] = 0.0
        self._seen = 0.0
        self.restart()

    def restart(self) -> None:
        """Forget the torques and the motion, as after a pause; keep the estimate."""
        self._filled, self._newest, self._settling = 0, 0, 0.0

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
        times, impulses = self._ring
        if self._filled == 0:
            # a robot at rest, or one that moves as estimated
            self._bank[:], self._free[:] = 0.0, 0.0
            c, s = math.cos(pose[2]), math.sin(pose[2])
            vx, vy, w = state[3:6]
            self._motion[:, 0], self._motion[:, 2] = pose, 0.0
            self._motion[:, 1] = c * vx - s * vy, s * vx + c * vy, w
            self._settling = SETTLE if max(abs(vx), abs(vy), abs(w)) > MOVING else 0.0
            self._newest, self._filled, times[0], impulses[0] = 0, 1, 0.0, 0.0
            return False
        last, self._newest = self._newest, (self._newest + 1) % SAMPLES
        times[self._newest] = times[last] + dt
        impulses[self._newest] = impulses[last] + dt * torque
        self._filled = min(self._filled + 1, SAMPLES)
        self._settling = max(self._settling - dt, 0.0)
        trusted = trusted and self._settling == 0.0
        observe(model, state, pose, self._ring, self._newest, self._filled, self._work,
                (self._motion, self._free, self._bank, self._sums), dt, self._scale, trusted)
        if not trusted:
            return False
        if any(torque.tolist()):
            self._seen += dt
        if self._seen < SEEN:
            return False
        delay, least, present = judge(self._sums, self.latency)
        total, free = self._sums[0, :2]
        if (abs(delay - self.latency) < CHANGE or least > (1.0 - EXPLAINED) * total
                or present < CONTRAST * least
                or present - least < max(WRONG * total, FREE_WRONG * free)):
            return False
        self.latency = delay
        return True

    def sent(self, duration: float) -> list[tuple[float, Array]]:
        """Return the torques sent in the last `duration`, s, as (time before now, torque)."""
        times, impulses = self._ring
        pieces = []
        for back in range(self._filled - 1):
            late, early = (self._newest - back) % SAMPLES, (self._newest - back - 1) % SAMPLES
            length = times[late] - times[early]
            begin = times[self._newest] - times[early]
            pieces.append((begin, (impulses[late] - impulses[early]) / length))
            if begin > duration:
                break
        return pieces[::-1]
