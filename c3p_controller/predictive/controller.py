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

from typing import ClassVar

import numpy as np

from c3p_controller.control_law import ControlLaw
from c3p_controller.goals.path_controller import PathController
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.predictive._predictive_step import RESTS, predict_step, send_nothing
from c3p_controller.predictive.delay_estimator import DelayEstimator, candidates_up_to
from c3p_controller.predictive.motion_observer import InputDelay, MotionObserver
from c3p_controller.predictive.motor_sets import motor_set
from c3p_controller.predictive.planner import Planner
from c3p_controller.predictive.reference import TwistReference
from c3p_controller.predictive.stall import StallWatch
from c3p_controller.predictive.states import RIPPLE, PredictiveState
from c3p_controller.torque_law import Preview, Sensed, Setpoint
from c3p_controller.velocity_controller_parameters import PredictiveParameters
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import torque_bounds


class PredictiveSettings(PredictiveParameters):
    """
    Weights, horizon and observer of the predictive controller: the parameters of its group mpc.

    velocity_controller_parameters.yaml describes them, with units.
    """

    def __post_init__(self) -> None:
        """Reject invalid values."""
        super().__post_init__()
        if self.estimate_latency and self.latency > self.latency_max:
            raise ValueError(f'latency = {self.latency}: must be at most latency_max = '
                             f'{self.latency_max}; raise it, or set estimate_latency to false')


# amplitude of the dither of the reference's yaw rate, rad/s, 4 mrad of its yaw: in a steady
# circle the steering angles stand still, and the rounding of their encoders would turn the
# odometry for the whole ring
DITHER = 0.0075

# a bare twist
NO_PREVIEW = Preview(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))


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
        self.limit = torque_bounds(robot)
        self._motors = motor_set(robot, s.priority)
        self.observer = MotionObserver(robot, robot.losses, s.bandwidth, s.disturbance_bandwidth,
                                       np.full(3, np.inf))
        self._delay = InputDelay(robot.efforts, s.latency)
        self._estimator = (DelayEstimator(robot, s.latency, s.latency_max)
                           if s.estimate_latency else None)
        self._stall = StallWatch()
        steps = round(s.steps * self._motors.longer)
        candidates = candidates_up_to(s.latency_max)
        self._state = PredictiveState.new((robot.count, robot.efforts, steps, candidates))
        self._state.bound[:] = self.limit
        self._state.pace[:] = self._motors.pace
        self._step = s.horizon * self._motors.longer / steps
        self._planner = Planner(self._state, self.observer.model)
        self.observer.use(self._state.observer.block)
        self._stall.use(self._state.stall.block)
        if self._estimator is not None:
            self._estimator.use(self._state.evidence.block)
        self.retune(s)
        self.reset()

    def retune(self, settings: PredictiveSettings) -> None:
        """Replace weights and limits; horizon, steps, latency and bandwidth stay."""
        self.settings = s = settings
        motors = self._motors
        # weight and dither of the yaw rate: none while casters have to turn, see `calm`
        steadied = s.ripple_weight > 0.0 and motors.steadies
        self._state = self._planner.state = state = PredictiveState.of(
            self._state.block, self._state.values, estimates=self._estimator is not None,
            watches=motors.watches, period=s.period, most_iterations=s.iterations,
            torque_rate=s.torque_rate, lag=motors.lag, standstill_speed=s.standstill_speed,
            standstill_yaw_rate=s.standstill_yaw_rate, slack=motors.slack,
            dither=DITHER if steadied else 0.0, step=self._step)
        self.observer.soften(motors.friction(s, self._step))
        self.observer.memory.limit[:] = (s.wrench_limit, s.wrench_limit, s.moment_limit)
        weights = state.plan.weights
        weights[:] = motors.weights(s)
        weights[-1] *= s.final_weight
        state.full[:] = steadied * weights[:, RIPPLE]
        weights[:, RIPPLE] = 0.0
        self._base = weights.copy()
        self._twist = TwistReference(s.acceleration, s.yaw_acceleration)
        self._twist.use(state.line.block)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget plan, disturbance and reference; start from `sensed`."""
        state = self._state
        state.fresh[0] = 0.0
        state.begin[0] = -np.inf
        state.last[:] = 0.0
        state.plan.cost[0] = 0.0
        state.plan.iterations[0] = 0.0
        # what `prepare` needs of the present cycle
        self._present: tuple[Preview, tuple[float, float, float]] | None = None
        self._known = sensed is not None
        self._planner.forget()
        self._twist.reset()
        self._motors.reset()
        self._forget_delay(sensed is None)
        self._stall.reset()
        self._restore_horizon()
        if sensed is not None:
            self.observer.reset(sensed.pose, sensed.twist, sensed.steering)

    def _restore_horizon(self) -> None:
        """Set the steps of the horizon as they are without a stall."""
        state = self._state
        state.stretched[0] = 1.0
        state.plan.dt[:] = self._step
        state.times[1:] = np.cumsum(state.plan.dt)

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
        return self._state.plan.states

    @property
    def cost(self) -> float:
        """Cost of the last solution."""
        return float(self._state.plan.cost[0])

    @property
    def iterations(self) -> int:
        """Iterations of the last solution."""
        return int(self._state.plan.iterations[0])

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques, limited and continuous, (robot.efforts,) N·m.

        Parameters as in `TorqueLaw.step`.
        """
        self._present = None
        if not self._known:
            self.reset(sensed)
        planner = self._planner
        state = self._state
        state.pose[:] = sensed.pose
        state.twist[:] = sensed.twist
        state.steering[:] = sensed.steering
        state.command[:] = setpoint.twist
        state.limit[:] = self.limit
        self._delay.make_room()
        preview = NO_PREVIEW if setpoint.preview is None else setpoint.preview
        clock = float(sensed.time), float(dt), float(setpoint.preview_time)
        verdict = predict_step(state.block, planner.sizes, self.observer.model,
                               self._delay.memory.block, preview, clock)
        if verdict == RESTS:
            planner.forget()
            return self._send_nothing(dt)
        if self._motors.adapts:
            self._motors.adapt(state, self._base, dt)
        if not state.ready[0]:
            planner.compete(self._guesses)
            if not state.ready[0]:
                return self._send_nothing(dt)
        if self.settings.solve_ahead and not self._motors.adapts:
            self._present = preview, clock
        planner.steps.drive(state.block, planner.sizes, self.observer.model,
                            self._delay.memory.block, clock[0], clock[1])
        return state.last.copy()

    def prepare(self) -> None:
        """Solve for the next cycle if a solution is due then; as `TorqueLaw.prepare`."""
        if self._present is None or not self._state.ready[0]:
            return
        (preview, clock), self._present = self._present, None
        self._planner.steps.prepare(self._state.block, self._planner.sizes, self.observer.model,
                                    self._delay.memory.block, preview, clock)

    def _guesses(self) -> list[Array]:
        """Return first guesses of the torques."""
        return self._motors.guesses(self.observer, self._state, self.settings)

    def _send_nothing(self, dt: float) -> Array:
        """Send zero, at the bounded rate."""
        send_nothing(self._state.block, self._planner.sizes, self._delay.memory.block, float(dt))
        return self._state.last.copy()
