# SPDX-License-Identifier: Apache-2.0
"""
The commands of ``c3p`` by task: where each is, and its line in the overview.

A command is imported only when it is called, so that the overview, errors of usage and the
completion of a shell do not wait for NumPy and Numba.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple


class Subcommand(NamedTuple):
    """Function that adds a command to the parser, as ``module.function``, and its help text."""

    adder: str
    help: str


TASKS = {
    'drive a robot, simulated or real': {
        'drive': Subcommand('drive.add_drive',
                            'drive the simulated robot to a pose, through real nodes and topics'),
        'sim': Subcommand('sim.add_sim', 'run a simulated robot on real topics until Ctrl-C'),
        'teleop': Subcommand('teleop.add_teleop', 'drive the robot with the keyboard'),
        'dashboard': Subcommand('dashboard.add_dashboard',
                                'live page in a browser: map, goals, plots, diagnostics, stop'),
    },
    'a robot of your own': {
        'robot': Subcommand('robot.add_robot_command',
                            'check any caster robot: reading, abilities, drives, one page'),
        'can': Subcommand('can.add_can', 'motor cards: scan, steering zeros, SYNC rate, faults'),
        'commission': Subcommand('commission.add_commission',
                                 'find the wiring: which motor and encoder is which joint'),
        'doctor': Subcommand('doctor.add_doctor', 'is this computer ready for this robot'),
        'identify': Subcommand('identify.add_identify',
                               'masses, centre of mass and friction from a recorded drive'),
        'calibrate': Subcommand('calibrate.add_calibrate',
                                'lengths and steering zeros of a robot from recorded drives'),
        'tune': Subcommand('tune.add_tune', 'find the parameters of a controller by driving'),
    },
    'bags from the field': {
        'record': Subcommand('record.add_record', "record the robot's topics to a bag"),
        'import': Subcommand('import_logs.add_import',
                             'logs of other robots to a bag: CSV, WPILOG, ROS 1'),
        'report': Subcommand('report.add_report',
                             'one page on a bag: slips, timing, goals, odometry, diagnostics'),
        'play': Subcommand('play.add_play', 'play a bag on real topics'),
        'recompute': Subcommand('recompute.add_recompute',
                                'compute the odometry of a bag again and compare'),
        'repair': Subcommand('repair.add_repair', 'repair a truncated or damaged recording'),
        'film': Subcommand('film.add_film', 'a film or a picture of a recorded run'),
        'view': Subcommand('view.add_view',
                           'show a robot, live or from a bag, in Rerun, MuJoCo or Foxglove'),
    },
    'papers and studies': {
        'experiment': Subcommand('experiment.add_experiment',
                                 'do an experiment of the papers, or one of ours'),
        'campaign': Subcommand('campaign.add_campaign',
                               'Monte-Carlo campaign: one task, many seeded robots'),
    },
}

COMMANDS = {name: command for task in TASKS.values() for name, command in task.items()}


class Described:
    """Subparsers of argparse that take the help text of a command from `COMMANDS`."""

    def __init__(self, subparsers: Any) -> None:
        """Wrap the `subparsers` of the whole parser."""
        self._subparsers = subparsers

    def add_parser(self, name: str, **options: Any) -> Any:
        """Add the command `name`, with `options` as for argparse."""
        return self._subparsers.add_parser(name, help=COMMANDS[name].help, **options)


def add_command(name: str, subparsers: Any) -> None:
    """Import the command `name` and add it to `subparsers`."""
    module, function = COMMANDS[name].adder.split('.')
    getattr(import_module(f'c3p_bringup.cli.{module}'), function)(Described(subparsers))


def overview() -> str:
    """Return the help of ``c3p``: the commands by task."""
    width = max(map(len, COMMANDS))
    parts = ['usage: c3p COMMAND ...     c3p COMMAND --help     c3p --version', '',
             'Caster robots on ROS 2.']
    for task, commands in TASKS.items():
        parts += ['', f'{task}:']
        parts += [f'  {name:{width}}  {command.help}' for name, command in commands.items()]
    parts += ['', 'First drive: c3p drive 2 1 0     Your robot: c3p robot FILE']
    return '\n'.join(parts)


def similar(name: str, names: Iterable[str]) -> list[str]:
    """
    Return up to two of `names` that are spelt like `name`, or begin with it.

    Examples
    --------
    >>> similar('lin', ['line', 'flip']), similar('reprot', ['report', 'drive'])
    (['line'], ['report'])
    """
    names = list(names)
    begun = [one for one in names if one.startswith(name)][:2]
    return begun or difflib.get_close_matches(name, names, n=2, cutoff=0.6)


def unknown(name: str) -> str:
    """Return the error text for a command that does not exist."""
    close = similar(name, COMMANDS)
    hint = f'did you mean {" or ".join(close)}?' if close else f'one of {", ".join(COMMANDS)}'
    return f'{name}: no such command; {hint}'
