# SPDX-License-Identifier: Apache-2.0
"""
Torque law of robots on modules and fixed wheels: wheels turn to the motion, then roll.

The command is a twist. `ModuleSteering` turns each module to the path of its pivot, and lowers the
speed by the angle that is left. With its factor f, and limits of acceleration, the reference
follows the command,

    ν_r → f ν_c,   ν̇ = K (ν_r − ν),   σ̇ = K_s (σ_r − σ)

with the twist ν and the steering rates σ of observers (twist_observer.py, steering_observer.py),
at the time at which the torques act. The torques are those of these accelerations
(wheel_forces.py). With a preview the modules turn to the motion of a moment ahead, so that they
do not lag in a bend.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from c3p_controller.control_law import ANY, ControlLaw
from c3p_controller.goals.axle_path import AxlePathController
from c3p_controller.limits import limit_torque
from c3p_controller.steering_observer import SteeringObserver, held_gain
from c3p_controller.torque_law import Preview, Sensed, Setpoint
from c3p_controller.twist_observer import TwistObserver
from c3p_controller.velocity_controller_parameters import ModuleGains
from c3p_description.model import Array, CasterRobot, ModelError
from c3p_description.wheels import farthest_wheel, on_pivot
from c3p_dynamics.wheel_forces import WheelForces
from c3p_kinematics.fixed_axle import fixed_axle
from c3p_kinematics.limited_steps import StepLimits, next_rate
from c3p_kinematics.module_commands import ModuleSteering
from c3p_kinematics.module_settings import ModuleSettings
from c3p_kinematics.se2 import to_body

# lever of yaw in limits of the acceleration, of a robot whose pivots are all in its centre, m
LEAST_LEVER = 0.01

# bandwidth of the observer of the twist times the longest recent interval of samples, at most
OBSERVED = 0.35

# yaw rate per error of the heading, as a part of the gain of the twist, whose loop it encloses
# with a damping of 0.56; and the largest error that is turned back, rad: a robot that was turned
# by more has met something
HEADING_PART = 0.8
LARGEST_TURN = 0.1

# squared twist that counts as none
LEAST_SQUARE = 1e-12


class ModuleLaw(ControlLaw):
    """
    Law of robots on modules (d = 0), fixed wheels, wheels beside their pivots and twins.

    Parameters
    ----------
    robot : CasterRobot
    settings : ModuleGains, optional

    Attributes
    ----------
    reference : (3,) array, m/s and rad/s
        Twist that the platform should have, within the limits.

    Examples
    --------
    >>> from c3p_description import load
    >>> swerve = load('swerve')
    >>> law = ModuleLaw(swerve)
    >>> still = Sensed(0.0, np.zeros(4), np.zeros(4), np.zeros(3), np.zeros(3))
    >>> torque = law.step(still, Setpoint(np.array([0.5, 0.0, 0.0])), 0.005)
    >>> bool((torque[4:] < -1.0).all())  # all modules turn to the right, towards +X
    True
    """

    Settings: ClassVar[type[ModuleGains]] = ModuleGains
    previews = True
    wheels = ANY
    freedoms = 2
    position = AxlePathController
    tuned = 'gain', 'steering_gain'

    def __init__(self, robot: CasterRobot, settings: ModuleGains | None = None) -> None:
        """Start at rest."""
        super().__init__(robot, settings)
        self._forces = WheelForces(robot)
        self._axle = fixed_axle(robot)
        self._lever = max(farthest_wheel(robot), LEAST_LEVER)
        self.retune(self.settings)
        self.reset()

    @classmethod
    def check_wheels(cls, robot: CasterRobot) -> None:
        """Raise ModelError for wheels below their pivots that no motor turns, or no encoder."""
        below = ~robot.fixed & (robot.caster_offset == 0.0)
        turned = robot.steered | (robot.driven & (on_pivot(robot) > 1))
        for lost, what, remedy in ((below & ~turned, 'no motor', 'steered'),
                                   (below & ~robot.steering_encoder, 'no steering encoder',
                                    'casters.steering_encoder')):
            if lost.any():
                numbers = ', '.join(f'{i + 1}' for i in np.flatnonzero(lost))
                raise ModelError(f'robot {robot.name}: wheels {numbers} are below their pivots '
                                 f'with {what} to turn them, and nothing else does: {remedy} '
                                 'names those that have one')

    def retune(self, settings: ModuleGains) -> None:
        """Replace the settings; modules keep the way that they roll."""
        super().retune(settings)
        robot = self.robot
        # motors and tyres may allow less
        acceleration = min(settings.acceleration, ModuleSettings.of(robot).acceleration)
        self._limits = StepLimits(lambda d: self._pivot(d) / acceleration,
                                  lambda d: self._pivot(d) / settings.jerk)
        self._modules = ModuleSteering(replace(robot, steering_rate_limit=np.minimum(
            robot.steering_rate_limit, settings.steering_rate)))

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from the motion of `sensed`."""
        self.reference = np.zeros(3) if sensed is None else np.array(sensed.twist, float)
        self._accel = np.zeros(3)
        # by which the robot is turned behind its commanded twists, rad
        self._behind = 0.0
        self._observer = SteeringObserver()
        self._motion = TwistObserver(self.reference)
        self._forces.casters.forget()

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the torques; see `TorqueLaw`."""
        gains = self.settings
        steering = np.where(self.robot.fixed, self.robot.steering_zero, sensed.steering)
        self._observer.measure(steering, dt, gains.latency)
        interval = self._observer.interval
        self._motion.measure(sensed.pose, sensed.twist, dt, (
            min(gains.observer, OBSERVED / interval), gains.latency))
        # when the torques act
        angle, turning = self._observer.ahead(gains.latency)
        self._forces.casters.step(sensed.twist, dt)
        wanted, ahead = self._motions(sensed, setpoint)
        command = self._modules.step(angle, ahead, gains.steering_lead)
        # part of the motion for which the modules are ready
        ready = float(np.dot(command.twist, ahead) / max(np.dot(ahead, ahead), LEAST_SQUARE))
        self._follow(min(ready, 1.0) * wanted, dt)
        followed = self.reference + [0.0, 0.0, self._turned_back(setpoint, dt)]
        accel = held_gain(gains.gain, interval) * (
            followed - self._motion.ahead(gains.latency)) - self._motion.disturbance
        turn_accel = held_gain(gains.steering_gain, interval) * (
            command.steering_rate - turning)
        torque = self._forces.torques(angle, accel, turn_accel, self.reference,
                                      command.steering_rate)
        n = self.robot.count
        limited = np.concatenate([limit_torque(part, limit) for part, limit in (
            (torque[:n], self.limit[:n]), (torque[n:], self.limit[n:]))])
        self._motion.send(part_of(limited[:n], torque[:n]) * accel, gains.latency)
        self._observer.send(part_of(limited[n:], torque[n:]) * turn_accel, gains.latency)
        return limited

    def _motions(self, sensed: Sensed, setpoint: Setpoint) -> tuple[Array, Array]:
        """
        Return the motions for the platform and for the modules, as fixed wheels allow them.

        With a preview they change as it does in the time that each takes to follow.
        """
        gains = self.settings
        twist = np.asarray(setpoint.twist, float)
        motions = [twist, twist]
        preview = setpoint.preview
        if preview is not None and len(preview.time) > 1:
            begin = sensed.time - setpoint.preview_time
            before = _velocity(preview, begin)
            motions = [twist + _velocity(preview, begin + gains.latency + lead) - before
                       for lead in (1.0 / gains.gain, gains.steering_lead)]
        if self._axle is not None:
            motions = [self._axle.steered(motion) for motion in motions]
        return motions[0], motions[1]

    def _turned_back(self, setpoint: Setpoint, dt: float) -> float:
        """
        Return the yaw rate, rad/s, that turns the robot back to the heading of its commands.

        A twist that is followed late, or against the push of casters, leaves the robot turned;
        along a path the position controller turns it back. A yaw that odometry sets anew is no
        turn of the robot.
        """
        if setpoint.preview is not None or not self.reference.any():
            self._behind = 0.0
            return 0.0
        behind = self._behind + dt * float(self.reference[2]) - float(self._motion.moved[2])
        self._behind = min(max(behind, -LARGEST_TURN), LARGEST_TURN)
        return held_gain(HEADING_PART * self.settings.gain, self._observer.interval) * self._behind

    def _pivot(self, change: Array) -> float:
        """Return the largest change of the velocity of a pivot in a `change` (3,) of the twist."""
        return math.hypot(change[0], change[1]) + self._lever * abs(float(change[2]))

    def _follow(self, wanted: Array, dt: float) -> None:
        """Move the reference towards `wanted`, within acceleration and jerk of the pivots."""
        self._accel = next_rate(wanted - self.reference, self._accel, dt, self._limits)
        self.reference = self.reference + dt * self._accel


def part_of(limited: Array, torque: Array) -> float:
    """Return the part of torques that limits leave, the same of all."""
    most = float(np.abs(torque).max(initial=0.0))
    return float(np.abs(limited).max(initial=0.0)) / most if most > 0.0 else 1.0


def _velocity(preview: Preview, time: float) -> Array:
    """Return the twist of a preview at `time`, in the frame of the platform then."""
    yaw = np.interp(time, preview.time, preview.pose[:, 2])
    return to_body(yaw, np.array([np.interp(time, preview.time, column)
                                  for column in preview.velocity.T]))
