# SPDX-License-Identifier: Apache-2.0
"""``c3p robot``: what a description of a robot means, what the robot can do, how it drives."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from c3p_bringup.cli.common import (
    FAILED,
    MISSED,
    add_controller,
    add_results,
    add_robot_options,
    bar_of_fraction,
    make_places,
    reason,
    robot_options,
    rows,
    show,
    write_json,
)

if TYPE_CHECKING:
    from c3p_experiments.robots.battery import DriveOutcome
    from c3p_experiments.robots.check import RobotCheck

DESCRIPTION = """\
Read the description of a robot on casters, modules or fixed wheels; list what was read and what
was assumed; compute what motors, tyres and sensors can do; drive a battery of 16 drives on the
plants analytic and mujoco, with a line on the error stream for each; write one HTML page. Exit
code 1 if a drive was missed or not done, 2 if the robot does not load."""


def add_robot_command(commands: argparse._SubParsersAction) -> None:
    """Add the command ``robot`` to the subparsers `commands`."""
    command = commands.add_parser('robot', description=DESCRIPTION)
    command.add_argument('file', metavar='FILE',
                         help='path of a URDF, xacro or YAML file, or a name such as c3p. A xacro '
                              'file is a program: it runs')
    add_robot_options(command)
    add_controller(command, note='of the battery: ')
    command.add_argument('--no-battery', dest='battery', action='store_false',
                         help='do not drive')
    command.add_argument('--write', type=Path, metavar='FILE',
                         help='write a YAML file of the robot, with the values in use and their '
                              'sources, for --robot of all commands')
    add_results(command, 'out/robot', 'the page')
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported when needed: plots and kernels take their time
    from c3p_experiments.robots.check import (
        check_json,
        check_robot,
        read_robot,
        unread_json,
        with_battery,
        without_masses,
    )
    from c3p_experiments.robots.page import write_page
    from c3p_experiments.robots.robot_yaml import write_robot

    make_places(arguments.out, arguments.json)
    files: dict[str, str] = {}
    try:
        options = robot_options(arguments)
        robot, notes = read_robot(arguments.file, options)
        if arguments.write is not None:
            files['robot'] = str(write_robot(robot, notes, arguments.file, options,
                                             arguments.write))
        # such a robot is described, and what it can do is not known
        if not arguments.battery and (lacking := without_masses(robot, notes)):
            show({**unread_json(arguments.file, lacking), 'robot': robot.name, 'loads': True,
                  'files': files}, arguments.json,
                 f'{robot.name} ({arguments.file}): {lacking}\n{rows(files.items())}')
            return 0
        check = check_robot(arguments.file, options, arguments.controller)
        if arguments.battery:
            print(heading(check), file=sys.stderr)
            with bar_of_fraction() as bar:
                def shown(drive: DriveOutcome, done: float) -> None:
                    bar.write(f'  {line(drive)}', file=sys.stderr)
                    bar.set_to(done)

                check = with_battery(check, shown)
    except (ValueError, OSError) as error:
        write_json(unread_json(arguments.file, reason(error)), arguments.json)
        print(f'c3p robot: {reason(error)}', file=sys.stderr)
        return FAILED
    files = {'page': str(write_page(check, arguments.out)), **files}
    show({**check_json(check), 'files': files}, arguments.json,
         f'{text(check)}\n{rows(files.items())}')
    return MISSED if check.missed else 0


def heading(check: RobotCheck) -> str:
    """Return what was read, before the drives, as one line."""
    robot = check.robot
    parts = [f'{int(which.sum())} {what}' for which, what in (
        (robot.driven, 'driven'), (robot.steered, 'steered'), (robot.fixed, 'fixed'))
        if which.any()]
    warnings = len(check.warnings)
    return (f'{robot.name}: {robot.count} wheels ({", ".join(parts) or "none driven"}), '
            f'{robot.total_mass:.4g} kg, {check.ability.freedoms} of 3 freedoms, '
            f'{warnings} {"warning" if warnings == 1 else "warnings"}; '
            f'drives with {check.controller}:')


def line(drive: DriveOutcome) -> str:
    """Return how a drive ended as one line."""
    if not drive.metrics:
        return f'{drive.name:21} not driven: {drive.failure}'
    if not drive.reached:
        return f'{drive.name:21} missed: {drive.failure}'
    seconds = drive.metrics['time_s']
    after = '' if seconds is None else f' in {seconds:.1f} s'
    return (f'{drive.name:21} reached{after}, true error '
            f'{100.0 * drive.metrics["ground_truth_path_error_max_m"]:.1f} cm on the path, '
            f'{100.0 * drive.metrics["ground_truth_final_error_m"]:.1f} cm at the end')


def text(check: RobotCheck) -> str:
    """Return the answers of a check, its warnings and the missed drives as lines of text."""
    from c3p_experiments.robots.page import answers
    from c3p_experiments.robots.stops import stop_lines

    lines = [f'{check.robot.name} ({check.source})']
    lines += [f'  {a.question:30} {a.answer}. {a.detail}' for a in answers(check)]
    lines += [f'  {"warning":30} {warning}' for warning in check.warnings]
    lines += [f'  {"assumed":30} {note.text}' for note in check.notes if note.kind != 'warning']
    lines += stop_lines(check.robot)
    # one line for all drives with one reason
    reasons: dict[str, list[str]] = {}
    for drive in check.missed:
        reasons.setdefault(f'{"missed" if drive.metrics else "not driven"}: {drive.failure}',
                           []).append(drive.name)
    for why, names in reasons.items():
        shown = ', '.join(names[:3]) + (f' and {len(names) - 3} more' if len(names) > 3 else '')
        lines.append(f'  {shown:30} {why}')
    return '\n'.join(lines)
