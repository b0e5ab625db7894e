# SPDX-License-Identifier: Apache-2.0
"""The drive that ``c3p identify`` and ``c3p calibrate`` record first: options and execution."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import add_plant, positive, progress_bar, until_ctrl_c


def add_live(group: Any, drive: str) -> None:
    """Add ``--live`` and ``--speed`` to a `group`; the option `drive` starts the drive."""
    group.add_argument('--live', action='store_true', help=f'with {drive}: command the robot on '
                       'this network; it needs about 1 m of free floor on all sides')
    group.add_argument('--speed', type=positive, default=0.3, metavar='M/S',
                       help='largest speed in x and in y (default: %(default)s)')


def add_simulated(group: Any) -> None:
    """Add ``--plant``, ``--simulated`` and ``--seed`` to a `group`."""
    add_plant(group)
    group.add_argument('--simulated', metavar='ROBOT',
                       help='robot that is simulated, if not the one described')
    group.add_argument('--seed', type=int, default=0, help='of sensors and start '
                       '(default: %(default)s)')


def refuse_idle(arguments: argparse.Namespace, drive: str) -> None:
    """Raise ValueError for options of a drive in `arguments`; without the option `drive`."""
    for name in ('live', 'simulated'):
        if getattr(arguments, name):
            raise ValueError(f'--{name}: is for {drive}; add it, or leave --{name} out')


def record_excitation(bag: Path, excitation: Any, arguments: argparse.Namespace,
                      sensors: Any = None) -> None:
    """
    Drive an `excitation` and record it to `bag`: live or simulated, as in `arguments`.

    `sensors` are those of a simulated robot (`ExcitedPlant`). Ctrl-C keeps the part that was
    driven, prints its place, and raises KeyboardInterrupt.
    """
    if arguments.live:
        from c3p_bringup.excite_live import excite_live

        excite_live(bag, excitation, arguments.robot,
                    announce=lambda line: print(line, file=sys.stderr))
        return
    from c3p_experiments.identification.excite import ExcitedPlant, simulate_excitation

    with progress_bar(total=excitation.duration, unit='s', desc='drive',
                      bar_format='{desc} |{bar:40}| {n:.0f}/{total:.0f} s'
                      ) as bar, until_ctrl_c() as stop:
        plant = ExcitedPlant(arguments.simulated, arguments.plant, sensors, arguments.seed)
        simulate_excitation(bag, arguments.robot, plant, excitation=excitation,
                            progress=bar.set_to, stop=stop)
        interrupted = stop()
    if interrupted:
        print(f'what was driven is in {bag}', file=sys.stderr)
        raise KeyboardInterrupt
