# SPDX-License-Identifier: Apache-2.0
"""``c3p can``: bus scan, steering zeros, SYNC rate and fault trials of the motor cards."""

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
    add_params_file,
    count,
    fraction,
    make_places,
    positive,
    show,
    write_json,
)

BITRATES = (125_000, 250_000, 500_000, 1_000_000)
CASTERS = (3, 4)
# unit suffixes of the names of values
UNITS = {'s': 's', 'nm': 'N·m', 'v': 'V'}
EDS = Path(__file__).parents[2] / 'c3p_hardware' / 'eds'


def add_can(commands: Any) -> None:
    """Add the command and its own commands to the subparsers of ``c3p``."""
    can = commands.add_parser('can', description='Motor cards and encoders on a CAN bus.')
    parts = can.add_subparsers(dest='part', required=True, metavar='WHAT')
    for add in (_add_scan, _add_zero, _add_rate, _add_faults):
        add(parts)
    eds = parts.add_parser('eds', help='copy the EDS files of the emulated devices',
                           description='Copy the EDS files of the emulated devices to DIR.')
    eds.add_argument('dir', type=Path, metavar='DIR')
    eds.set_defaults(run=_eds)


def _add_bus(command: argparse.ArgumentParser) -> None:
    command.add_argument('--interface', help='python-can interface, such as socketcan, slcan or '
                         'serial (default: of the parameters, or socketcan)')
    command.add_argument('--channel', help='such as can0 (default: of the parameters, or can0)')
    command.add_argument('--bitrate', type=count, metavar='BIT/S',
                         help='bit rate, for interfaces that can set it')
    add_params_file(command, 'of hardware_interface; may be repeated')


def _add_scan(parts: Any) -> None:
    scan = parts.add_parser(
        'scan', help='devices on the bus, compared with the parameters',
        description='Listen, query every node id, and compare with the parameters. Nothing is '
                    'written and nothing moves. Exit code 1 if a device differs.')
    _add_bus(scan)
    scan.add_argument('--listen', type=positive, default=0.5, metavar='S',
                      help='listening time before the query (default: %(default)s)')
    add_json(scan)
    scan.set_defaults(run=_scan)


def _add_zero(parts: Any) -> None:
    zero = parts.add_parser(
        'zero', help='measure the zeros of the steering encoders',
        description="Measure encoders.zeros while every wheel rolls along +Y. The encoders' own "
                    'preset (6003h) is never written.')
    _add_bus(zero)
    zero.add_argument('--samples', type=count, default=25, metavar='N',
                      help='samples per encoder (default: %(default)s)')
    zero.add_argument('--write', type=Path, metavar='FILE',
                      help='parameter file to update or create; other entries are kept')
    zero.add_argument('--yes', action='store_true', help='confirm that the casters are aligned; '
                      'no prompt')
    add_json(zero)
    zero.set_defaults(run=_zero)


def _add_rate(parts: Any) -> None:
    rate = parts.add_parser('rate', help='highest SYNC rate of the bus',
                            description='Highest SYNC rates with worst-case bit stuffing.')
    rate.add_argument('--share', type=fraction, default=0.5, metavar='P',
                      help='largest bus load, 0 to 1 (default: %(default)s)')
    rate.add_argument('--rate', type=positive, default=200.0, metavar='HZ',
                      help='also show the bus load at this rate (default: %(default)s)')
    add_json(rate)
    rate.set_defaults(run=_rate)


def _add_faults(parts: Any) -> None:
    faults = parts.add_parser(
        'faults', help='inject every fault, on emulated cards',
        description='Inject every scripted fault into emulated cards while they drive, and print '
                    'the reactions as a Markdown table. Exit code 1 if a bound is missed.')
    faults.add_argument('only', nargs='*', metavar='WORD',
                        help='only trials with one of these words')
    faults.add_argument('--write', type=Path, metavar='PAGE',
                        help='put the table between the markers of this page')
    add_json(faults)
    faults.set_defaults(run=_faults)


def _settings(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Return the bus's address and the settings of the devices."""
    # the errors of this command name the same faults, with the remedy
    logging.getLogger('canopen').setLevel(logging.CRITICAL)
    from c3p_description.reading.loader import load_casters
    from c3p_hardware.axes import card_settings
    from c3p_hardware.tools.parameter_file import hardware_values
    from c3p_hardware.transport.can_bus import BusAddress

    values = hardware_values(arguments.params_file, **{
        'bus.interface': arguments.interface, 'bus.channel': arguments.channel,
        'bus.bitrate': arguments.bitrate})
    bus = values.bus
    return (BusAddress(bus.interface, bus.channel, bus.bitrate),
            card_settings(load_casters(values.robot), values))


def _scan(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from c3p_hardware.transport.can_bus import open_bus
    from c3p_hardware.transport.scan import scan

    address, settings = _settings(arguments)
    with open_bus(address) as bus:
        found = scan(bus, settings, arguments.listen)
    show({'bus': f'{address}', **asdict(found)}, arguments.json,
         scan_text(f'{address}', found, settings.master_id))
    return MISSED if found.problems else 0


def scan_text(address: str, found: Any, master_id: int) -> str:
    """
    Return a scan as text for a terminal.

    `address` is the bus's, `found` a Scan, `master_id` the node id of the hardware interface.
    """
    lines = [f'  {address}: {len(found.nodes)} nodes, {found.sync_rate:.0f} SYNC a second']
    if found.master:
        lines.append(f'  a hardware interface is running: heartbeat of node {master_id}')
    for node in found.nodes:
        lines.append(f'  node {node.node_id:3}  {node.kind or "?"}; {node.network_state}; vendor '
                     f'{node.vendor:#x}, product {node.product:#x}, revision {node.revision:#x}, '
                     f'serial {node.serial}')
        values = ', '.join(_value_text(key, value) for key, value in node.values.items()
                         if value is not None)
        lines += [f'            {values}'] if values else []
        lines += [f'            note: {note}' for note in node.notes]
    lines += [f'  WRONG: {problem}' for problem in found.problems]
    return '\n'.join(lines if found.problems else [*lines, '  all devices match the parameters'])


def _value_text(key: str, value: Any) -> str:
    """Return a value as text, its unit after the number."""
    *words, last = key.split('_')
    words, unit = (words, f' {UNITS[last]}') if last in UNITS else ([*words, last], '')
    return f'{" ".join(words)} {f"{value:g}" if isinstance(value, float) else value}{unit}'


def _zero(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from c3p_hardware.tools.parameter_file import merged
    from c3p_hardware.tools.zeros import HOW, measure_zeros, parameters
    from c3p_hardware.transport.can_bus import open_bus

    address, settings = _settings(arguments)
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise ValueError('standard input is not a terminal: pass --yes to confirm that the '
                             'casters are aligned')
        print(HOW, file=sys.stderr)
        input('Press Enter when they are aligned, Ctrl-C to stop. ')
    # an unusable file ends the command before the measurement
    file = arguments.write
    if file is not None:
        make_places(file.parent, file)
    text = file.read_text(encoding='utf-8') if file is not None and file.exists() else ''
    merged(text, {'encoders.zeros': []})
    with open_bus(address) as bus:
        zeros = measure_zeros(bus, settings, arguments.samples)
    found = parameters(zeros)
    stream = write_json({'zeros': [asdict(z) for z in zeros], **found}, arguments.json)
    for zero in zeros:
        print(f'  {zero.name}: {zero.counts} counts, spread {zero.spread}, serial number '
              f'{zero.serial}; the parameters were off by {zero.change_deg:+.2f}°', file=stream)
    print(merged('', found), file=stream, end='')
    if file is not None:
        file.write_text(merged(text, found), encoding='utf-8')
        print(f'  written to {file}', file=stream)
    return 0


def rate_rows(bus_limit: float, rate: float) -> list[dict[str, Any]]:
    """
    Return the highest SYNC rates, one row for each bit rate and number of casters.

    `bus_limit` is the largest bus load, 0 to 1; `rate`, Hz, that of the last column.
    """
    from c3p_hardware.canopen.bus_load import bus_load, fitting_rate

    rows = []
    for bitrate in BITRATES:
        for casters in CASTERS:
            try:
                fits = fitting_rate(bitrate, bus_limit, casters)
            except ValueError:  # the heartbeats alone are too much
                fits = None
            rows.append({'bitrate': bitrate, 'casters': casters, 'fitting_rate_hz': fits,
                         'bus_load': bus_load(rate, bitrate, casters)})
    return rows


def rate_table(rows: list[dict[str, Any]], bus_limit: float, rate: float) -> str:
    """Return `rate_rows` as a Markdown table."""
    lines = [f'| bit rate | casters | SYNC rate for {bus_limit:.0%} | load at {rate:g} Hz |',
             '|---|---|---|---|']
    for row in rows:
        fits = row['fitting_rate_hz']
        load = row['bus_load']
        lines.append(f'| {row["bitrate"] // 1000} kbit/s | {row["casters"]} | '
                     f'{"nothing fits" if fits is None else f"{int(fits)} Hz"} | '
                     f'{"too much" if load > 1 else f"{load:.0%}"} |')
    return '\n'.join(lines)


def _rate(arguments: argparse.Namespace) -> int:
    if not arguments.share:
        raise ValueError('--share 0: must be above 0')
    rows = rate_rows(arguments.share, arguments.rate)
    show({'rates': rows}, arguments.json, rate_table(rows, arguments.share, arguments.rate))
    return 0


def _faults(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from c3p_experiments.card_faults import laboratory
    from c3p_experiments.card_faults.table import results, selected, table, written
    from c3p_experiments.card_faults.trials import TRIALS

    trials = selected(TRIALS, arguments.only)
    page = None if arguments.write is None else arguments.write.read_text(encoding='utf-8')
    if page is not None:
        written(page, '')
    outcomes = list(tqdm(laboratory.run_trials(trials), total=len(trials), unit='fault',
                         file=sys.stderr, disable=None))
    missed = [f'{o.trial.fault}: {o.missed}' for o in outcomes if o.missed]
    stream = write_json({'trials': [results(o) for o in outcomes]}, arguments.json)
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
