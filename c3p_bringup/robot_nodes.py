# SPDX-License-Identifier: Apache-2.0
"""
All nodes of the robot in one process: the shortest way from joint states to wheel efforts.

``robot_nodes`` runs the four nodes of the control chain, ``robot_nodes --sim`` the simulated robot
and ``robot_nodes --hardware`` the interface to the motor cards with them. ROS arguments
(``--ros-args``) reach every node, so one parameter file serves this process as well as separate
ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from c3p_controller.position_controller_node import PositionControllerNode
from c3p_controller.velocity_controller_node import VelocityControllerNode
from c3p_dynamics.inverse_dynamics_node import InverseDynamicsNode
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode
from c3p_ros.executor import run

# in the order in which a cycle needs them
CHAIN: tuple[type[Node], ...] = (SensedKinematicsNode, VelocityControllerNode,
                                 InverseDynamicsNode, PositionControllerNode)


def robot_node(hardware: str) -> type[Node]:
    """Return the node that owns the cycle: the simulation, or the interface to the cards."""
    if hardware == 'none':
        from c3p_simulation.simulation_node import SimulationNode
        return SimulationNode
    from c3p_hardware.hardware_interface_node import HardwareInterfaceNode
    return HardwareInterfaceNode


def main(args: Sequence[str] | None = None) -> int:
    """Run the nodes until Ctrl-C."""
    args = sys.argv if args is None else args
    parser = argparse.ArgumentParser(prog='robot_nodes', description=__doc__)
    robot = parser.add_mutually_exclusive_group()
    robot.add_argument('--sim', action='store_true', help='run the simulated robot as well')
    robot.add_argument('--hardware', action='store_true',
                       help='run the interface to the motor cards as well')
    chosen = parser.parse_args(remove_ros_args(args)[1:])
    nodes = list(CHAIN)
    if chosen.sim or chosen.hardware:
        nodes.append(robot_node('can' if chosen.hardware else 'none'))
    return run(*nodes, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
