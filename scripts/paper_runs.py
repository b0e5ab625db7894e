# SPDX-License-Identifier: Apache-2.0
"""
Simulation of the papers' laws for the tables of docs/papers/el_shenawy.md.

The objects of the suite without ROS, called in the order of the nodes, on the analytic plant:
200 Hz, position law at 50 Hz, odometry from the joints. `singular_start.py` and
`paper_ambiguities.py` print the tables.
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
from c3p_controller.limits import ReferenceLimits
from c3p_controller.paper.exponential import PositionController, PositionGains
from c3p_controller.paper.fusion import OUR_READING, FusionOptions
from c3p_controller.paper.position import (
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
)
from c3p_controller.paper.velocity import PaperLaw, PaperSettings, VelocityGains
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description import load
from c3p_description.model import Array, Friction
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_simulation.plants.plant import AnalyticPlant

# control period and period of the position law, s: the nodes' defaults
DT, COMMAND_PERIOD = 0.005, 0.02

# steering that counts as having left the start, rad, and as aligned with the line, rad
LEFT, ALIGNED = math.radians(1.0), math.radians(10.0)

# the goal zone, m and rad
ZONE, ZONE_YAW = 0.05, 0.15

# K_v of all axes in the papers' reading, 1/s: not printed
PRINTED_VELOCITY_GAIN = 3.0

Position = PositionController | PaperPositionController


def defaults(package: Any, node: str) -> dict[str, Any]:
    """Return {name: default} of a node's parameters without groups."""
    schema = Path(package.__file__).with_name(f'{node}_parameters.yaml')
    content = yaml.safe_load(schema.read_text(encoding='utf-8'))[node]
    return {name: entry['default_value'] for name, entry in content.items()
            if 'default_value' in entry}


VELOCITY = defaults(c3p_controller, 'velocity_controller')
POSITION = defaults(c3p_controller, 'position_controller')
WEIGHT = defaults(c3p_dynamics, 'inverse_dynamics')['virtual_steering_weight']


def filled(kind: type, values: dict[str, Any]) -> Any:
    """Return a dataclass filled with those of `values` that it has."""
    return kind(**{f.name: values[f.name] for f in fields(kind)})


def our_position() -> Position:
    """Return the suite's position law with the defaults of its node."""
    return PositionController(filled(PositionGains, POSITION))


def paper_position(gains: PaperPositionGains | None = None, **options: str
                   ) -> Callable[[], Position]:
    """Return a factory of the papers' position law with modified `options`."""
    return lambda: PaperPositionController(gains, PaperPositionOptions(**options))


@dataclass(frozen=True)
class Law:
    """
    One interpretation of the papers.

    Attributes
    ----------
    name : str
    weight : float
        w_s of the inverse dynamics.
    gains : VelocityGains
    limits : ReferenceLimits
    position : callable
        Makes the position law.
    friction : bool
        The friction of robots/c3p.yaml, or none.
    offset : float, rad
        Added to the steering angles at the start, with the factors 1, -1 and 0.5.
    fusion : FusionOptions
    zone_yaw : float, rad
        Yaw tolerance of the goal zone; unlimited in the papers.
    """

    name: str
    weight: float
    gains: VelocityGains
    limits: ReferenceLimits
    position: Callable[[], Position] = our_position
    friction: bool = True
    offset: float = 0.0
    fusion: FusionOptions = OUR_READING
    zone_yaw: float = ZONE_YAW


def our_law(name: str, weight: float = WEIGHT, friction: bool = True, **changed: Any) -> Law:
    """Return the law with the defaults of the nodes, except for `changed`."""
    values = {**VELOCITY, **changed}
    limits = ReferenceLimits(values['speed_limit'], values['yaw_rate_limit'],
                             values['acceleration_limit'], values['yaw_acceleration_limit'],
                             values['command_smoothing'])
    return Law(name, weight, filled(VelocityGains, values), limits, friction=friction)


def printed_law(wheel_gain: float, weight: float = 1.0, friction: bool = False,
                position: Callable[[], Position] | None = None) -> Law:
    """
    Return the papers' law as printed: λ = 0, 0, one gain for all axes, no ramp, no push.

    What is not printed: K_v = PRINTED_VELOCITY_GAIN, and the gain K_w of the wheel-axis loop.

    Parameters
    ----------
    wheel_gain : float, N·m·s/rad
    weight : float
    friction : bool
    position : callable or None
        None: eqs (14)-(16) with Table I and R(φ); an angle 0/0 is left out.
    """
    gain = PRINTED_VELOCITY_GAIN
    gains = VelocityGains(
        linear_gain=gain, yaw_gain=gain, turn_gain=0.0, turn_integral_gain=0.0, integral_gain=0.0,
        wheel_gain=wheel_gain, lambda_1=0.0, lambda_2=0.0, friction_compensation=0.0,
        escape_jerk=0.0)
    none = ReferenceLimits(math.inf, math.inf, math.inf, math.inf, smoothing=0.0)
    position = position or paper_position(line='as_printed', arctangent='one_argument',
                                          angles='as_printed')
    return Law(f'as printed, w_s = {weight:g}, K_w = {wheel_gain:g}', weight, gains, none,
               position, friction, zone_yaw=math.inf)


class Drive(NamedTuple):
    """
    Recorded run; times in s.

    Attributes
    ----------
    steering, pose : (k, 3) arrays
        Steering angles and true pose after each cycle, those of the start first.
    torque : (k - 1, 3) array
    leg : (k,) int array
        Index of the active goal.
    entered : list of float
        Times of entering the zones of the reached goals.
    """

    steering: Array
    pose: Array
    torque: Array
    leg: Array
    entered: list[float]


def drive(law: Law, goals: Array, steering: Array, seconds: float, dwell: float = 0.0) -> Drive:
    """
    Drive from the origin to one goal after the other.

    Parameters
    ----------
    law : Law
    goals : (m, 3) array, m and rad
    steering : (3,) array, rad
        At the start.
    seconds : float
        At most for each leg.
    dwell : float, s
        From entering a zone to the next goal or the end.
    """
    robot = load('c3p') if law.friction else replace(load('c3p'), friction=Friction())
    plant, position = AnalyticPlant(robot), law.position()
    odometry = Odometry(robot, OdometrySettings(**SYNCHRONOUS))
    torque_law = PaperLaw(robot, PaperSettings(law.gains, law.limits, law.weight, law.fusion))
    sample = plant.reset(steering=steering + law.offset * np.array([1.0, -1.0, 0.5]))
    position.set_goal(goals[0], np.zeros(3))
    angles, poses, torques, legs = [sample.steering], [plant.truth().pose], [], [0]
    entered, begun, command = [], 0.0, np.zeros(3)
    while sample.time - begun < seconds:
        estimate = odometry.step(sample.time, sample.steering, sample.wheel_angle,
                                 sample.wheel_rate, sample.steering_rate)
        # a command counts from the cycle after the one whose odometry it answers
        sensed = Sensed(sample.time, sample.steering, sample.wheel_rate, estimate.pose,
                        estimate.twist)
        asked = Setpoint(command)
        if len(torques) % round(COMMAND_PERIOD / DT) == 0:
            command = position.step(estimate.pose).twist
        torques.append(torque_law.step(sensed, asked, DT))
        sample = plant.step(torques[-1], DT)
        angles.append(sample.steering)
        poses.append(plant.truth().pose)
        legs.append(legs[-1])
        off = goals[legs[-1]] - poses[-1]
        if (len(entered) == legs[-1] and math.hypot(off[0], off[1]) <= ZONE
                and abs(off[2]) <= law.zone_yaw):
            entered.append(sample.time)
        if len(entered) > legs[-1] and sample.time - entered[-1] >= dwell:
            if len(entered) == len(goals):
                break
            legs[-1] += 1
            begun = sample.time
            position.set_goal(goals[legs[-1]], estimate.pose)
    return Drive(np.array(angles), np.array(poses), np.array(torques), np.array(legs), entered)


def off_line(pose: Array, start: Array, goal: Array) -> Array:
    """Return the distances (k,) of positions from the segment `start` to `goal`, m."""
    way = goal[:2] - start[:2]
    length = math.hypot(*way)
    line = way / length if length > 0.0 else np.zeros(2)
    along = np.clip((pose[:, :2] - start[:2]) @ line, 0.0, length)
    return np.hypot(*(pose[:, :2] - start[:2] - along[:, None] * line).T)


def aligned_at(run: Drive, goal: Array) -> float | None:
    """Return when all rolling lines were within ALIGNED of the line until near `goal`, s."""
    line = goal[:2] / math.hypot(*goal[:2])
    # rolling lines over the floor have no direction: the angle between 0 and 90°
    heading = run.pose[:, 2:] + run.steering
    across = np.abs(np.sin(heading) * line[1] + np.cos(heading) * line[0])
    # near the goal the way that is left has any direction
    near = np.flatnonzero(np.hypot(*(run.pose[:, :2] - goal[:2]).T) <= ZONE)
    last = int(near[0]) if len(near) else len(across) - 1
    out = np.flatnonzero((across[:last + 1] > math.sin(ALIGNED)).any(axis=1))
    first = out[-1] + 1 if len(out) else 0
    return DT * first if first <= last else None


def seconds(value: float | None) -> str:
    """Return a time as formatted in the tables."""
    return 'never' if value is None else f'{value:.2f}'
