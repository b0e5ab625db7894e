# SPDX-License-Identifier: Apache-2.0
"""
Compile kernels into the cache beside them: those of a drive, and of the papers' other systems.

Needs NumPy, SciPy, Numba and PyYAML alone: two processes compile while the rest is installed.

    python scripts/compile_kernels.py [odometry] [control] [vehicle] [mechanism]
"""

from __future__ import annotations

import sys

import numpy as np

from c3p_description.reading.loader import load_casters

NAME = 'c3p'


def odometry() -> None:
    """Compile odometry with its monitors, and inverse dynamics: half of what a drive needs."""
    from c3p_dynamics.caster_dynamics import inverse_dynamics
    from c3p_kinematics.joint_channels import JointChannels
    from c3p_kinematics.odometry import Odometry
    from c3p_kinematics.sample_times import Repetition
    from c3p_kinematics.se2 import compose

    casters, zero = load_casters(NAME), np.zeros(3)
    Odometry(casters).warm_up()
    # what velocity_controller compares samples with; both compile where they are made
    JointChannels(casters)
    Repetition(casters.count)
    inverse_dynamics(casters, np.zeros(casters.count), zero, zero)
    compose(zero, zero)


def control() -> None:
    """Compile the controllers, what bounds their commands, plant and sensors: the other half."""
    from c3p_controller.command_follower import CommandFollower
    from c3p_controller.goals.path_controller import PathController, PathGains
    from c3p_controller.goals.reach_limits import limits_of_reach
    from c3p_controller.predictive.controller import PredictiveController
    from c3p_simulation.make_plant import PlantOptions, make_plant
    from c3p_simulation.plants.sensors import SensorSettings

    casters = load_casters(NAME)
    CommandFollower(casters, PredictiveController(casters)).warm_up()
    PathController(PathGains()).warm_up()
    limits_of_reach(casters)
    for sensors in (SensorSettings(), SensorSettings.real()):
        make_plant('analytic', NAME, PlantOptions(sensors=sensors)).step(
            np.zeros(casters.count), 0.005)


def vehicle() -> None:
    """Compile the closed-chain vehicle on rough ground."""
    from c3p_description.reading.loader import load_tricycle
    from c3p_rough_ground.closed_chain import locked_slip, place, simulate
    from c3p_rough_ground.vehicles import pvc_tricycle
    from c3p_rough_ground.worlds.terrain_files import load_terrain

    tricycle, terrain = pvc_tricycle(load_tricycle('pvc_tricycle')), load_terrain('plateau')
    start = place(tricycle, terrain, 0.0, 0.0, 0.0).require()
    locked_slip(simulate(tricycle, terrain, start, np.ones(len(tricycle.joints)), 0.1))


def mechanism() -> None:
    """Compile trees with constraints and contacts."""
    from c3p_multibody.constraints import ConstrainedMotion, Contact
    from c3p_multibody.trees import Body, Joint, Tree

    links = [Body(f'link{k}', 1.0, inertia=np.eye(3)) for k in range(2)]
    joints = [Joint('foot', 'planar'), Joint('hinge', translation=(1.0, 0.0, 0.0))]
    tree, still = Tree.from_connection([-1, 0], joints, links, (0.0, -9.81, 0.0)), np.zeros(4)
    ConstrainedMotion(tree, still, still, contacts=[Contact(
        body='link0', normal=(0, 1, 0), rough=True)]).advance(0.01)


PARTS = {'odometry': odometry, 'control': control, 'vehicle': vehicle, 'mechanism': mechanism}


def main(names: list[str]) -> None:
    """Compile the parts `names`, all without any."""
    for name in names or PARTS:
        PARTS[name]()


if __name__ == '__main__':
    main(sys.argv[1:])
