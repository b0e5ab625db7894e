# SPDX-License-Identifier: Apache-2.0
"""
Observer of pose, twist and disturbance in plain Python, with the input delay as a queue.

A torque sent now acts after the latency. The law computes the acceleration that the model expects
of it; a queue of these accelerations is the prediction. Each sample advances the estimate by the
oldest one; all of them advance it to the time at which the next torque begins to act. The odometry
corrects as in motion_observer.py, with three equal poles,
``β = e^(−ω₀ dt)``,

    e = Rᵀ(pose − p̂)       p̂ ← p̂ + (1 − β³) R e
    ν̂ ← ν̂ + 1.5 (1 − β)²(1 + β) e/dt       ŵ ← ŵ + M (1 − β)³ e/dt²
"""

from __future__ import annotations

import math
from collections import deque

from c3p_controller.closed_form.model import Row, ScalarModel, times
from c3p_controller.torque_law import Sensed

# odometry further from the prediction was set from outside: restart, m and rad
JUMP = 0.05

# largest number of predicted cycles
MOST_CYCLES = 50


class State:
    """
    Pose, twist and steering as plain numbers.

    Attributes
    ----------
    pose, twist : (3,) row
        X, Y, φ on the floor; vx, vy, ω in ``base_link``.
    steering : list of float, rad
    """

    __slots__ = ('pose', 'steering', 'twist')

    def __init__(self, pose: Row, twist: Row, steering: list[float]) -> None:
        """Take the numbers."""
        self.pose, self.twist, self.steering = pose, twist, steering

    def moved(self, model: ScalarModel, accel: Row, dt: float) -> State:
        """Return the state `dt` later under a constant ν̇ of components, by the midpoint rule."""
        x, y, yaw = self.pose
        half = 0.5 * dt
        vx, vy, w = self.twist
        ax, ay, aw = accel
        # the twist halfway
        mx, my, mw = vx + half * ax, vy + half * ay, w + half * aw
        c, s = math.cos(yaw + half * mw), math.sin(yaw + half * mw)
        pose = (x + dt * (c * mx - s * my), y + dt * (s * mx + c * my), yaw + dt * mw)
        steering = []
        for caster, angle in zip(model.casters, self.steering, strict=True):
            # velocity of the pivot, and the steering rates at the begin and halfway
            px, py, d = mx - mw * caster[1], my + mw * caster[0], caster[2]
            rate = -(math.cos(angle) * px + math.sin(angle) * py) / d - mw
            there = angle + half * rate
            steering.append(angle - dt * ((math.cos(there) * px + math.sin(there) * py) / d + mw))
        return State(pose, (vx + dt * ax, vy + dt * ay, w + dt * aw), steering)


class QueueObserver:
    """
    Estimates state and disturbance; the memory is the estimate and the queue.

    Parameters
    ----------
    model : ScalarModel
    latency : float, s
        From a sample to the effect of its torque.
    bandwidth : float, rad/s
        ω₀.
    limit : (3,) row, N, N, N·m
        Saturation limit of the disturbance estimate ŵ, `wrench` (``base_link``).
    """

    def __init__(self, model: ScalarModel, latency: float, bandwidth: float, limit: Row) -> None:
        """Start at rest in the origin."""
        self._model, self.latency, self.bandwidth, self._limit = model, latency, bandwidth, limit
        self.state = State((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), [0.0] * model.count)
        self.wrench: Row = (0.0, 0.0, 0.0)
        self._queue: deque[Row] = deque(maxlen=MOST_CYCLES)
        self._mass: tuple[float, ...] | None = None

    def reset(self, sensed: Sensed) -> None:
        """Restart from the measurement, without disturbance and with an empty queue."""
        self.wrench, self._mass = (0.0, 0.0, 0.0), None
        self._latch(sensed)

    def _latch(self, sensed: Sensed) -> None:
        x, y, yaw = map(float, sensed.pose)
        vx, vy, w = map(float, sensed.twist)
        self.state = State((x, y, yaw), (vx, vy, w), list(map(float, sensed.steering)))
        self._queue.clear()

    def send(self, accel: Row, mass: tuple[float, ...]) -> None:
        """Queue the expected ν̇ of the torque sent now; keep the inertia for the correction."""
        self._queue.append(accel)
        self._mass = mass

    def predicted(self, dt: float) -> State:
        """Return the state when a torque sent now begins to act; `dt` is the cycle."""
        state = self.state
        for accel in self._queue:
            state = state.moved(self._model, accel, dt)
        return state

    def step(self, sensed: Sensed, dt: float) -> None:
        """Process the sample `dt` after the last one."""
        # prediction by the oldest acceleration of the queue
        cycles = min(round(self.latency / dt), MOST_CYCLES - 1)
        accel = (0.0, 0.0, 0.0)
        while len(self._queue) > cycles:
            accel = self._queue.popleft()
        state = self.state.moved(self._model, accel, dt)
        x, y, yaw = state.pose
        sx, sy, sensed_yaw = map(float, sensed.pose)
        ex, ey, turn = sx - x, sy - y, math.remainder(sensed_yaw - yaw, 2.0 * math.pi)
        # also true for NaN
        if not (math.hypot(ex, ey) < JUMP and abs(turn) < JUMP):
            self._latch(sensed)
            return
        # correction of pose, twist and disturbance
        c, s = math.cos(yaw), math.sin(yaw)
        error = (c * ex + s * ey, c * ey - s * ex, turn)
        beta = math.exp(-self.bandwidth * dt)
        gain = 1.0 - beta**3
        pose = (x + gain * ex, y + gain * ey, yaw + gain * turn)
        gain = 1.5 * (1.0 - beta)**2 * (1.0 + beta) / dt
        vx, vy, w = state.twist
        twist = (vx + gain * error[0], vy + gain * error[1], w + gain * error[2])
        self.state = State(pose, twist, list(map(float, sensed.steering)))
        if self._mass is not None:
            gain = (1.0 - beta)**3 / dt**2
            pull = times(self._mass, error)
            fx, fy, fw = (min(max(w + gain * p, -most), most) for w, p, most in zip(
                self.wrench, pull, self._limit, strict=True))
            self.wrench = (fx, fy, fw)
