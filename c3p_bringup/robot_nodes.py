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
from c3p_ros.real_time import RealTime
from c3p_ros.session import run


def main(args: Sequence[str] | None = None) -> int:
    """Run the nodes until Ctrl-C."""
    args = sys.argv if args is None else args
    parser = argparse.ArgumentParser(prog='robot_nodes', description=__doc__)
    group = parser.add_mutually_exclusive_group()
    group.add_argument('--sim', action='store_true', help='run the simulation as well')
    group.add_argument('--hardware', action='store_true',
                       help='run the hardware interface as well')
    add_real_time(parser)
    chosen = parser.parse_args(remove_ros_args(args)[1:])
    robot = 'can' if chosen.hardware else 'none' if chosen.sim else None
    try:
        options = real_time_of(chosen)
    except ValueError as error:
        parser.error(f'{error}')
    return run(*map(factory, (*CHAIN, *ROBOTS.get(robot or '', ()))), args=args, real_time=options)


def add_real_time(parser: argparse.ArgumentParser) -> None:
    """Add the real-time options of a process to `parser`, each off by default."""
    group = parser.add_argument_group('real time', 'off by default; `c3p doctor` shows what this '
                                      'computer permits and what running nodes use')
    group.add_argument('--priority', type=int, default=0, metavar='N',
                       help='SCHED_FIFO priority of all threads, 1 to 99')
    group.add_argument('--lock-memory', action='store_true', help='keep all memory in RAM')
    group.add_argument('--awake', action='store_true',
                       help='keep idle processors awake (/dev/cpu_dma_latency); costs power')
    group.add_argument('--processors', type=lambda text: tuple(map(int, text.split(','))),
                       default=(), metavar='N,…', help='run on these processors only')
    group.add_argument('--busy-wait', type=float, default=0.0, metavar='S',
                       help='spin instead of sleeping so long before each cycle, such as 0.0003')


def real_time_of(chosen: argparse.Namespace) -> RealTime:
    """Return the options that `chosen` contains; ValueError for one out of range."""
    return RealTime(chosen.priority, chosen.lock_memory, chosen.awake, chosen.processors,
                    chosen.busy_wait)


def factory(name: str) -> Callable[..., Node]:
    """Return a function that imports and creates a node; a signal meanwhile ends the session."""
    return lambda **options: node_class(name)(**options)


if __name__ == '__main__':
    raise SystemExit(main())
