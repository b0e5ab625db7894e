# SPDX-License-Identifier: Apache-2.0
"""
Nonlinear model-predictive control of the wheel torques, through singular configurations.

With parallel rolling lines, as in every straight drive, the wheel torques accelerate the robot
along these lines and in yaw only. To leave in another direction the platform has to yaw first, so
that the casters turn: a controller without a horizon cannot find that. This one minimises, over
the horizon of the reduced model,

    ½ Σ w_⊥ e_⊥² + w_∥ e_∥² + w_φ e_φ² + w_v⊥ ė_⊥² + w_v∥ ė_∥² + w_ω ė_φ² + w_τ |τ|²

subject to |τ_i| ≤ τ_max, with the path error split across and along the path
(_kernels.py). The shifted solution of the last period is the next first guess; from standstill
several first guesses compete. Between solutions the feedback gains of the solution act. An
observer estimates the disturbance wrench (motion_observer.py). Torques act `latency` late, so the
plan begins there. The reference over the horizon comes from a preview or a bare twist
(reference.py). With `solve_ahead` a solution is computed for the predicted state of the next
cycle, after the torque of the present one was sent; its feedback corrects the prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import ge
from typing import ClassVar

import numpy as np

from c3p_controller.control_law import ControlLaw
from c3p_controller.goals.path_controller import PathController
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.predictive._box_ddp import improve, workspace
from c3p_controller.predictive._kernels import RIPPLE
from c3p_controller.predictive._plan_kernels import (
    bound,
    follow,
    sample_steady,
    shifted,
    steady,
)
from c3p_controller.predictive.delay_estimator import DelayEstimator
from c3p_controller.predictive.guesses import bold_guesses, first_guesses, straight_guess
from c3p_controller.predictive.motion_observer import InputDelay, MotionObserver
from c3p_controller.predictive.priority import PATH_SPEED, Priority
from c3p_controller.predictive.reference import TwistReference
from c3p_controller.predictive.scaling import cost_weights, friction_rate, resting_slack
from c3p_controller.predictive.stall import StallWatch
from c3p_controller.predictive.standing_start import check_reference, push_guesses
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import steering_motors, torque_bounds


@dataclass(frozen=True)
class PredictiveSettings:
    """
    Weights, horizon and observer of the predictive controller: the parameters of its group mpc.

    velocity_controller_parameters.yaml describes them, with units.
    """

    horizon: float = 0.8
    steps: int = 32
    period: float = 0.01
    iterations: int = 2
    solve_ahead: bool = False
    latency: float = 0.01
    estimate_latency: bool = True
    latency_max: float = 0.15
    across_weight: float = 7e4
    along_weight: float = 1000.0
    yaw_weight: float = 55.0
    across_speed_weight: float = 40.0
    along_speed_weight: float = 26.0
    yaw_rate_weight: float = 16.0
    torque_weight: float = 0.15
    alignment_weight: float = 3.5
    ripple_weight: float = 100.0
    final_weight: float = 0.25
    torque_rate: float = 120.0
    friction_smoothing: float = 0.04
    bandwidth: float = 36.0
    disturbance_bandwidth: float = 3.5
    wrench_limit: float = 40.0
    moment_limit: float = 8.0
    acceleration: float = 1.5
    yaw_acceleration: float = 4.0
    standstill_speed: float = 0.005
    standstill_yaw_rate: float = 0.01
    priority: str = PATH_SPEED

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if self.steps < 2 or self.iterations < 1:
            raise ValueError(f'steps = {self.steps}, iterations = {self.iterations}: at least 2 '
                             'and 1')
        if self.estimate_latency and self.latency > self.latency_max:
            raise ValueError(f'latency = {self.latency}: must be at most latency_max = '
                             f'{self.latency_max}; raise it, or set estimate_latency to false')
        for name in ('horizon', 'period', 'torque_weight', 'torque_rate', 'friction_smoothing',
                     'bandwidth', 'disturbance_bandwidth', 'acceleration', 'yaw_acceleration'):
            if not getattr(self, name) > 0:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero')


# iterations of the competition of first guesses: per round, and rounds
ROUND_ITERATIONS, ROUNDS, GUESSES_PER_CYCLE = 3, 3, 2

# motion is commanded above these, m/s and rad/s
MOTION_SPEED, MOTION_YAW_RATE = 1e-3, 1e-3

# dither of the reference, rad/s and Hz, yaw ± 1.6 mrad: in a steady circle the steering angles
# stand still, and the rounding of their encoders would turn the odometry for the whole ring
DITHER, DITHER_FREQUENCY = 0.005, 0.5

# relative decrease of the cost that ends the iterations
TOLERANCE = 1e-4


class PredictiveController(ControlLaw):
    """Receding-horizon controller of the wheel torques; the memory is plan and observer."""

    Settings: ClassVar[type[PredictiveSettings]] = PredictiveSettings
    previews: ClassVar[bool] = True
    position: ClassVar[type[PositionLaw]] = PathController
    freedoms: ClassVar[int] = 2
    compiler: ClassVar[bool] = True
    tuned: ClassVar[tuple[str, ...]] = ('weights',)

    def __init__(self, robot: CasterRobot, settings: PredictiveSettings | None = None) -> None:
        """Start from rest without a plan."""
        self.robot = robot
        s = settings or PredictiveSettings()
        n = robot.count
        self.observer = MotionObserver(robot, robot.losses, s.bandwidth, s.disturbance_bandwidth,
                                       np.full(3, np.inf))
        self._slack = resting_slack(robot)
        self.limit = torque_bounds(robot)
        self._bounds = self.limit.tolist()
        # a steering motor costs and changes relative to its bound, as a wheel does
        motors = steering_motors(robot)
        self._turning = float(motors.weight[robot.steered].mean()) if robot.steered.any() else 1.0
        self._spanned = motors.spanned
        self._pace = np.ones(robot.efforts)
        self._pace[n:] = math.sqrt(self._turning)
        self._delay = InputDelay(robot.efforts, s.latency)
        self._estimator = (DelayEstimator(robot, s.latency, s.latency_max)
                           if s.estimate_latency else None)
        self._priority = Priority(robot, s.priority)
        steps = round(s.steps * self._priority.longer)
        self._dt = np.full(steps, s.horizon * self._priority.longer / steps)
        self._step, self._stall, self._stretched = self._dt[0], StallWatch(), 1.0
        self._times = np.concatenate(([0.0], np.cumsum(self._dt)))
        self._rows, self._work = np.zeros((steps + 1, 7)), workspace(steps, n, robot.efforts)
        self._dither, self._error = np.zeros((steps + 1, 2)), np.zeros(6 + n)
        self._states, self._gains = (np.zeros((steps + 1, 6 + n)),
                                     np.zeros((steps, robot.efforts, 6 + n)))
        self.retune(s)
        self.reset()

    def retune(self, settings: PredictiveSettings) -> None:
        """Replace weights and limits; horizon, steps, latency and bandwidth stay."""
        self.settings = s = settings
        self.observer.soften(friction_rate(s.friction_smoothing, self.robot, self._step,
                                           self._spanned))
        self.observer.wrench_limit = np.array([s.wrench_limit, s.wrench_limit, s.moment_limit])
        weights = cost_weights(s, self.robot, self._spanned, self._priority.fewer,
                               self._turning)
        self._weights = np.tile(weights, (len(self._times), 1))
        self._weights[-1] *= s.final_weight
        # weight and dither of the yaw rate: none while casters have to turn, see `calm`
        steadied = s.ripple_weight > 0.0 and not (self._priority.fewer or self._spanned)
        self._dithering = DITHER if steadied else 0.0
        self._calm = steadied * self._weights[:, RIPPLE]
        self._weights[:, RIPPLE] = 0.0
        self._base = self._weights.copy()
        self._twist = TwistReference(s.acceleration, s.yaw_acceleration)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget plan, disturbance and reference; start from `sensed`."""
        n = self.robot.efforts
        self._plan: Array | None = None
        self._guesses: list[tuple[float, Array]] = []
        self._planned, self._last = -np.inf, np.zeros(n)
        # what `prepare` needs of the present cycle
        self._present: tuple[Array, Setpoint, float, float] | None = None
        self._known = sensed is not None
        self._twist.reset()
        self._priority.reset()
        self._forget_delay(sensed is None)
        self._stall.reset()
        self._stretch()
        self.cost, self.iterations = 0.0, 0
        if sensed is not None:
            self.observer.reset(sensed.pose, sensed.twist, sensed.steering)

    def _forget_delay(self, estimate: bool) -> None:
        """Forget the torques under way, and the estimate of their delay."""
        if self._estimator is not None:
            self._estimator.reset() if estimate else self._estimator.restart()
            self._delay.latency = self._estimator.latency
        self._delay.reset()

    @property
    def latency(self) -> float:
        """Input delay in use, s: the setting, or its estimate."""
        return self._delay.latency

    @property
    def planned(self) -> Array:
        """States of the present plan (steps + 1, 6 + n); the first is `latency` ahead."""
        return self._states

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques, limited and continuous, (robot.efforts,) N·m.

        Parameters as in `TorqueLaw.step`.
        """
        s, self._present = self.settings, None
        if not self._known:
            self.reset(sensed)
        state = self.observer.step(sensed.pose, sensed.twist, sensed.steering, self._delay, dt)
        if self._estimator is not None:
            self._estimate(self._estimator, sensed.pose, state, dt)
        if self._resting(setpoint, state):
            self._plan, self._guesses = None, []
            self._twist.reset()
            self._stall.reset()
            self._stretch()
            return self._send(np.zeros(self.robot.efforts), dt)
        # the plan begins when the torque of this cycle begins to act
        state = self.observer.ahead
        self._watch(state, sensed.time, dt)
        self._reference(setpoint, state, sensed.time, dt)
        if self._priority.fewer:
            self._priority.apply(self._rows, self._times, state[2], dt, self._base, self._weights)
        due = self._due(sensed.time, dt)
        if self._plan is None:
            self._compete(state)
        elif due:
            self._improve(state, sensed.time - self._planned)
        if self._plan is None or self._guesses:
            return self._send(np.zeros(self.robot.efforts), dt)
        if due:
            self._planned = sensed.time
        if s.solve_ahead and not self._priority.fewer:
            self._present = state, setpoint, sensed.time, dt
        torque = self._follow(state, sensed.time - self._planned)
        if self._priority.fewer:
            torque = self._priority.smoothed(torque, self._last, dt)
        return self._send(torque, dt)

    def prepare(self) -> None:
        """Solve for the next cycle if a solution is due then; as `TorqueLaw.prepare`."""
        if self._present is None or self._plan is None:
            return
        (state, setpoint, now, dt), self._present = self._present, None
        begin = now + dt
        if not self._due(begin, dt):
            return
        state = self.observer.predict(state, self._last, dt)
        # the cycle itself advances the reference of a bare twist
        reference, self._twist = self._twist, self._twist.copy()
        self._reference(setpoint, state, begin, dt)
        self._twist = reference
        self._improve(state, begin - self._planned)
        self._planned = begin

    def _due(self, now: float, dt: float) -> bool:
        """Return whether a solution is due in the cycle at `now`, s, of `dt` s."""
        return now - self._planned >= self.settings.period - 0.5 * dt

    def _estimate(self, estimator: DelayEstimator, pose: Array, state: Array, dt: float
                  ) -> None:
        gripping = all(map(ge, self.limit.tolist(), self._bounds))
        if estimator.step(self.observer.model, state, pose, self._last, dt, gripping):
            self._delay.change(estimator.latency, estimator.sent(estimator.latency))
            self.observer.foresee(self._delay)

    def _watch(self, state: Array, now: float, dt: float) -> None:
        """Plan anew after a stall, with a longer horizon; restore it when the robot moves."""
        if self._plan is None or self._guesses or self._spanned:
            return
        # dry friction of casters that rest shows as a moment; what blocks the path is a force. The
        # reference is that of the last cycle
        if self._stall.step(state, self._rows, self._times[-1], self.observer.saturation, dt):
            self._plan = None
        if self._stretch():
            # the next plan begins in this cycle
            self._planned = min(self._planned, now - self.settings.period)

    def _stretch(self) -> bool:
        """Set the steps of the horizon; return whether they have changed."""
        if self._stretched == self._stall.stretch:
            return False
        before, self._stretched = self._times[:-1].copy(), self._stall.stretch
        self._dt[:] = self._step * self._stretched
        self._times[1:] = np.cumsum(self._dt)
        if self._plan is not None:
            for i in range(self.robot.efforts):
                self._plan[:, i] = np.interp(self._times[:-1], before, self._plan[:, i])
        return True

    def _resting(self, setpoint: Setpoint, state: Array) -> bool:
        """Return whether the robot rests as commanded, and nothing pushes it."""
        s = self.settings
        if self.observer.speed >= s.standstill_speed or abs(state[5]) >= s.standstill_yaw_rate:
            return False
        x, y, _ = self.observer.wrench.tolist()
        # without torque the robot would roll down a slope, and return to its place again and again
        if math.hypot(x, y) > self._slack and not self._priority.fewer:
            return False
        vx, vy, turn = setpoint.twist.tolist()
        return math.hypot(vx, vy) < MOTION_SPEED and abs(turn) < MOTION_YAW_RATE

    def _reference(self, setpoint: Setpoint, state: Array, now: float, dt: float) -> None:
        """Write reference, and weight and dither of its yaw rate, for a plan from `state` on."""
        steadying = (self.robot.geometry, state, self._rows, self._calm, now, self._times,
                     self._dithering, 2.0 * math.pi * DITHER_FREQUENCY, self._dither,
                     self._weights)
        if (preview := setpoint.preview) is not None:
            passed = now + self._delay.latency - setpoint.preview_time
            sample_steady(*preview, passed, *steadying)
            return
        yaw, vx, vy, turn = state[2:6].tolist()
        c, s = math.cos(yaw), math.sin(yaw)
        velocity = np.array([c * vx - s * vy, s * vx + c * vy, turn])
        self._twist.step(setpoint.twist, state[:3], velocity, self._times, dt, self._rows)
        steady(*steadying)

    def _solve(self, state: Array, torques: Array, iterations: int) -> float:
        cost, self.iterations = improve(
            self.observer.model, state, torques, self._rows, self._weights, self.observer.wrench,
            self._dt, self.limit, iterations, TOLERANCE, self._work, self._states, self._gains)
        return cost

    def _compete(self, state: Array) -> None:
        """Improve the first guesses, two per cycle; the best becomes the plan."""
        if not self._guesses:
            s = self.settings
            if self._priority.fewer and not self._stall.attempts:
                check_reference(self.robot, state, self._rows)
            guesses = (push_guesses(self.robot, self._times[:-1]) if self._priority.fewer else
                       [straight_guess(self.observer, state, self._rows, self._dt, self.limit,
                                       (s.acceleration, s.yaw_acceleration))] if self._spanned
                       else (bold_guesses if self._stall.attempts else first_guesses)(
                           self.limit, self._times[:-1]))
            self._guesses = [(np.inf, guess) for guess in guesses]
            self._round, self._turn = 0, 0
        for _ in range(min(GUESSES_PER_CYCLE, len(self._guesses) - self._turn)):
            torques = self._guesses[self._turn][1]
            self._guesses[self._turn] = (self._solve(state, torques, ROUND_ITERATIONS), torques)
            self._turn += 1
        if self._turn < len(self._guesses):
            return
        # the better half continues
        self._guesses.sort(key=lambda guess: guess[0])
        self._round, self._turn = self._round + 1, 0
        self._guesses = self._guesses[:max(1, len(self._guesses) // 2)]
        if self._round >= ROUNDS or len(self._guesses) == 1:
            self._plan = self._guesses[0][1]
            self._guesses = []
            self.cost = self._solve(state, self._plan, ROUND_ITERATIONS)

    def _improve(self, state: Array, passed: float) -> None:
        """Shift the plan by `passed` and improve it."""
        assert self._plan is not None
        plan, self._plan = self._plan, np.empty_like(self._plan)
        shifted(self._times[:-1], plan, passed, self._plan)
        self.cost = self._solve(state, self._plan, self.settings.iterations)

    def _follow(self, state: Array, passed: float) -> Array:
        """Return the torque of the plan `passed` after its begin, with its feedback."""
        assert self._plan is not None
        torque = np.empty(self.robot.efforts)
        follow(self._states, self._plan, self._gains, self._dt[0], passed, state, self._error,
               torque)
        return torque

    def _send(self, torque: Array, dt: float) -> Array:
        change = self.settings.torque_rate * dt
        if not bound(torque, self._last, change, self._pace, self.limit):
            # the plan has diverged
            self._plan, torque = None, np.zeros(self.robot.efforts)
            bound(torque, self._last, change, self._pace, self.limit)
        self._last = torque
        self._delay.add(torque)
        return torque.copy()
