# SPDX-License-Identifier: Apache-2.0
"""Drives on the contact plant with oil, blocked wheels, curbs and carpet; their true slip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.closed_loop import LoopLog, LoopOptions, run_loop, timed_odometry
from c3p_experiments.loop.command_sources import TwistSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.singularity import length_scale
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.parameter_errors import FRICTION
from c3p_simulation.plants.plant import AnalyticPlant, GroundTruth, JointSample
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# kinds of scenes; those with slip, and those without a fault
SLIPPERY = ('oil', 'blocked', 'curb')
HARMLESS = ('clean', 'carpet')

# side of an oil patch and distance of their centres, m; µ of oil
OIL = 0.3
SPACING = 0.9
OIL_FRICTION = 0.05

# dry friction of a blocked wheel per grip of the tyre, and of wheels on carpet per that on floor
BLOCKED = 3.0
CARPET = 8.0

# duration of a blocked wheel and of a blow by a curb, s, and time between two
HELD = 0.6
BLOW = 0.06
PAUSE = 2.5

# largest speeds of the random drives, m/s and rad/s per 0.343 m of lever
SPEED = 0.5
TURN = 1.2
LEVER = 0.343


class Scene(NamedTuple):
    """
    A drive.

    Attributes
    ----------
    kind : str
    robot : CasterRobot
        The true one.
    joints : Joints
        As sensed by encoders.
    slip : (k, n, 2) array, m/s
        True velocity of each wheel contact against the floor, sensed minus rolling, [along,
        across].
    log : LoopLog
    """

    kind: str
    robot: CasterRobot
    joints: Joints
    slip: Array
    log: LoopLog


@dataclass
class ScenePlant:
    """A plant in which a wheel is blocked now and then; it records the true slip."""

    plant: Any
    kind: str
    seed: int

    def __post_init__(self) -> None:
        """Take the wheels that are blocked in turn."""
        self.slips: list[tuple[float, Array]] = []
        self._rng = np.random.default_rng([5, self.seed])
        n = self.robot.count
        self._begin = 1.0 + PAUSE * np.arange(200) + self._rng.uniform(0.0, 1.0, 200)
        self._wheel = self._rng.integers(n, size=200)
        if isinstance(self.plant, MujocoPlant):
            self._dof = 7 + 2 * np.arange(n)
            self._loss = self.plant.model.dof_frictionloss[self._dof].copy()
            grip = 0.8 * 9.81 * self.robot.total_mass / n * self.robot.wheel_radius
            self._most = BLOCKED * grip

    @property
    def robot(self) -> CasterRobot:
        """Model of the simulated robot."""
        return self.plant.robot

    @property
    def time(self) -> float:
        """Seconds since `reset`."""
        return self.plant.time

    def reset(self, *place: ArrayLike, **more: ArrayLike) -> JointSample:
        """Place the robot."""
        self.slips.clear()
        return self.plant.reset(*place, **more)

    def push(self, *push: Any) -> None:
        """Push the platform."""
        self.plant.push(*push)

    def sense(self) -> JointSample:
        """Return the joints now."""
        return self.plant.sense()

    def truth(self) -> GroundTruth:
        """Return pose and twist now."""
        return self.plant.truth()

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointSample:
        """Advance; block and release wheels."""
        if self.kind in ('blocked', 'curb'):
            lasts = HELD if self.kind == 'blocked' else BLOW
            loss = self._loss.copy()
            for begin, wheel in zip(self._begin, self._wheel, strict=True):
                if begin <= self.time < begin + lasts:
                    loss[wheel] = self._most[wheel]
            self.plant.model.dof_frictionloss[self._dof] = loss
        sample = self.plant.step(wheel_torque, dt)
        rolled, turned, _ = inverse(self.robot, sample.steering, self.truth().twist)
        slip = np.stack([self.robot.wheel_radius * (sample.wheel_rate - rolled),
                         -self.robot.caster_offset * (sample.steering_rate - turned)], -1)
        self.slips.append((self.time, slip))
        return sample


def ring(robot: CasterRobot, count: int) -> CasterRobot:
    """Return a robot with `count` casters like the first of `robot`, on its circle."""
    friction = replace(robot.friction, **{name: float(robot.losses[0, k])
                                          for k, name in enumerate(FRICTION)})
    return CasterRobot.regular(
        float(np.hypot(*robot.hip_position[0])), 2.0 * np.pi * (np.arange(count) + 0.5) / count,
        float(robot.caster_offset[0]), float(robot.wheel_radius[0]), robot.platform_mass,
        robot.platform_inertia, link_mass=float(robot.link_mass[0]),
        link_com=float(robot.link_com[0]), link_inertia=float(robot.link_inertia[0]),
        wheel_mass=float(robot.wheel_mass[0]),
        wheel_spin_inertia=float(robot.wheel_spin_inertia[0]),
        wheel_yaw_inertia=float(robot.wheel_yaw_inertia[0]), friction=friction)


def commands(robot: CasterRobot, seed: int, duration: float) -> TwistSource:
    """Return random twists, held for 0.8 to 2.5 s, some of them zero."""
    rng = np.random.default_rng([3, seed])
    times = [0.0]
    twists = [np.zeros(3)]
    turn = TURN * LEVER / max(length_scale(robot), LEVER)
    while times[-1] < duration:
        heading = rng.uniform(-np.pi, np.pi)
        speed = SPEED * rng.uniform(0.15, 1.0)
        twist = np.array([speed * np.cos(heading), speed * np.sin(heading),
                          turn * rng.uniform(-1.0, 1.0) * (rng.random() < 0.6)])
        twists.append(twist * (rng.random() > 0.12))
        times.append(times[-1] + rng.uniform(0.8, 2.5))
    steps = np.array(times)
    values = np.array(twists)
    return TwistSource(lambda t: values[int(np.searchsorted(steps, t, side='right')) - 1])


def oil_patches(seed: int, reach: float = 2.7) -> tuple[FloorPatch, ...]:
    """Return oil patches, irregularly over the floor."""
    rng = np.random.default_rng([4, seed])
    grid = np.arange(-reach, reach, SPACING)
    out = []
    for x in grid:
        for y in grid:
            a, b = (x, y) + rng.uniform(-0.25, 0.25, 2)
            out.append(FloorPatch((a, a + OIL), (b, b + OIL), OIL_FRICTION))
    return tuple(out)


def drive(robot: CasterRobot, kind: str, seed: int, duration: float,
          plant: str = 'mujoco', controller: str = 'mpc',
          sensors: SensorSettings | None = None, rate: float = 200.0) -> Scene:
    """
    Drive `robot` at random in a scene.

    Parameters
    ----------
    robot : CasterRobot
    kind : str
        Of `SLIPPERY` or `HARMLESS`; a plant that is not mujoco has only ``clean``.
    seed : int
    duration : float, s
    plant, controller : str
    sensors : SensorSettings, optional
    rate : float, Hz

    Raises
    ------
    ModelError
        The robot has wheels other than casters, whose joints the scenes do not block.
    """
    robot.require_casters('scenes of slip')
    base: Any
    if plant == 'mujoco':
        base = MujocoPlant(robot, patches=oil_patches(seed) if kind == 'oil' else ())
        if kind == 'carpet':
            base.model.dof_frictionloss[7 + 2 * np.arange(robot.count)] *= CARPET
    else:
        base = AnalyticPlant(robot)
    scene = ScenePlant(base, kind, seed)
    settings = sensors or SensorSettings()
    sensed = SensedPlant(scene, settings, seed)
    law = make_controller(controller, robot).law
    steering = np.random.default_rng([6, seed]).uniform(-np.pi, np.pi, robot.count)
    log = run_loop(sensed, law, commands(robot, seed, duration), duration=duration,
                   odometry=Odometry(robot, OdometrySettings(**timed_odometry(settings.timing))),
                   steering=steering, options=LoopOptions(rate))
    times = np.array([t for t, _ in scene.slips])
    slips = np.array([s for _, s in scene.slips])
    # the last step of the plant in each cycle
    last = np.searchsorted(times, log.joints.time + 1e-9, side='right') - 1
    slip = np.where((last >= 0)[:, None, None], slips[np.maximum(last, 0)], 0.0)
    return Scene(kind, robot, log.joints, slip, log)
