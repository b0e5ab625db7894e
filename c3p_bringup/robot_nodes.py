# SPDX-License-Identifier: Apache-2.0
"""
All nodes of the robot in one process: the lowest latency from joint states to wheel efforts.

``robot_nodes`` runs the four nodes of the control chain, ``robot_nodes --sim`` the simulated robot
and ``robot_nodes --hardware`` the interface to the motor cards with them. ROS arguments
(``--ros-args``) reach every node, so one parameter file serves this process as well as separate
ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from c3p_bringup.nodes import CHAIN, ROBOTS, node_class
from c3p_ros.session import run


def main(args: Sequence[str] | None = None) -> int:
    """Run the nodes until Ctrl-C."""
    args = sys.argv if args is None else args
    parser = argparse.ArgumentParser(prog='robot_nodes', description=__doc__)
    group = parser.add_mutually_exclusive_group()
    group.add_argument('--sim', action='store_true', help='run the simulation as well')
    group.add_argument('--hardware', action='store_true',
                       help='run the hardware interface as well')
    chosen = parser.parse_args(remove_ros_args(args)[1:])
    robot = 'can' if chosen.hardware else 'none' if chosen.sim else None
    return run(*map(factory, (*CHAIN, *ROBOTS.get(robot or '', ()))), args=args)


def factory(name: str) -> Callable[..., Node]:
    """Return a function that imports and creates a node; a signal meanwhile ends the session."""
    return lambda **options: node_class(name)(**options)


if __name__ == '__main__':
    raise SystemExit(main())
