# SPDX-License-Identifier: Apache-2.0
"""``c3p drive``: a simulated robot to a pose, through real nodes and topics."""

from __future__ import annotations

import argparse
import gc
import math
import sys
from typing import Any

from c3p_bringup.choices import HARDWARE, REALTIME
from c3p_bringup.cli.common import (
    add_controller,
    add_params_file,
    add_plant,
    add_results,
    add_robot,
    add_sensors,
    finite,
    make_places,
    not_negative,
    positive,
    progress_bar,
)


def add_drive(commands: Any) -> None:
    """Add the command ``drive`` to the subparsers `commands`."""
    drive = commands.add_parser(
        'drive',
        description='Drive the simulated robot from (0, 0, 0) to X Y YAW in the odometry frame, '
                    'through real nodes and topics. Exit code 1 when the goal is missed.')
    drive.add_argument('x', type=finite, metavar='X', help='m')
    drive.add_argument('y', type=finite, metavar='Y', help='m')
    drive.add_argument('yaw', type=finite, metavar='YAW', help='rad, one turn at most')
    drive.add_argument('--radians', action='store_true', help='accept a YAW of more than one turn')
    add_robot(drive)
    drive.add_argument('--start-steering', type=finite, nargs='+', default=[0.0], metavar='DEG',
                       help='steering angles at the start, one for all or one per caster '
                            '(default: 0, where the X direction is not actuated)')
    add_plant(drive)
    add_sensors(drive, 'encoders with --plant mujoco, else ideal')
    drive.add_argument('--hardware', choices=HARDWARE, default='none',
                       help='emulated: through the hardware interface, CANopen frames and '
                            'emulated motor cards in a process of their own (default: '
                            '%(default)s)')
    add_controller(drive)
    drive.add_argument('--nodes', choices=['one-process', 'processes'], default='one-process',
                       help='all nodes in this process, or each in its own (default: %(default)s)')
    drive.add_argument('--realtime-factor', type=not_negative, default=1.0, metavar='F',
                       help='robot time per real time; 0 is lockstep, as fast as the computer can '
                            'and the same result every time (default: %(default)s)')
    drive.add_argument('--realtime', choices=REALTIME, default=REALTIME[0],
                       help='while the computer is busy, the simulated robot waits for its '
                            'controllers and the drive takes longer, or it goes on as a robot '
                            'does, and the watchdogs stop it (default: %(default)s)')
    drive.add_argument('--rate', type=positive, default=200.0, metavar='HZ',
                       help='control cycles per second of robot time (default: %(default)s)')
    drive.add_argument('--timeout', type=positive, default=60.0, metavar='S',
                       help='robot time after which the goal is missed (default: %(default)s)')
    add_params_file(drive, 'for the nodes; may be repeated')
    drive.add_argument('--bag', action='store_true', help='keep the recorded bag in DIR/bag')
    add_results(drive, 'out/drive', 'pictures and the bag')
    drive.set_defaults(run=run)


class _Bar:
    """A progress bar over the distance to the goal, shown from the first call on."""

    def __init__(self) -> None:
        # not in the drive: its import takes as long as some cycles of the robot
        self._bar = progress_bar(total=1.0, unit='m', delay=math.inf,
                                 bar_format='{desc}|{bar:40}|{postfix}')
        self._shown = False

    def __call__(self, seconds: float, distance: float) -> None:
        if not self._shown:
            self._shown = True
            self._bar.delay = 0.0
            self._bar.reset(max(distance, 1e-3))
        self._bar.n = min(max(self._bar.total - distance, 0.0), self._bar.total)
        self._bar.set_description(f'{seconds:5.1f} s', refresh=False)
        self._bar.set_postfix_str(f'{distance:.3f} m to go')

    def close(self) -> None:
        self._bar.close()


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # a tenth of the start; the drive collects once, before the goal
    gc.disable()
    try:
        return _run(arguments)
    finally:
        gc.enable()


def _run(arguments: argparse.Namespace) -> int:
    from c3p_bringup.cli.report import finish
    from c3p_bringup.drive import drive
    from c3p_bringup.options import DriveOptions
    from c3p_controller.goals.goal_bounds import check_typed_pose

    goal = (arguments.x, arguments.y, arguments.yaw)
    check_typed_pose('X Y YAW', *goal, radians=arguments.radians, switch='--radians')
    make_places(arguments.out, arguments.json)
    same = {name: getattr(arguments, name) for name in (
        'out', 'robot', 'plant', 'hardware', 'controller', 'nodes', 'realtime_factor', 'realtime',
        'rate', 'timeout')}
    bar = _Bar()
    try:
        metrics = drive(DriveOptions(
            goal=goal, keep_bag=arguments.bag,
            start_steering=[math.radians(a) for a in arguments.start_steering],
            sensors=arguments.sensors or '',
            parameters=arguments.params_file, **same),
            announce=lambda line: print(line, file=sys.stderr), progress=bar)
    finally:
        bar.close()
    return finish(metrics, arguments)
