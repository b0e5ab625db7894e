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
from c3p_kernels.compiled import borrowed, kernel
from c3p_kernels.elementary import wrap_angle

# between candidates, s
SPACING = 0.005

# poles of the filter, rad/s, and time constant of the sums, s
FAST = 15.0
SLOW = 5.0
MEMORY = 1.0

# limits of the gain g: masses and moments of inertia by up to a factor of 2 off
G_LEAST = 0.5
G_MOST = 2.0

# the estimate moves by no less than the spacing, s, where the best candidate explains this part
# of Σ|y|², and the present delay costs this many times as much
CHANGE = 0.005
EXPLAINED = 0.8
CONTRAST = 2.0

# and where the difference is this part of Σ|y|², and of the motion that b alone explains: so far
# off may b be, most of which is friction where torques are small
WRONG = 0.005
FREE_WRONG = 0.1

# least duration of the torques that are compared, s
SEEN = 0.1

# after a restart in motion the filters settle, s: the velocity after a pause is a mean of the
# pause, and other torques acted in it, as of the brakes
SETTLE = 0.8
MOVING = 0.01

# samples in the memory of sent torques: a power of two, so that the place of one is a mask, where
# a remainder would take longer than the rest of `impulse_at`
SAMPLES = 256


def scratch(casters: int, efforts: int) -> tuple[Array, Array, Array]:
    """Return the work memory of `observe`; parts of it must stay zero."""
    return np.zeros((2, 3, 3)), np.zeros((2, 3, efforts)), np.zeros((3, casters))


@kernel
def impulse_at(times: Array, impulses: Array, newest: int, filled: int, when: float, place: int,
               impulse: Array) -> int:
    """
    Write the impulse of the torques sent before `when` into `impulse`; return its place.

    `times` and `impulses` are a ring of SAMPLES, of which `filled` are in use, the last at
    `newest`; the search begins `place` samples before it.
    """
    back = place
    while back < filled - 1 and times[(newest - back) & (SAMPLES - 1)] > when:
        back += 1
    early = (newest - back) & (SAMPLES - 1)
    late = (early + 1) & (SAMPLES - 1)
    part = 0.0
    if back > 0 and when > times[early]:
        part = (when - times[early]) / (times[late] - times[early])
    for j in range(impulses.shape[1]):
        impulse[j] = impulses[early, j]
        if part > 0.0:
            impulse[j] += part * (impulses[late, j] - impulses[early, j])
    return back


@kernel
def observe(model: tuple, state: Array, pose: Array, times: Array, impulses: Array, newest: int,
            filled: int, work: tuple[Array, Array, Array], filters: Array, sums: Array, dt: float,
            scale: float, seen: bool) -> None:
    """
    Advance the filters and sums.

    Of `model`, `state` and `pose` see `DelayEstimator.step`; `dt` is the time since the last
    sample. `times`, `impulses`, `newest` and `filled` are the ring of `impulse_at`, `work` is
    scratch memory of `scratch`. `filters` (2 + k, 3, 3) are those of the pose, of the part of b,
    and of the candidates: rows X, Y, φ, columns position, velocity and disturbance. The first row
    of sums (3, k) has Σ|y|² and the same of the part of b, then follow Σ y·u_d and Σ|u_d|².
    `scale` weighs φ² as X² and Y²; without `seen` nothing is summed.
    """
    model = borrowed(model)
    work = borrowed(work)
    state = borrowed(state)
    filters = borrowed(filters)
    sums = borrowed(sums)
    planar, efforts, d_steering = work
    accel = planar[0, 0]
    wrench = planar[0, 1]
    past = planar[0, 2]
    d_twist = planar[1]
    none = efforts[0, 0]
    before = efforts[0, 1]
    after = efforts[0, 2]
    matrix = efforts[1]
    motion = filters[0]
    free = filters[1]
    bank = filters[2:]
    vx = state[3]
    vy = state[4]
    w = state[5]
    forward_derivatives(model, state[6:6 + len(model[0])], state[3:6], none, wrench, accel,
                        d_steering, d_twist, matrix)
    # to the floor: b and the columns of A
    c, s = math.cos(pose[2]), math.sin(pose[2])
    bx, by = accel[0] - w * vy, accel[1] + w * vx
    accel[0] = c * bx - s * by
    accel[1] = s * bx + c * by
    for j in range(matrix.shape[1]):
        ax, ay = matrix[0, j], matrix[1, j]
        matrix[0, j] = c * ax - s * ay
        matrix[1, j] = s * ax + c * ay
    # corrections of the observer, see motion_observer.py
    beta = math.exp(-FAST * dt)
    slow = math.exp(-SLOW * dt)
    first = 1.0 - beta * beta * slow
    third = (1.0 - beta)**2 * (1.0 - slow)
    second = (3.0 - 2.0 * beta - slow - first - 0.5 * third) / dt
    third /= dt * dt
    keep = math.exp(-dt / MEMORY)
    half = 0.5 * dt * dt
    total = 0.0
    forced = 0.0
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
    recent = 0
    older = 0
    for k in range(len(bank)):
        recent = impulse_at(times, impulses, newest, filled, now - k * SPACING, recent, after)
        older = impulse_at(times, impulses, newest, filled, now - k * SPACING - dt, older, before)
        cross = 0.0
        own = 0.0
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
    best = 0
    least = cost(sums, 0)
    count = sums.shape[1]
    for k in range(1, count):
        value = cost(sums, k)
        if value < least:
            best = k
            least = value
    # the parabola through three neighbours
    delay = SPACING * best
    if 0 < best < count - 1:
        left = cost(sums, best - 1) - least
        right = cost(sums, best + 1) - least
        if left + right > 0.0:
            delay += 0.5 * SPACING * (left - right) / (left + right)
    at = min(used / SPACING, count - 1.0)
    k = min(int(at), count - 2)
    return delay, least, cost(sums, k) + (at - k) * (cost(sums, k + 1) - cost(sums, k))


@kernel
def better(sums: Array, used: float) -> float:
    """Return the delay of least cost, s; the one `used` unless the motion contradicts it."""
    delay, least, present = judge(sums, used)
    total = sums[0, 0]
    free = sums[0, 1]
    if (abs(delay - used) < CHANGE or least > (1.0 - EXPLAINED) * total
            or present < CONTRAST * least
            or present - least < max(WRONG * total, FREE_WRONG * free)):
        return used
    return delay


@kernel
def learn(model: tuple, state: Array, pose: Array, torque: Array, times: Array, impulses: Array,
          place: Array, work: tuple[Array, Array, Array], filters: Array, sums: Array,
          durations: Array, dt: float, scale: float, trusted: bool, used: float) -> float:
    """
    Store the `torque` since the last sample, advance all as `observe`; return the delay, s.

    `place` are the newest sample and the number of samples, `durations` (2,), s, the time until
    the filters have settled, and that of the torques seen. The delay is the one `used` until
    there is enough to judge it by.
    """
    last = place[0]
    newest = (last + 1) & (SAMPLES - 1)
    place[0], place[1] = newest, min(place[1] + 1, SAMPLES)
    times[newest] = times[last] + dt
    pushed = False
    for j in range(len(torque)):
        impulses[newest, j] = impulses[last, j] + dt * torque[j]
        pushed = pushed or torque[j] != 0.0
    durations[0] = max(durations[0] - dt, 0.0)
    trusted = trusted and durations[0] == 0.0
    observe(model, state, pose, times, impulses, newest, place[1], work, filters, sums, dt, scale,
            trusted)
    if trusted and pushed:
        durations[1] += dt
    return better(sums, used) if trusted and durations[1] >= SEEN else used


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
        n = robot.count
        m = robot.efforts
        count = max(2, math.ceil(longest / SPACING - 1e-9) + 1)
        self._first = first
        self._times, self._impulses = np.zeros(SAMPLES), np.zeros((SAMPLES, m))
        self._filters, self._sums = np.zeros((2 + count, 3, 3)), np.zeros((3, count))
        self._work = scratch(n, m)
        # newest sample, and number of samples; time until the filters have settled, and that of
        # the torques seen, s
        self._place, self._durations = np.zeros(2, np.int64), np.zeros(2)
        # yaw as seen at the casters
        self._scale = 0.5 * float(np.mean(np.sum(robot.hip_position**2, axis=1)))
        self.reset()

    def reset(self) -> None:
        """Forget the estimate and its evidence."""
        self.latency = self._first
        self._sums[:] = 0.0
        self._durations[1] = 0.0
        self.restart()

    def restart(self) -> None:
        """Forget the torques and the motion, as after a pause; keep the estimate."""
        self._place[:] = 0
        self._durations[0] = 0.0

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
        if not self._place[1]:
            self._begin(state, pose)
            return False
        before = self.latency
        self.latency = learn(model, state, pose, torque, self._times, self._impulses, self._place,
                             self._work, self._filters, self._sums, self._durations, dt,
                             self._scale, trusted, before)
        return self.latency != before

    def _begin(self, state: Array, pose: Array) -> None:
        """Begin with a robot at rest, or one that moves as estimated."""
        self._place[:] = (0, 1)
        self._times[0] = 0.0
        self._impulses[0] = 0.0
        self._filters[:] = 0.0
        motion, (vx, vy, w) = self._filters[0], state[3:6]
        c, s = math.cos(pose[2]), math.sin(pose[2])
        motion[:, 0] = pose
        motion[:, 1] = (c * vx - s * vy, s * vx + c * vy, w)
        self._durations[0] = SETTLE if max(abs(vx), abs(vy), abs(w)) > MOVING else 0.0

    def sent(self, duration: float) -> list[tuple[float, Array]]:
        """Return the torques sent in the last `duration`, s, as (time before now, torque)."""
        times, impulses, (newest, filled) = self._times, self._impulses, self._place
        pieces = []
        for back in range(filled - 1):
            late = (newest - back) % SAMPLES
            early = (newest - back - 1) % SAMPLES
            length = times[late] - times[early]
            begin = times[newest] - times[early]
            pieces.append((begin, (impulses[late] - impulses[early]) / length))
            if begin > duration:
                break
        return pieces[::-1]
