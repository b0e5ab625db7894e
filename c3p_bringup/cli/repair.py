# SPDX-License-Identifier: Apache-2.0
"""``c3p repair``: a new bag of the readable messages of a truncated one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c3p_bringup.cli.common import add_json, bar_of_fraction, make_places, rows, show

if TYPE_CHECKING:
    from c3p_bags.storage.repair import Repaired


def add_repair(commands: Any) -> None:
    """Add the command ``repair`` to the subparsers `commands`."""
    command = commands.add_parser(
        'repair',
        description='Write a new bag with every readable message of a bag that was truncated by a '
                    'loss of power, or is damaged. Needs no ROS 2.')
    command.add_argument('bag', type=Path, metavar='BAG',
                         help='directory of the bag, or one of its .mcap or .db3 files; not '
                              'changed')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='the new bag; must not exist (default: BAG_repaired)')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    from c3p_bags.storage.repair import repair

    bag = arguments.bag.resolve()
    out = arguments.out or bag.with_name(f'{bag.stem}_repaired')
    make_places(out.parent, arguments.json)
    with bar_of_fraction() as bar:
        shown = metrics(repair(arguments.bag, out, bar.set_to))
    show(shown, arguments.json, _summary(shown))
    return 0


def metrics(done: Repaired) -> dict[str, Any]:
    """Return the content of ``--json``, SI units."""
    return {'bag': str(done.bag), 'messages': sum(done.messages.values()),
            'duration_s': 1e-9 * (done.span[1] - done.span[0]), 'lost_bytes': done.lost,
            'topics': dict(sorted(done.messages.items()))}


def _summary(shown: dict[str, Any]) -> str:
    return rows([('bag', shown['bag']), ('messages', shown['messages']),
                 ('duration', f'{shown["duration_s"]:.2f} s'),
                 ('could not be read', f'{shown["lost_bytes"]} bytes'),
                 *shown['topics'].items()], 40)
