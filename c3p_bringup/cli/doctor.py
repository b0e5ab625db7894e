# SPDX-License-Identifier: Apache-2.0
"""``c3p doctor``: plain answers about this computer and this robot."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from c3p_bringup.cli.common import MISSED, add_json, add_params_file, add_robot, write_json

if TYPE_CHECKING:
    from c3p_bringup.doctor.check import Check


def add_doctor(commands: Any) -> None:
    """Add the command to the subparsers of ``c3p``."""
    doctor = commands.add_parser(
        'doctor',
        description='Look at Python, ROS, packages, the network, the robot, its parameters, the '
                    'computer and the CAN interface; change nothing. Exit code 1 when something '
                    'will not work.')
    add_robot(doctor)
    add_params_file(doctor, 'of the nodes; may be repeated')
    doctor.add_argument('--interface', help='python-can interface of the motor cards; then they '
                        'must be there')
    doctor.add_argument('--channel', help='such as can0; then it must be there')
    doctor.add_argument('--no-network', action='store_true',
                        help='do not look for other robots')
    add_json(doctor)
    doctor.set_defaults(run=_doctor)


def checks(arguments: argparse.Namespace) -> Iterator[Check]:
    """Yield every answer, the cheap ones first."""
    from c3p_bringup.doctor import code, computer, laws, robot, ros
    from c3p_bringup.doctor.check import Level
    from c3p_bringup.doctor.joint_times import joint_times

    yield computer.python()
    yield from computer.packages()
    yield from ros.client_library()
    middleware = ros.installed() or ros.DEFAULT
    yield from ros.network(middleware=middleware)
    yield ros.log_files()
    yield from code.checks()
    yield from laws.checks()
    yield robot.description(arguments.robot)
    if _there('rclpy'):
        yield from robot.parameter_files(arguments.params_file, arguments.robot)
    yield from computer.processors()
    yield computer.priority()
    yield from computer.real_time()
    yield computer.wake_up()
    yield computer.clock()
    if middleware.fast_dds:
        yield computer.shared_memory()
    yield computer.serial_ports()
    if _there('can') and _there('canopen') and _there('serial'):
        yield from _bus(arguments)
    if _there('rclpy') and not arguments.no_network:
        company = ros.other_robots()
        yield company
        # of a robot that is running, which is a warning
        if company.level is Level.WARN:
            yield joint_times()


def _bus(arguments: argparse.Namespace) -> Iterator[Check]:
    from c3p_bringup.doctor.bus import interface
    from c3p_hardware.tools.parameter_file import hardware_values
    from c3p_hardware.transport.can_bus import BusAddress

    try:
        bus = hardware_values(arguments.params_file, **{
            'bus.interface': arguments.interface, 'bus.channel': arguments.channel}).bus
    except (ValueError, OSError):  # reported already
        return
    wanted = bool(arguments.interface or arguments.channel)
    yield from interface(BusAddress(bus.interface, bus.channel, bus.bitrate), wanted)


def _there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _doctor(arguments: argparse.Namespace) -> int:
    from c3p_bringup.doctor.check import Level, counted

    # one after the other, as they are found; with JSON on standard output after it
    to_output = str(arguments.json) == '-'
    found = []
    for check in checks(arguments):
        found.append(check)
        if not to_output:
            print(f'  {check}')
    numbers = counted(found)
    stream = write_json({**numbers, 'checks': [
        {'name': c.name, 'level': c.level.value, 'text': c.text, 'remedy': c.remedy,
         'code': c.code}
        for c in found]}, arguments.json)
    if to_output:
        print('\n'.join(f'  {check}' for check in found), file=stream)
    print(f'  {numbers["ok"]} OK, {numbers["warn"]} to look at, {numbers["fail"]} that will not '
          'work', file=stream)
    return MISSED if any(c.level is Level.FAIL for c in found) else 0
