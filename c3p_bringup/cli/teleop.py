# SPDX-License-Identifier: Apache-2.0
"""``c3p teleop``: drive the robot with the keyboard of this terminal."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from c3p_bringup.cli.common import add_json, add_robot, make_places, positive, show
from c3p_bringup.teleop import TAP

# initial speed and yaw rate, m/s and rad/s
SPEED = 0.2
YAW_RATE = 0.5


def add_teleop(commands: Any) -> None:
    """Add the command to the subparsers of ``c3p``."""
    teleop = commands.add_parser(
        'teleop',
        description='Drive the robot with the keyboard of this terminal. The robot stops when a '
                    'key is released. Commands go to cmd_vel_keyboard where a twist_mux '
                    'listens, else to cmd_vel.')
    add_robot(teleop)
    teleop.add_argument('--namespace', default='', metavar='NS',
                        help='namespace of the robot, such as robot1 (default: none)')
    teleop.add_argument('--topic', default='',
                        help='topic of the commands (default: see above)')
    teleop.add_argument('--speed', type=positive, default=SPEED, metavar='M/S',
                        help='initial speed (default: %(default)s)')
    teleop.add_argument('--yaw-rate', type=positive, default=YAW_RATE, metavar='RAD/S',
                        help='initial yaw rate (default: %(default)s)')
    teleop.add_argument('--tap', type=positive, default=TAP, metavar='S',
                        help='duration of a single press; shorter than the repeat delay of the '
                             'keyboard leaves a gap (default: %(default)s)')
    teleop.add_argument('--plain', action='store_true', help='send Twist, not TwistStamped')
    teleop.add_argument('--use-sim-time', action='store_true',
                        help='stamp the commands with the time of /clock')
    add_json(teleop)
    teleop.set_defaults(run=_teleop)


def default_limits() -> tuple[float, float]:
    """Return the default speed and yaw rate limits of the velocity controller, m/s and rad/s."""
    from c3p_description.reading.files import share_file
    from c3p_ros.schema import read_schema

    schema = read_schema(share_file('c3p_controller/velocity_controller_parameters.yaml'))
    speed, yaw_rate = (float(schema[name]['default_value'])
                       for name in ('speed_limit', 'yaw_rate_limit'))
    return speed, yaw_rate


def _teleop(arguments: argparse.Namespace) -> int:
    from c3p_bringup.teleop.screen import Terminal

    terminal = Terminal(sys.stdin, sys.stdout)
    from c3p_bringup.teleop.keys import KeyDrive
    from c3p_bringup.teleop.robot_link import RobotLink
    from c3p_bringup.teleop.teleop import Teleop, signals_end, spinning
    from c3p_description.reading.loader import load
    from c3p_ros.session import Session

    if arguments.json is not None:
        make_places(arguments.json.parent, arguments.json)
    robot = load(arguments.robot)
    drive = KeyDrive(arguments.speed, arguments.yaw_rate, *default_limits(), arguments.tap)
    with Session(namespace=arguments.namespace, remap_frames=False) as session:
        link = session.add(RobotLink, {'use_sim_time': arguments.use_sim_time}, robot=robot,
                           topic=arguments.topic, stamped=not arguments.plain)
        teleop = Teleop(link, drive, terminal)
        with signals_end(teleop), spinning(session.executor), terminal:
            teleop.run()
    show(teleop.metrics, arguments.json, summary(teleop.metrics))
    return 0


def summary(metrics: dict[str, Any]) -> str:
    """Return a summary in one or two lines."""
    text = (f'  {metrics["commands"]} commands to {metrics["topic"]}, {metrics["stops"]} stops, '
            f'in {metrics["duration_s"]:.0f} s')
    if metrics['e_stop_held']:
        text += ('\n  the e-stop remains engaged; release it with c3p teleop, key r, or ros2 '
                 "topic pub --once e_stop std_msgs/msg/Bool '{data: false}'")
    return text
