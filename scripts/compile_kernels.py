# SPDX-License-Identifier: Apache-2.0
"""
Compile the kernels of a drive into the cache beside them.

Needs NumPy, SciPy, Numba and PyYAML alone: two processes compile while the rest is installed.

    python scripts/compile_kernels.py [robot] [control]
"""

from __future__ import annotations

import sys

import numpy as np

from c3p_description.reading.loader import load_casters

NAME = 'c3p'


def robot() -> None:
    """Compile odometry and its monitors, dynamics, plant and sensors."""
    from c3p_controller.goals.reach_limits import limits_of_reach
    from c3p_dynamics.caster_dynamics import inverse_dynamics
    from c3p_kinematics.odometry import Odometry
    from c3p_kinematics.se2 import compose
    from c3p_simulation.make_plant import PlantOptions, make_plant
    from c3p_simulation.plants.sensors import SensorSettings

    casters, zero = load_casters(NAME), np.zeros(3)
    Odometry(casters).warm_up()
    inverse_dynamics(casters, np.zeros(casters.count), zero, zero)
    limits_of_reach(casters)
    encoders = SensorSettings(wheel_counts=2000, steering_counts=4096)
    make_plant('analytic', NAME, PlantOptions(sensors=encoders)).step(
        np.zeros(casters.count), 0.005)
    compose(zero, zero)


def control() -> None:
    """Compile the controllers of torque and position, and what bounds their commands."""
    from c3p_controller.command_follower import CommandFollower
    from c3p_controller.goals.path_controller import PathController, PathGains
    from c3p_controller.predictive.controller import PredictiveController

    casters = load_casters(NAME)
    CommandFollower(casters, PredictiveController(casters)).warm_up()
    PathController(PathGains()).warm_up()


PARTS = {'robot': robot, 'control': control}


def main(names: list[str]) -> None:
    """Compile the parts `names`, all without any."""
    for name in names or PARTS:
        PARTS[name]()


if __name__ == '__main__':
    main(sys.argv[1:])
