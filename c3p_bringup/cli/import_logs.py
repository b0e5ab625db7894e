# SPDX-License-Identifier: Apache-2.0
"""``c3p import``: logs of other robots become a bag."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c3p_bringup.cli.common import add_json, make_places, rows, show

if TYPE_CHECKING:
    from c3p_bags.importing.import_log import Imported

# words of a file name that are not part of the name of its bag
ENDINGS = ('.gz', '.csv', '.txt', '.tsv', '.wpilog', '.bag')


def add_import(commands: Any) -> None:
    """Add the command ``import`` to the subparsers `commands`."""
    command = commands.add_parser(
        'import',
        description='Write logs of another robot to a new bag, which report, recompute and '
                    'calibrate read: CSV (also .csv.gz), WPILOG, or bags of ROS 1. A mapping '
                    'names the column of each joint, its unit, sign, zero, counts and wrap. '
                    'Needs no ROS 2.')
    command.add_argument('log', type=Path, nargs='+', metavar='LOG',
                         help='file of the log; several of one drive, if they share a clock')
    command.add_argument('--mapping', type=Path, metavar='FILE',
                         help='YAML file that maps columns to joints, ground truth and gyro; not '
                              'needed for the joint_states of a ROS 1 bag')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='the new bag; must not exist (default: the name of the first LOG '
                              'with _imported)')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    from c3p_bags.importing.import_log import import_logs
    from c3p_bags.importing.mapping import read_mapping

    first = arguments.log[0].resolve()
    name = first.name
    while name.endswith(ENDINGS):
        name = name[:name.rindex('.')]
    out = arguments.out or first.with_name(f'{name}_imported')
    mapping = None if arguments.mapping is None else read_mapping(arguments.mapping)
    make_places(out.parent, arguments.json)
    done = import_logs(arguments.log, mapping, out)
    show(metrics(done), arguments.json, _summary(done))
    return 0


def metrics(done: Imported) -> dict[str, Any]:
    """Return the content of ``--json``, SI units."""
    return {'bag': str(done.bag), 'duration_s': done.duration, 'period_s': done.period,
            'longest_gap_s': done.longest_gap, 'topics': dict(sorted(done.messages.items())),
            'joints': {name: facts._asdict() for name, facts in done.joints.items()},
            'remarks': done.remarks}


def _summary(done: Imported) -> str:
    lines = [('bag', str(done.bag)), ('duration', f'{done.duration:.2f} s'),
             *((topic, f'{count} messages') for topic, count in sorted(done.messages.items()))]
    if done.joints:
        lines.append(('joint states', f'every {1e3 * done.period:.4g} ms, longest gap '
                                      f'{1e3 * done.longest_gap:.4g} ms'))
    for name, facts in done.joints.items():
        lines.append((name, f'{facts.path:.2f} rad in all, {facts.repeated:.0%} of the samples in '
                            'motion repeat'))
    return rows(lines + [('note', remark) for remark in done.remarks])
