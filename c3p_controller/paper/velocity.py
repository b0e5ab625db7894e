# SPDX-License-Identifier: Apache-2.0
"""
The papers' velocity control as a torque law: velocity loop, inverse dynamics and fusion.

    accel   ν̇ = ν̇_r + K_v (ν_r − ν) + K_i ∫(ν_r − ν) dt          (paper I, Fig. 5: p̈_r + ë)
    fuse    τ = (1 − c)^λ1 τ_D + c^λ2 τ_K + τ_F                   (paper I, eq. (13))
    τ_K = K_w (J_x ν_r − θ̇_x),   τ_F = friction compensation at ν_r

Between the two the inverse dynamics computes τ_D of the acceleration (paper I, Fig. 5). Everything
is in ``base_link``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from c3p_controller.control_law import ControlLaw
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.law_settings import Entries
from c3p_controller.limits import ReferenceLimits, limit_torque, limit_twist
from c3p_controller.paper.exponential import PositionController
from c3p_controller.paper.fusion import OUR_READING, FusionOptions, fuse, singularity_indicator
from c3p_controller.paper.position import PaperPositionController
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_controller.velocity_controller_parameters import VelocityGains
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT, inverse_dynamics
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import inverse

# form of the papers' position law as printed, parameter `paper_law`
PRINTED = 'printed'

# a filtered command this close to the command is the command, m/s and rad/s
ARRIVED = 1e-4

# standstill is below this twist, m/s and rad/s
STANDSTILL = np.array([0.01, 0.01, 0.02])

# standstill of this duration with motion commanded starts the escape, s
ESCAPE_AFTER = 1.0


@dataclass(frozen=True)
class PaperSettings:
    """
    Gains, limits and readings of the papers' law.

    `virtual_steering_weight` is w_s of the inverse dynamics and of the friction compensation, 1 as
    in the papers; `options` are the reading of eq. (13).
    """

    gains: VelocityGains = field(default_factory=VelocityGains)
    limits: ReferenceLimits = field(default_factory=ReferenceLimits)
    virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT
    options: FusionOptions = OUR_READING


class ReferenceShaper:
    """
    Follows the commanded twist with limited acceleration; the memory is the present reference.

    The linear part is limited as a vector over the floor: between two steps the reference is
    turned with the body first, so that a robot that yaws while it travels straight over the floor
    uses none of its acceleration for that.
    """

    def __init__(self, limits: ReferenceLimits) -> None:
        """Start from rest."""
        self.limits = limits
        self.reset()

    def reset(self, twist: Array | None = None) -> None:
        """Start again from `twist` (rest when omitted)."""
        self.twist = np.zeros(3) if twist is None else np.array(twist, float)
        self._target = self.twist

    def step(self, command: Array, yaw_rate: float, dt: float) -> tuple[Array, Array]:
        """
        Advance by `dt` towards `command`; return ν_r and the derivative ν̇_r of its components.

        Both are in ``base_link``, whose axes turn by the measured ``yaw_rate·dt`` meanwhile.
        """
        limits = self.limits
        before = self.twist
        c, s = math.cos(yaw_rate * dt), math.sin(yaw_rate * dt)
        target = self._smooth(limit_twist(command, limits), dt)
        x, y = c * before[0] + s * before[1], -s * before[0] + c * before[1]
        dx, dy = target[0] - x, target[1] - y
        step = math.hypot(dx, dy)
        part = min(1.0, limits.acceleration * dt / step) if step > 0.0 else 1.0
        most = limits.yaw_acceleration * dt
        turn = min(max(target[2] - before[2], -most), most)
        self.twist = np.array([x + part * dx, y + part * dy, before[2] + turn])
        return self.twist, (self.twist - before) / dt

    def _smooth(self, command: Array, dt: float) -> Array:
        """Return the filtered command; filtered in body axes, where commands are constant."""
        smoothing = self.limits.smoothing
        left = math.exp(-dt / smoothing) if smoothing > 0.0 else 0.0
        target = command + left * (self._target - command)
        # the end is reached, not approached for ever
        self._target = command if (abs(target - command) < ARRIVED).all() else target
        return self._target


# limits of the reference that are parameters of the velocity controller
TUNED_LIMITS = ('acceleration_limit', 'yaw_acceleration_limit', 'command_smoothing')


class PaperLaw(ControlLaw):
    """
    Velocity loop, inverse dynamics and fusion: a `TorqueLaw` that uses the twist of the setpoint.

    The memory is the shaped reference and the integral. `PaperChain` calls `accel` and `fuse`,
    with the inverse dynamics node in between.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> law, still = PaperLaw(robot), np.zeros(3)
    >>> sensed = Sensed(0.0, still, still, still, still)
    >>> torque = law.step(sensed, Setpoint(np.array([0.0, 0.3, 0.0])), 0.005)
    >>> bool((torque > 0.0).all())
    True
    """

    Settings: ClassVar[type[PaperSettings]] = PaperSettings
    previews: ClassVar[bool] = False
    position: ClassVar[type[PositionLaw]] = PositionController
    inverse_dynamics: ClassVar[bool] = True
    tuned: ClassVar[tuple[str, ...]] = ('lambda', 'K', 'mu')
    title: ClassVar[str] = "papers' law"

    @classmethod
    def read(cls, values: Any, name: str) -> PaperSettings:
        """Return the settings of the parameters of the velocity controller; ValueError."""
        return PaperSettings(VelocityGains.of(values), ReferenceLimits.of(values),
                             values.virtual_steering_weight, FusionOptions.of(values))

    @classmethod
    def parameters(cls, name: str) -> tuple[str, ...]:
        """Return the names of the parameters that `c3p tune` may vary."""
        return (*(item.name for item in fields(VelocityGains)), 'virtual_steering_weight',
                *TUNED_LIMITS)

    @classmethod
    def entries(cls, name: str) -> Entries:
        """Return no schema entries: the schema file has the parameters."""
        return {}

    @classmethod
    def position_of(cls, values: Any) -> type[PositionLaw]:
        """Return the line law, or the law as printed, by the parameter ``paper_law``."""
        return PaperPositionController if values.paper_law == PRINTED else cls.position

    def __init__(self, robot: CasterRobot, settings: PaperSettings | None = None) -> None:
        """Start from rest."""
        self.robot, self.settings = robot, settings or PaperSettings()
        self._bound = torque_bounds(robot)
        self.limit = self._bound.copy()
        self.shaper = ReferenceShaper(self.settings.limits)
        self.reset()

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r."""
        return self.shaper.twist

    def retune(self, settings: PaperSettings) -> None:
        """Replace the settings."""
        self.settings, self.shaper.limits = settings, settings.limits

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the reference starts from the measured twist (rest when omitted)."""
        self.shaper.reset(None if sensed is None else sensed.twist)
        self._integral = np.zeros(3)
        self._active = False
        self._saturated = False
        self._stuck = 0.0
        self._indicator = math.pi / 2

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the torques, limited, N·m; parameters as in `TorqueLaw.step`."""
        accel = self.accel(setpoint.twist, sensed.twist, dt)
        return self.fuse(sensed, inverse_dynamics(self.robot, sensed.steering, sensed.twist, accel,
                                                  self.settings.virtual_steering_weight))

    def accel(self, command: Array, sensed: Array, dt: float) -> Array:
        """Return the desired acceleration ν̇ (3,) from commanded and measured twist."""
        gains = self.settings.gains
        reference, accel = self.shaper.step(command, float(sensed[2]), dt)
        self._active = bool(reference.any()) or not self._still(sensed)
        if not self._active:
            self._integral[:] = 0.0
            return np.zeros(3)
        # the loops of (vx, vy) and ω; the latter stiffens as the robot turns on the spot
        spot = max(0.0, 1.0 - math.hypot(reference[0], reference[1]) / gains.turn_speed)
        proportional = np.array([gains.linear_gain, gains.linear_gain,
                                 gains.yaw_gain + spot * gains.turn_gain])
        integral = np.array([gains.integral_gain, gains.integral_gain,
                             spot * gains.turn_integral_gain])
        error = reference - sensed
        # anti-windup: the integral is frozen while a torque saturates
        if not self._saturated:
            limit = gains.integral_limit
            self._integral = np.clip(self._integral + error * dt, -limit, limit)
        if spot == 0.0:
            self._integral[2] = 0.0
        accel = accel + proportional * error + integral * self._integral
        accel[0] += self._escape(sensed, dt)
        return accel

    def fuse(self, sensed: Sensed, dynamics: Array) -> Array:
        """
        Return the torques, limited, (robot.efforts,) N·m; zero where one of them is not finite.

        `dynamics`, of the same shape, is τ_D of the acceleration that `accel` returned. τ_K has
        the wheels alone.
        """
        robot = self.robot
        s = self.settings
        reference = self.reference
        gains = s.gains
        steering = sensed.steering
        if not self._active:
            return np.zeros(robot.efforts)
        wheel_reference, _, _ = inverse(robot, steering, reference)
        kinematics = np.zeros(robot.efforts)
        kinematics[:robot.count] = gains.wheel_gain * (wheel_reference - sensed.wheel_rate)
        self._indicator = singularity_indicator(sensed.twist, reference, s.options,
                                                self._indicator)
        torque = fuse(dynamics, kinematics, self._indicator, gains.lambda_1, gains.lambda_2,
                      s.options)
        if gains.friction_compensation > 0.0:
            torque = torque + gains.friction_compensation * friction_compensation(
                robot, steering, reference, s.virtual_steering_weight, gains.friction_smoothing)
        torque = np.where(robot.actuated, torque, 0.0)
        if not np.isfinite(torque).all():
            # some readings of eq. (13) have weights that are NaN: no torque is sent then
            self._saturated = True
            return np.zeros(robot.efforts)
        self._saturated = bool((abs(torque) > self.limit).any())
        # a slipping wheel does not reduce the torque of the others
        return np.clip(limit_torque(torque, self._bound), -self.limit, self.limit)

    def _escape(self, sensed: Array, dt: float) -> float:
        """Return the push, m/s², that leaves a singularity which preserves its symmetry."""
        stuck = (abs(self.reference) > STANDSTILL).any() and (abs(sensed) < STANDSTILL).all()
        self._stuck = min(max(0.0, self._stuck + (dt if stuck else -dt)), 2.0 * ESCAPE_AFTER)
        return self.settings.gains.escape_jerk * max(0.0, self._stuck - ESCAPE_AFTER)

    def _still(self, sensed: Array) -> bool:
        gains = self.settings.gains
        return (math.hypot(sensed[0], sensed[1]) < gains.standstill_speed
                and abs(float(sensed[2])) < gains.standstill_yaw_rate)
