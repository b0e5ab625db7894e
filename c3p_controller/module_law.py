# SPDX-License-Identifier: Apache-2.0
"""
Torque law of robots on modules and fixed wheels: wheels turn to the motion, then roll.

The command is a twist. `ModuleSteering` turns each module to the path of its pivot, and lowers the
speed by the angle that is left. With its factor f, and limits of acceleration, the reference
follows the command,

    ν_r → f ν_c,   ν̇ = K (ν_r − ν),   σ̇ = K_s (σ_r − σ)

with the measured twist ν and steering rates σ. The torques are those of these accelerations
(wheel_forces.py). With a preview the modules turn to the motion of a moment ahead, so that they
do not lag in a bend.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from c3p_controller.control_law import ANY, ControlLaw
from c3p_controller.goals.axle_path import AxlePathController
from c3p_controller.limits import limit_torque
from c3p_controller.torque_law import Preview, Sensed, Setpoint
from c3p_controller.velocity_controller_parameters import ModuleGains
from c3p_description.model import Array, CasterRobot, ModelError
from c3p_description.wheels import on_pivot
from c3p_dynamics.wheel_forces import WheelForces
from c3p_kinematics.fixed_axle import fixed_axle
from c3p_kinematics.module_commands import ModuleSteering
from c3p_kinematics.se2 import to_body

# lever of yaw in limits of the acceleration, of a robot whose pivots are all in its centre, m
LEAST_LEVER = 0.01

# squared twist that counts as none
LEAST_SQUARE = 1e-12

# cut-off of steering rates from angles, where the sample has none, 1/s
RATE_CUTOFF = 100.0


class ModuleLaw(ControlLaw):
    """
    Law of robots on modules (d = 0), fixed wheels, wheels beside their pivots and twins.

    Parameters
    ----------
    robot : CasterRobot
    settings : ModuleGains, optional

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
        self._lever = max(float(np.hypot(*robot.hip_position.T).max()), LEAST_LEVER)
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
        self._modules = ModuleSteering(replace(robot, steering_rate_limit=np.minimum(
            robot.steering_rate_limit, settings.steering_rate)))

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from the motion of `sensed`."""
        self._reference = np.zeros(3) if sensed is None else np.array(sensed.twist, float)
        self._angle: Array | None = None
        self._rate = np.zeros(self.robot.count)
        self._forces.casters.forget()

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the torques; see `TorqueLaw`."""
        gains = self.settings
        steering = np.where(self.robot.fixed, self.robot.steering_zero, sensed.steering)
        turning = self._steering_rate(steering, dt)
        self._forces.casters.step(sensed.twist, dt)
        wanted, ahead = self._motions(sensed, setpoint)
        command = self._modules.step(steering, ahead, gains.steering_lead)
        # part of the motion for which the modules are ready
        ready = float(np.dot(command.twist, ahead) / max(np.dot(ahead, ahead), LEAST_SQUARE))
        self._follow(min(ready, 1.0) * wanted, dt)
        accel = gains.gain * (self._reference - sensed.twist)
        turn_accel = gains.steering_gain * (command.steering_rate - turning)
        torque = self._forces.torques(steering, accel, turn_accel, self._reference,
                                      command.steering_rate)
        n = self.robot.count
        return np.concatenate([limit_torque(part, limit) for part, limit in (
            (torque[:n], self.limit[:n]), (torque[n:], self.limit[n:]))])

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

    def _follow(self, wanted: Array, dt: float) -> None:
        """Move the reference towards `wanted`, within the limit of acceleration of the pivots."""
        change = wanted - self._reference
        size = float(np.hypot(change[0], change[1]) + self._lever * abs(change[2]))
        most = self.settings.acceleration * dt
        self._reference = self._reference + (change if size <= most else most / size * change)

    def _steering_rate(self, steering: Array, dt: float) -> Array:
        """Return the steering rates by their angles, rad/s."""
        if self._angle is None:
            self._angle = steering
        part = min(1.0, RATE_CUTOFF * dt)
        self._rate = self._rate + part * ((steering - self._angle) / dt - self._rate)
        self._angle = steering
        return self._rate


def _velocity(preview: Preview, time: float) -> Array:
    """Return the twist of a preview at `time`, in the frame of the platform then."""
    yaw = np.interp(time, preview.time, preview.pose[:, 2])
    return to_body(yaw, np.array([np.interp(time, preview.time, column)
                                  for column in preview.velocity.T]))
