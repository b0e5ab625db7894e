# SPDX-License-Identifier: Apache-2.0
"""``c3p can``: who is on the bus, where the steering zeros are, what fits, and what breaks."""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    MISSED,
    add_json,
    count,
    make_places,
    positive,
    share,
    write_json,
)

BITRATES = (125_000, 250_000, 500_000, 1_000_000)
CASTERS = (3, 4)
# as figures have them at the end of their names
UNITS = {'s': 's', 'nm': 'N·m', 'v': 'V'}
EDS = Path(__file__).parents[2] / 'c3p_hardware' / 'eds'


def add_can(commands: Any) -> None:
    """Add the command and its own commands to the subparsers of ``c3p``."""
    can = commands.add_parser('can', help='motor cards: who is there, steering zeros, SYNC rate, '
                              'faults', description='Motor cards and encoders on a CAN bus.')
    parts = can.add_subparsers(dest='part', required=True, metavar='WHAT')
    _add_scan(parts)
    _add_zero(parts)
    _add_rate(parts)
    _add_faults(parts)
    eds = parts.add_parser('eds', help='copy the EDS files of the emulated devices',
                           description='Copy the EDS files of the emulated devices to DIR.')
    eds.add_argument('dir', type=Path, metavar='DIR')
    eds.set_defaults(run=_eds)


def _add_bus(command: argparse.ArgumentParser) -> None:
    command.add_argument('--interface', help='python-can interface, such as socketcan, slcan or '
                         'serial (default: of the parameters, or socketcan)')
    command.add_argument('--channel', help='such as can0 (default: of the parameters, or can0)')
    command.add_argument('--bitrate', type=count, metavar='BIT/S',
                         help='for interfaces that can be told')
    command.add_argument('--params-file', type=Path, action='append', default=[], metavar='FILE',
                         help='ROS 2 parameter file of hardware_interface; may be repeated')


def _add_scan(parts: Any) -> None:
    scan = parts.add_parser(
        'scan', help='who is on the bus, and is it who should be there',
        description='Listen, ask every node id, and compare with the parameters. Nothing is '
                    'written and nothing moves. Exit code 1 when something is not as it must be.')
    _add_bus(scan)
    scan.add_argument('--listen', type=positive, default=0.5, metavar='S',
                      help='before anybody is asked (default: %(default)s)')
    add_json(scan)
    scan.set_defaults(run=_scan)


def _add_zero(parts: Any) -> None:
    zero = parts.add_parser(
        'zero', help='measure the zeros of the steering encoders',
        description="Measure encoders.zeros while every wheel rolls along +Y. The encoders' own "
                    'preset (6003h) is never written.')
    _add_bus(zero)
    zero.add_argument('--samples', type=count, default=25, metavar='N',
                      help='of each encoder (default: %(default)s)')
    zero.add_argument('--write', type=Path, metavar='FILE',
                      help='parameter file to change or make; all else in it stays')
    zero.add_argument('--yes', action='store_true', help='the casters stand as they must; do not '
                      'ask')
    add_json(zero)
    zero.set_defaults(run=_zero)


def _add_rate(parts: Any) -> None:
    rate = parts.add_parser('rate', help='which SYNC rate fits on the bus',
                            description='SYNC rates that fit, in the worst case of stuffed bits.')
    rate.add_argument('--share', type=share, default=0.5, metavar='P',
                      help='of the bus that may be busy (default: %(default)s)')
    rate.add_argument('--rate', type=positive, default=200.0, metavar='HZ',
                      help='whose load is told, too (default: %(default)s)')
    add_json(rate)
    rate.set_defaults(run=_rate)


def _add_faults(parts: Any) -> None:
    faults = parts.add_parser(
        'faults', help='break everything that can break, on emulated cards',
        description='Do every scripted fault to emulated cards while they are driven, and print '
                    'what happens as a Markdown table. Exit code 1 when a promise is missed.')
    faults.add_argument('only', nargs='*', metavar='WORD',
                        help='only trials with one of these words')
    faults.add_argument('--write', type=Path, metavar='PAGE',
                        help='put the table between the markers of this page')
    add_json(faults)
    faults.set_defaults(run=_faults)


def _settings(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Return the bus's address and the settings of the devices."""
    # what canopen logs is told by our errors, with the remedy
    logging.getLogger('canopen').setLevel(logging.CRITICAL)
    from c3p_description.reading.loader import load_casters
    from c3p_hardware.settings import card_settings
    from c3p_hardware.tools.parameter_file import hardware_values
    from c3p_hardware.transport.can_bus import BusAddress

    values = hardware_values(arguments.params_file, **{
        'bus.interface': arguments.interface, 'bus.channel': arguments.channel,
        'bus.bitrate': arguments.bitrate})
    bus = values.bus
    return (BusAddress(bus.interface, bus.channel, bus.bitrate),
            card_settings(load_casters(values.robot), values))


def _scan(arguments: argparse.Namespace) -> int:
    from c3p_hardware.transport.can_bus import open_bus
    from c3p_hardware.transport.scan import scan

    address, settings = _settings(arguments)
    bus = open_bus(address)
    try:
        found = scan(bus, settings, arguments.listen)
    finally:
        bus.shutdown()
    stream = write_json({'bus': f'{address}', **found.figures()}, arguments.json)
    print(scan_text(f'{address}', found, settings.master_id), file=stream)
    return MISSED if found.problems else 0


def scan_text(address: str, found: Any, master_id: int) -> str:
    """
    Return a scan as text for a terminal.

    Parameters
    ----------
    address : str
        Of the bus.
    found : Scan
    master_id : int
        Node id of the hardware interface.
    """
    lines = [f'  {address}: {len(found.nodes)} nodes, {found.sync_rate:.0f} SYNC a second']
    if found.master:
        lines.append(f'  a hardware interface is running: heartbeat of node {master_id}')
    for node in found.nodes:
        lines.append(f'  node {node.node_id:3}  {node.kind or "?"}; {node.network_state}; vendor '
                     f'{node.vendor:#x}, product {node.product:#x}, revision {node.revision:#x}, '
                     f'serial {node.serial}')
        told = ', '.join(_value_text(key, value) for key, value in node.values.items()
                         if value is not None)
        lines += [f'            {told}'] if told else []
        lines += [f'            note: {note}' for note in node.notes]
    lines += [f'  WRONG: {problem}' for problem in found.problems]
    return '\n'.join(lines if found.problems else [*lines, '  all as the parameters say'])


def _value_text(key: str, value: Any) -> str:
    """Return a figure in words: a unit that ends its name goes behind the number."""
    *words, last = key.split('_')
    words, unit = (words, f' {UNITS[last]}') if last in UNITS else ([*words, last], '')
    return f'{" ".join(words)} {f"{value:g}" if isinstance(value, float) else value}{unit}'


def _zero(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from c3p_hardware.tools.parameter_file import merged
    from c3p_hardware.tools.zeros import HOW, measure_zeros, parameters
    from c3p_hardware.transport.can_bus import open_bus

    address, settings = _settings(arguments)
    print(HOW, file=sys.stderr)
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise ValueError('nobody can be asked whether the casters stand right: say --yes when '
                             'they do')
        input('Press Enter when they stand, Ctrl-C to stop. ')
    # a file that cannot be used is told before anything is measured
    file = arguments.write
    text = file.read_text(encoding='utf-8') if file is not None and file.exists() else ''
    merged(text, {'encoders.zeros': []})
    bus = open_bus(address)
    try:
        zeros = measure_zeros(bus, settings, arguments.samples)
    finally:
        bus.shutdown()
    found = parameters(zeros)
    stream = write_json({'zeros': [asdict(z) for z in zeros], **found}, arguments.json)
    for zero in zeros:
        print(f'  {zero.name}: {zero.counts} counts, spread {zero.spread}, serial number '
              f'{zero.serial}; the parameters were off by {zero.change_deg:+.2f}°', file=stream)
    print(merged('', found), file=stream, end='')
    if file is not None:
        make_places(file.parent)
        file.write_text(merged(text, found), encoding='utf-8')
        print(f'  written to {file}', file=stream)
    return 0


def rate_rows(share_of_bus: float, rate: float) -> list[dict[str, Any]]:
    """
    Return what fits, a row for each bit rate and number of casters.

    Parameters
    ----------
    share_of_bus : float
        That may be busy.
    rate : float, Hz
        Whose load is told.
    """
    from c3p_hardware.bus_load import bus_load, fitting_rate

    rows = []
    for bitrate in BITRATES:
        for casters in CASTERS:
            try:
                fits = fitting_rate(bitrate, share_of_bus, casters)
            except ValueError:  # the heartbeats alone are too much
                fits = None
            rows.append({'bitrate': bitrate, 'casters': casters, 'fitting_rate_hz': fits,
                         'bus_load': bus_load(rate, bitrate, casters)})
    return rows


def rate_table(rows: list[dict[str, Any]], share_of_bus: float, rate: float) -> str:
    """Return `rate_rows` as a Markdown table; the last two as there."""
    lines = [f'| bit rate | casters | SYNC rate for {share_of_bus:.0%} | load at {rate:g} Hz |',
             '|---|---|---|---|']
    for row in rows:
        fits, load = row['fitting_rate_hz'], row['bus_load']
        lines.append(f'| {row["bitrate"] // 1000} kbit/s | {row["casters"]} | '
                     f'{"nothing fits" if fits is None else f"{int(fits)} Hz"} | '
                     f'{"too much" if load > 1 else f"{load:.0%}"} |')
    return '\n'.join(lines)


def _rate(arguments: argparse.Namespace) -> int:
    if not arguments.share:
        raise ValueError('--share 0: must be above 0')
    rows = rate_rows(arguments.share, arguments.rate)
    print(rate_table(rows, arguments.share, arguments.rate),
          file=write_json({'rates': rows}, arguments.json))
    return 0


def _faults(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from c3p_simulation.card_trials.fault_table import figures, named, table, written
    from c3p_simulation.card_trials.fault_trials import run_trials
    from c3p_simulation.card_trials.trial_list import TRIALS

    trials = named(TRIALS, arguments.only)
    page = None if arguments.write is None else arguments.write.read_text(encoding='utf-8')
    if page is not None:
        written(page, '')
    outcomes = list(tqdm(run_trials(trials), total=len(trials), unit='fault', file=sys.stderr,
                         disable=None))
    missed = [f'{o.trial.fault}: {o.missed}' for o in outcomes if o.missed]
    stream = write_json({'trials': [figures(o) for o in outcomes]}, arguments.json)
    print(table(outcomes), file=stream, end='')
    for line in missed:
        print(f'MISSED {line}', file=sys.stderr)
    if page is not None:
        arguments.write.write_text(written(page, table(outcomes)), encoding='utf-8')
    return MISSED if missed else 0


def _eds(arguments: argparse.Namespace) -> int:
    make_places(arguments.dir)
    for path in sorted(EDS.glob('*.eds')):
        print(f'  {shutil.copy(path, arguments.dir)}')
    return 0
