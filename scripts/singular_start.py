# SPDX-License-Identifier: Apache-2.0
"""
How the readings of the papers' control leave a singular start: the table of docs/papers.

The pure objects of the suite, called one after the other as the nodes do, on the analytic plant.
Two starts at rest: all steering angles exactly 0 with a goal 4 m along X, the direction that is
not actuated; and -60°, 60°, 180°, every wheel rolling outwards, with a turn by 1 rad as goal. Run
from the root of the repository: ``python scripts/singular_start.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

import c3p_controller
import c3p_dynamics
from c3p_controller.position_controller import (
    PositionController,
    PositionGains,
    axis_velocity,
)
from c3p_controller.reference import ReferenceLimits
from c3p_controller.velocity_controller import VelocityController, VelocityGains
from c3p_description import load
from c3p_description.model import Array, Friction
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_kinematics.odometry import Odometry
from c3p_simulation.plant import AnalyticPlant

# control period and period of the position law, s: the nodes' defaults
DT, COMMAND_PERIOD = 0.005, 0.02

# goal and steering angles of the two starts
ACROSS = (np.array([4.0, 0.0, 0.0]), np.zeros(3))
RADIAL = (np.array([0.0, 0.0, 1.0]), np.radians([-60.0, 60.0, 180.0]))

# steering that counts as having left the start, rad, and as aligned with the line, rad
LEFT, ALIGNED = math.radians(1.0), math.radians(10.0)

# cycle at which the way along X is told: 2 s
EARLY = 400

# the goal zone, m and rad
ZONE, ZONE_YAW = 0.05, 0.15

# K_v of all axes in the papers' reading, 1/s: not printed
PRINTED_VELOCITY_GAIN = 3.0


def defaults(package: Any, node: str) -> dict[str, Any]:
    """Return {name: default} of a node's parameters."""
    schema = Path(package.__file__).with_name(f'{node}_parameters.yaml')
    content = yaml.safe_load(schema.read_text(encoding='utf-8'))[node]
    return {name: entry['default_value'] for name, entry in content.items()}


VELOCITY = defaults(c3p_controller, 'velocity_controller')
POSITION = defaults(c3p_controller, 'position_controller')
WEIGHT = defaults(c3p_dynamics, 'inverse_dynamics')['virtual_steering_weight']


@dataclass(frozen=True)
class Law:
    """
    One reading of the papers.

    Attributes
    ----------
    name : str
    weight : float
        w_s of the inverse dynamics.
    gains : VelocityGains
    limits : ReferenceLimits
    printed_position_law : bool
        Table I's law instead of the suite's.
    friction : bool
        The friction of robots/c3p.yaml, or none.
    offset : float, rad
        Added to the steering angles at the start, with the factors 1, -1 and 0.5.
    """

    name: str
    weight: float
    gains: VelocityGains
    limits: ReferenceLimits
    printed_position_law: bool = False
    friction: bool = True
    offset: float = 0.0


class Start(NamedTuple):
    """
    What a run did; times in s, None: never.

    Attributes
    ----------
    steering, pose : (k, 3) arrays
        Steering angles and true pose after each cycle.
    torque : (k, 3) array
    left, aligned, arrived : float or None
        When a steering angle had changed by 1°; when all rolling lines were within 10° of the line
        to the goal, for good until the zone; when the zone was entered.
    path_error : float, m
        Largest distance from the straight line.
    """

    steering: Array
    pose: Array
    torque: Array
    left: float | None
    aligned: float | None
    arrived: float | None
    path_error: float


def filled(kind: type, values: dict[str, Any]) -> Any:
    """Return a dataclass filled with those of `values` that it has."""
    return kind(**{f.name: values[f.name] for f in fields(kind)})


def our_law(name: str, weight: float = WEIGHT, friction: bool = True, **changed: Any) -> Law:
    """Return the law with the defaults of the nodes, but for what is `changed`."""
    values = {**VELOCITY, **changed}
    limits = ReferenceLimits(values['speed_limit'], values['yaw_rate_limit'],
                             values['acceleration_limit'], values['yaw_acceleration_limit'])
    return Law(name, weight, filled(VelocityGains, values), limits, friction=friction)


def printed_law(wheel_gain: float, weight: float = 1.0, friction: bool = False) -> Law:
    """
    Return the papers' law as printed: λ = 0, 0, one gain for all axes, no ramp, no push.

    What is not printed: K_v = PRINTED_VELOCITY_GAIN, and the gain K_w of the wheel-axis loop.
    """
    gain = PRINTED_VELOCITY_GAIN
    gains = VelocityGains(
        linear_gain=gain, yaw_gain=gain, turn_gain=0.0, turn_integral_gain=0.0, integral_gain=0.0,
        wheel_gain=wheel_gain, lambda_1=0.0, lambda_2=0.0, friction_compensation=0.0,
        escape_jerk=0.0)
    none = ReferenceLimits(math.inf, math.inf, math.inf, math.inf)
    return Law(f'as printed, w_s = {weight:g}, K_w = {wheel_gain:g}', weight, gains, none,
               printed_position_law=True, friction=friction)


def printed_position_law(goal: Array) -> Callable[[Array], Array]:
    """Return eqs (14)-(16) with Table I and one-argument arctangents: pose to ``base_link``."""
    def angle(x: float, y: float) -> float:
        return math.atan(-y / x) if x else 0.0

    start_angle = angle(goal[0], goal[1])

    def twist(pose: Array) -> Array:
        error = goal - pose
        velocity = axis_velocity(error[:2], (0.5, 0.0), (1.2, 1.2))
        turn = 0.2 * error[2] - 0.3 * (start_angle - angle(error[0], error[1]))
        c, s = math.cos(pose[2]), math.sin(pose[2])
        # the goal zone stops the robot
        if math.hypot(error[0], error[1]) <= ZONE:
            return np.array([0.0, 0.0, turn])
        return np.array([c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0],
                         turn])
    return twist


def our_position_law(goal: Array) -> Callable[[Array], Array]:
    """Return the suite's position law with the defaults of its node."""
    controller = PositionController(filled(PositionGains, POSITION))
    controller.set_goal(goal, np.zeros(3))
    return lambda pose: controller.step(pose).twist


def run(law: Law, goal: Array, steering: Array, seconds: float = 20.0) -> Start:
    """Drive from the origin towards `goal` until its zone is entered or time is up."""
    robot = load('c3p')
    if not law.friction:
        robot = replace(robot, friction=Friction())
    plant, odometry = AnalyticPlant(robot), Odometry(robot)
    position = (printed_position_law if law.printed_position_law else our_position_law)(goal)
    controller = VelocityController(robot, law.gains, law.limits, WEIGHT)
    steering = steering + law.offset * np.array([1.0, -1.0, 0.5])
    sample, command = plant.reset(steering=steering), np.zeros(3)
    angles, poses, torques, arrived = [sample.steering], [plant.truth().pose], [], None
    while sample.time < seconds and arrived is None:
        estimate = odometry.step(sample.time, sample.steering, sample.wheel_angle,
                                 sample.wheel_rate, sample.steering_rate)
        # a command counts from the cycle after the one whose odometry it answers
        accel = controller.ask(command, estimate.twist, DT)
        if len(torques) % round(COMMAND_PERIOD / DT) == 0:
            command = position(estimate.pose)
        dynamics = inverse_dynamics(robot, sample.steering, estimate.twist, accel, law.weight)
        torques.append(controller.fuse(sample.steering, sample.wheel_rate, estimate.twist,
                                       dynamics))
        sample = plant.step(torques[-1], DT)
        angles.append(sample.steering)
        poses.append(plant.truth().pose)
        off = goal - poses[-1]
        if math.hypot(off[0], off[1]) <= ZONE and abs(off[2]) <= ZONE_YAW:
            arrived = sample.time
    return judge(np.array(angles), np.array(poses), np.array(torques), goal, arrived)


def judge(steering: Array, pose: Array, torque: Array, goal: Array, arrived: float | None
          ) -> Start:
    """Return the figures of a run."""
    moved = np.flatnonzero((np.abs(steering - steering[0]) > LEFT).any(axis=1))
    length = math.hypot(goal[0], goal[1])
    aligned, path_error = None, float(np.hypot(pose[:, 0], pose[:, 1]).max())
    if length > 0.0:
        line = goal[:2] / length
        # rolling lines over the floor have no direction: the angle between 0 and 90°
        heading = pose[:, 2:] + steering
        across = np.abs(np.sin(heading) * line[1] + np.cos(heading) * line[0])
        out = np.flatnonzero((across > math.sin(ALIGNED)).any(axis=1))
        last = out[-1] + 1 if len(out) else 0
        aligned = DT * last if last < len(pose) else None
        along = np.clip(pose[:, :2] @ line, 0.0, length)
        path_error = float(np.hypot(*(pose[:, :2] - along[:, None] * line).T).max())
    return Start(steering, pose, torque, DT * moved[0] if len(moved) else None, aligned, arrived,
                 path_error)


def across_laws() -> list[Law]:
    """Return the readings for the start from parallel casters."""
    bare = our_law('pseudo-inverse, w_s = 0', weight=0.0, friction=False,
                   friction_compensation=0.0, escape_jerk=0.0)
    return [
        *(printed_law(gain) for gain in (0.0, 0.1, 0.5)),
        *(printed_law(gain, friction=True) for gain in (0.0, 0.1, 0.5)),
        printed_law(0.0, weight=WEIGHT),
        bare,
        replace(bare, friction=True),
        replace(bare, name='the same, 1e-12 rad off parallel', offset=1e-12),
        our_law('default', friction=False, friction_compensation=0.0),
        our_law('default, friction not compensated', friction_compensation=0.0),
        our_law('default'),
        our_law('default but w_s = 1', weight=1.0),
        our_law('default but stiff yaw, K_v = 20', yaw_gain=20.0),
        our_law('default but no ramp', acceleration_limit=math.inf),
    ]


def radial_laws() -> list[Law]:
    """Return the readings for the turn from rolling lines that meet at the centre."""
    return [
        replace(printed_law(0.1), name='as printed, K_w = 0.1'),
        our_law('pseudo-inverse, w_s = 0', weight=0.0, friction=False, escape_jerk=0.0),
        our_law('default without push', friction=False, escape_jerk=0.0),
        our_law('default without push', escape_jerk=0.0),
        our_law('default', friction=False),
        our_law('default'),
    ]


def row(law: Law, found: Start, turn: bool) -> str:
    """Return a line of the table; a turn on the spot has no line to be aligned with."""
    def seconds(value: float | None) -> str:
        return 'never' if value is None else f'{value:.2f}'

    aligned = '-' if turn else seconds(found.aligned)
    return (f'| {law.name} | {"yes" if law.friction else "no"} | {seconds(found.left)} '
            f'| {aligned} | {round(100 * found.pose[EARLY, 0], 1) + 0.0} '
            f'| {100 * found.path_error:.1f} | {seconds(found.arrived)} '
            f'| {np.abs(found.torque).max():.2f} |')


HEAD = ('| law | friction | steering moves 1° [s] | aligned to 10° [s] | X after 2 s [cm] '
        '| path error [cm] | in the zone [s] | torque [N·m] |\n|---|---|---|---|---|---|---|---|')


def main() -> None:
    """Print both tables, 40 s of robot time each."""
    for title, (goal, steering), laws in (
            ('All steering angles 0, goal 4 m along X', ACROSS, across_laws()),
            ('Steering -60°, 60°, 180°, goal: turn by 1 rad', RADIAL, radial_laws())):
        print(f'{title}\n\n{HEAD}')
        for law in laws:
            print(row(law, run(law, goal, steering, 40.0), not goal[:2].any()), flush=True)
        print()


if __name__ == '__main__':
    main()
