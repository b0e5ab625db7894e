# SPDX-License-Identifier: Apache-2.0
"""The cascade and a simulated robot without ROS: the pure objects, called one after the other."""

import math
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

import c3p_controller
import c3p_dynamics
from c3p_controller.limits import ReferenceLimits
from c3p_controller.paper.exponential import PositionController, PositionGains
from c3p_controller.paper.velocity import PaperLaw, PaperSettings, VelocityGains
from c3p_controller.torque_law import Sensed
from c3p_description import load
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_kinematics.odometry import Odometry
from c3p_simulation.plants.plant import AnalyticPlant

RATE, DWELL = 200.0, 1.0
ROBOT = load('c3p')


def defaults(package, node):
    """Return {name: default} of a node's schema, so that what ships is what is tested."""
    text = Path(package.__file__).with_name(f'{node}_parameters.yaml').read_text()
    return {name: entry['default_value'] for name, entry in yaml.safe_load(text)[node].items()
            if 'default_value' in entry}


VELOCITY = defaults(c3p_controller, 'velocity_controller')
POSITION = defaults(c3p_controller, 'position_controller')
DYNAMICS = defaults(c3p_dynamics, 'inverse_dynamics')


def chosen(kind, values):
    """Return a dataclass filled with those of `values` that it has."""
    return kind(**{f.name: values[f.name] for f in fields(kind)})


def velocity_controller(**changed):
    """Return the velocity controller with the node's defaults."""
    values = {**VELOCITY, **changed}
    limits = ReferenceLimits(values['speed_limit'], values['yaw_rate_limit'],
                             values['acceleration_limit'], values['yaw_acceleration_limit'])
    return PaperLaw(ROBOT, PaperSettings(chosen(VelocityGains, values), limits,
                                         values['virtual_steering_weight']))


class Drive(NamedTuple):
    """True poses (k, 3), torques (k, n), time of arrival (None: never) and what was asked."""

    poses: np.ndarray
    torques: np.ndarray
    arrived: float | None
    goal: np.ndarray

    @property
    def path_error(self):
        """Largest distance from the straight line between start and goal, m."""
        way = self.poses[:, :2] - self.poses[0, :2]
        line = self.goal[:2] - self.poses[0, :2]
        length = math.hypot(*line)
        if length == 0.0:
            return float(np.hypot(*way.T).max())
        along = np.clip(way @ line / length**2, 0.0, 1.0)
        return float(np.hypot(*(way - along[:, None] * line).T).max())

    @property
    def final_error(self):
        """Distance to the goal at the end, m."""
        return float(math.hypot(*(self.goal[:2] - self.poses[-1, :2])))


def drive(goal, steering, timeout=30.0):
    """Drive from the origin to `goal` until the goal zone has been held for DWELL seconds."""
    goal, dt = np.array(goal, float), 1.0 / RATE
    plant, odometry = AnalyticPlant(ROBOT), Odometry(ROBOT)
    position, velocity = PositionController(chosen(PositionGains, POSITION)), velocity_controller()
    sample = plant.reset(steering=steering)
    position.set_goal(goal, np.zeros(3))
    command, since = np.zeros(3), None
    poses, torques = [plant.truth().pose], []
    while sample.time < timeout:
        estimate = odometry.step(sample.time, sample.steering, sample.wheel_angle,
                                 sample.wheel_rate, sample.steering_rate)
        # a command counts from the cycle after the one whose odometry it answers, as in the nodes
        accel = velocity.accel(command, estimate.twist, dt)
        answer = position.step(estimate.pose)
        command = answer.twist
        dynamics = inverse_dynamics(ROBOT, sample.steering, estimate.twist, accel,
                                    DYNAMICS['virtual_steering_weight'])
        torque = velocity.fuse(Sensed(sample.time, sample.steering, sample.wheel_rate,
                                       estimate.pose, estimate.twist), dynamics)
        since = (sample.time if since is None else since) if answer.reached else None
        if since is not None and sample.time - since >= DWELL:
            break
        sample = plant.step(torque, dt)
        poses.append(plant.truth().pose)
        torques.append(torque)
    else:
        since = None
    return Drive(np.array(poses), np.array(torques), since, goal)
