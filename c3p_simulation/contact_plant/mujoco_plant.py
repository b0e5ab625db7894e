# SPDX-License-Identifier: Apache-2.0
"""Contact plant: the robot as bodies in MuJoCo on tyres with slip and scrub."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import describes_urdf, load_casters
from c3p_description.wheels import first_on_pivot
from c3p_kinematics.rolling import rolling_rates
from c3p_simulation.contact_plant.installed_mujoco import installed_mujoco
from c3p_simulation.contact_plant.mujoco_model import BodyShape, gravity, mjcf
from c3p_simulation.contact_plant.mujoco_tyres import set_tyres, stand, tyre_geoms, wheel_loads
from c3p_simulation.plants.checks import FallenError, PlantError, per_caster, positive
from c3p_simulation.plants.floor import FloorPatch, checked_patch, friction_at
from c3p_simulation.plants.plant import GroundTruth, JointSample, PushedPlant

# longest step, s: discretisation error below 1 mm in a drive of some metres
TIMESTEP = 1e-3

# indices in coordinates and rates: yaw; roll and pitch
YAW = 3
TILTS = slice(4, 6)

# tilt of a robot that has fallen over, rad: the planar truth is then meaningless
FALLEN = 0.3


def import_mujoco() -> Any:
    """
    Return the module mujoco.

    Raises
    ------
    PlantError
        It is not installed, or damaged; the text has the remedy.
    """
    try:
        return installed_mujoco('the contact plant needs', 'sim')
    except ImportError as error:
        raise PlantError(f'{error}, or choose the plant analytic') from None


class MujocoPlant(PushedPlant):
    """
    The robot in contact with the ground, with the interface of `AnalyticPlant`.

    Bit-reproducible. Wheels may slip, load shifts between them, dry friction has stiction. Without
    slip and friction the motion is that of `AnalyticPlant`, to first order in `timestep`.

    Parameters
    ----------
    robot : CasterRobot, str or Path
        A model, or name or path as for `loader.load`; a parameter file also gives the shape.
    friction : (n,) array_like or float
        μ between tyres and ground.
    slope : float, rad
        Inclination of the ground; X and Y are in its plane.
    slope_direction : float, rad
        Downhill direction from +X of the floor.
    shape : BodyShape, optional
        Heights and widths; default from the parameter file, else `BodyShape.of`.
    timestep : float, s
        Longest step; `step` divides `dt` evenly.
    patches : sequence of FloorPatch
        Floor patches of other friction; the last one at a contact point counts.

    Raises
    ------
    PlantError
        MuJoCo is not installed.
    ModelError, ValueError
        A robot that cannot stand, or an invalid parameter.

    Examples
    --------
    >>> plant = MujocoPlant('c3p')
    >>> for _ in range(200):  # 3 · (0.4 − 0.05) N·m/0.04 m on 36 kg along +Y, for one second
    ...     sample = plant.step([0.4, 0.4, 0.4], 0.005)
    >>> round(float(plant.truth().pose[1]), 2)
    0.36
    """

    def __init__(self, robot: CasterRobot | str | Path, *, friction: ArrayLike = 0.8,
                 slope: float = 0.0, slope_direction: float = 0.0,
                 shape: BodyShape | None = None, timestep: float = TIMESTEP,
                 patches: Sequence[FloorPatch] = ()) -> None:
        """Place the robot at the origin with all steering angles 0."""
        self._mj = import_mujoco()
        if shape is None:
            shape = shape_of(robot)
        super().__init__(robot if isinstance(robot, CasterRobot) else load_casters(robot))
        self._timestep = positive('timestep', timestep)
        text = mjcf(self._robot, shape, friction, self._timestep)
        self._model = self._mj.MjModel.from_xml_string(text)
        self._model.opt.gravity[:] = gravity(slope, slope_direction)
        self._data = self._mj.MjData(self._model)
        # views: access through MuJoCo creates them anew
        self._qpos, self._qvel, self._ctrl = self._data.qpos, self._data.qvel, self._data.ctrl
        n = self._robot.count
        self._find_joints()
        self._tyres = tyre_geoms(self._model, n)
        self._friction = per_caster('friction', friction, n)
        self._patches = tuple(checked_patch(patch) for patch in patches)
        self._pairs = [self._model.pair(f'tyre_{i + 1}').id for i in range(n)]
        self._stiffness = set_tyres(self._mj, self._model, self._data, self._robot,
                                    self._timestep)
        self.reset()

    def _find_joints(self) -> None:
        """Find the coordinates of the joints, and the motor of each entry of an effort vector."""
        robot = self._robot
        # all joints have one coordinate, which is also the index of its rate
        place = {name: int(self._model.joint(name).qposadr[0]) for name in robot.joint_places}
        self._wheel = np.array([place[name] for name in robot.wheel_joints])
        # of a fixed wheel any coordinate, times 0
        self._steering = np.array([place.get(name, 0) for name in robot.steering_joints])
        self._steers = np.where(robot.fixed, 0.0, 1.0)
        self._still = np.where(robot.fixed, robot.steering_zero, 0.0)
        motors = list(robot.effort_places)
        self._turned = np.flatnonzero(robot.actuated)
        self._motor = np.array([motors.index(robot.effort_joints[i]) for i in self._turned])
        self._motors = len(motors)

    @property
    def model(self) -> Any:
        """MuJoCo's model (mjModel)."""
        return self._model

    @property
    def data(self) -> Any:
        """MuJoCo's state (mjData)."""
        return self._data

    @property
    def wheel_load(self) -> Array:
        """Normal force (n,) on each wheel now, N."""
        return wheel_loads(self._mj, self._model, self._data, self._tyres)

    def _place(self, pose: Array, steering: Array, twist: Array) -> None:
        """Set the state; the tyres sink in by their static load, so that nothing jumps."""
        data = self._data
        steering = steering[first_on_pivot(self._robot)]
        rolling = rolling_rates(self._robot, steering, twist)
        steers = self._steering[~self._robot.fixed]
        self._mj.mj_resetData(self._model, data)
        data.qpos[steers] = steering[~self._robot.fixed]
        data.qpos[0:2], data.qpos[YAW] = pose[0:2], pose[2]
        stand(self._mj, self._model, data, self._stiffness)
        c, s = math.cos(pose[2]), math.sin(pose[2])
        data.qvel[0:2] = c * twist[0] - s * twist[1], s * twist[0] + c * twist[1]
        data.qvel[YAW] = twist[2]
        data.qvel[steers] = rolling.steering_rate[~self._robot.fixed]
        data.qvel[self._wheel] = rolling.wheel_rate
        self._mj.mj_forward(self._model, data)

    def sense(self) -> JointSample:
        """Return the joints now."""
        position = self._qpos
        rate = self._qvel
        return JointSample(self._time, self._angles(), self._steers * rate[self._steering],
                           position[self._wheel], rate[self._wheel], self._torque.copy())

    def _angles(self) -> Array:
        """Return the steering angles (n,) now, rad; a fixed wheel keeps its own."""
        return self._steers * self._qpos[self._steering] + self._still

    def truth(self) -> GroundTruth:
        """Return pose and twist now: of the origin of ``base_link``, in the plane."""
        position = self._qpos
        rate = self._qvel
        yaw, (vx, vy) = position[YAW], rate[0:2]
        c, s = math.cos(yaw), math.sin(yaw)
        return GroundTruth(self._time, np.array([*position[0:2], yaw]),
                           np.array([c * vx + s * vy, c * vy - s * vx, rate[YAW]]))

    def _integrate(self, wrench: Array, duration: float) -> None:
        """Advance the state by `duration` in equal steps no longer than the time step."""
        if duration <= 0:
            return
        # rounding of a whole ratio must not add a step
        steps = max(1, math.ceil(duration / self._timestep - 1e-9))
        self._model.opt.timestep = duration / steps
        # motors of wheels on one pivot turn one joint
        self._ctrl[:self._motors] = np.bincount(self._motor, self._torque[self._turned],
                                                self._motors)
        self._ctrl[self._motors:] = wrench
        if self._patches:
            grip = friction_at(self._patches, self._contact_points(), self._friction)
            # sliding friction along both tangents; condim 3 ignores the others
            self._model.pair_friction[self._pairs, :2] = grip[:, None]
        self._mj.mj_step(self._model, self._data, steps)
        roll, pitch = self._qpos[TILTS].tolist()
        # also raises for NaN
        if not (abs(roll) < FALLEN and abs(pitch) < FALLEN):
            raise FallenError(f'{self._robot.name} has fallen over {self._time:.3f} s after its '
                              'reset; lower its centre of mass, widen its base, or reduce '
                              'the load')

    def _contact_points(self) -> Array:
        """Return where the tyres touch the floor, (n, 2) m."""
        robot = self._robot
        position = self._qpos
        steering = self._angles()
        yaw = float(position[YAW])
        axle = np.column_stack([np.cos(steering), np.sin(steering)])
        point = (robot.hip_position - robot.caster_offset[:, None] * np.column_stack(
            [-np.sin(steering), np.cos(steering)]) + robot.lateral_offset[:, None] * axle)
        c, s = math.cos(yaw), math.sin(yaw)
        return position[0:2] + point @ np.array([[c, s], [-s, c]])


def shape_of(robot: CasterRobot | str | Path) -> BodyShape:
    """Return the shape from a parameter file, or the default of a model or URDF."""
    if isinstance(robot, CasterRobot):
        return BodyShape.of(robot)
    if describes_urdf(robot):
        return BodyShape.of(load_casters(robot))
    return BodyShape.read(robot)
