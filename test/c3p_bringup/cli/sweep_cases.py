# SPDX-License-Identifier: Apache-2.0
"""
Cases of the sweep of ``c3p``: every command with arguments, files and places that are wrong.

The options come from the parsers, so that a new command or option is swept without a line here;
a new command only needs arguments with which it works (`QUICK`).
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from c3p_bringup.cli.command_line import parser
from c3p_bringup.cli.commands import COMMANDS

GOLDEN_BAG = Path(__file__).parents[2] / 'data' / 'golden_bag'

# arguments with which a command works and ends soon; {bag} and {out} are filled in
QUICK = {
    'drive': '0.1 0 0 --realtime-factor 0 --out {out}',
    'sim': '--duration 1',
    'teleop': '',
    'dashboard': '--port 0',
    'robot': 'c3p --no-battery --out {out}',
    'commission': '--by-hand --no-push --hardware emulated --turn 30',
    'can scan': '--interface virtual --channel sweep',
    'can zero': '--interface virtual --channel sweep --yes',
    'can rate': '',
    'can faults': 'encoder_drift:encoder1',
    'can eds': '{out}',
    'doctor': '--no-network',
    'identify': '{bag} --out {out}',
    'calibrate': '{bag} --out {out}',
    'tune': '--evaluations 1 --scenarios 1 --out {out}',
    'record': '--duration 1 --out {out}/bag',
    'import': 'test/data/wheels.csv --mapping test/data/wheels.yaml --out {out}/imported',
    'report': '{bag} --out {out}',
    'play': '{bag} --duration 1 --delay 0.1',
    'recompute': '{bag} --out {out}/again',
    'repair': '{bag} --out {out}/repaired',
    'film': '{bag} --out {out}/film.png',
    'view': '{bag} --headless-screenshot {out}/view.png',
    'experiment': 'line --out {out}',
    'campaign': '--draws 1 --plant analytic --out {out}',
}

# arguments with which a command takes more than five seconds, where it can
LONG = {
    **QUICK,
    'drive': '3 3 0 --realtime-factor 0.3 --bag --out {out}',
    'sim': '',
    'robot': 'c3p --out {out}',
    'can scan': '--interface virtual --channel sweep --listen 30',
    'can faults': '',
    'identify': '--excite --duration 600 --out {out}',
    'calibrate': '--drive --required 0.01 --out {out}',
    'tune': '--out {out}',
    'record': '--out {out}/bag',
    'play': '{bag} --loop',
    'film': '{bag} --out {out}/film.mp4',
    'view': '{bag} --viewer foxglove --port 0',
    'experiment': 'all --out {out}',
    'campaign': '--plant analytic --out {out}',
}

# metavar or name of arguments that are files to read; the others with Path are places to write
READ = {'BAG': 'bag', 'BAG2': 'bag', 'bag': 'bag', '--params-file': 'parameters',
        '--topics-file': 'topics', '--robot': 'robot', '--simulated': 'robot', 'file': 'robot',
        '--terrain': 'terrain'}
PLACES = ('--out', '--json', '--write', '--save', '--headless-screenshot', 'dir')


class Case(NamedTuple):
    """A call of a command, as a list of words, and whether it must be refused (exit code 2)."""

    command: str
    kind: str
    words: list[str]
    refused: bool


def leaves() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands, and of the commands in them (``can scan``)."""
    found = {}
    for name in COMMANDS:
        whole: Any = parser([name])
        one = whole._subparsers._group_actions[0].choices[name]
        inner = [a for a in one._actions if isinstance(a, argparse._SubParsersAction)]
        found |= ({f'{name} {part}': p for part, p in inner[0].choices.items()} if inner
                  else {name: one})
    return found


def options(leaf: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Yield name and action of each argument that takes a value."""
    for action in leaf._actions:
        if action.nargs != 0:
            yield (action.option_strings or [action.dest])[0], action


def words(command: str, bag: Path, out: Path, table: dict[str, str] = QUICK) -> list[str]:
    """Return the words of a call of `command` after ``c3p`` that works."""
    return [*command.split(), *table[command].format(bag=bag, out=out).split()]


def changed(command: str, name: str, action: argparse.Action, value: str, given: list[str]
            ) -> list[str]:
    """Return `given` with another `value` of one argument."""
    if name.startswith('-'):
        number = action.nargs if isinstance(action.nargs, int) else 1
        return [*given, name, *[value] * number]
    # positional arguments stand first
    at = len(command.split()) + positions(command).index(name)
    return [*given[:at], value, *given[at + 1:]]


def positions(command: str) -> list[str]:
    """Return the names of the positional arguments of `command`."""
    return [name for name, _ in options(leaves()[command]) if not name.startswith('-')]


def usage_cases(command: str, bag: Path, out: Path) -> Iterator[Case]:
    """Yield the calls that the parser has to refuse: without arguments, with wrong values."""
    leaf, given = leaves()[command], words(command, bag, out)
    bare = [name for name, action in options(leaf)
            if not name.startswith('-') and action.nargs not in ('?', '*')]
    if bare:
        yield Case(command, 'no arguments', command.split(), True)
    yield Case(command, 'wrong value', [*given, '--no-such-option', 'x'], True)
    for name, action in options(leaf):
        typed = action.type is not None and action.type is not Path
        if typed or action.choices:
            yield Case(command, 'wrong value', changed(command, name, action, 'x', given), True)


def value_cases(command: str, bag: Path, out: Path) -> Iterator[Case]:
    """Yield calls with numbers and texts at the edge of what is possible."""
    given = words(command, bag, out)
    if not positions(command):
        yield Case(command, 'no arguments', command.split(), False)
    for name, action in options(leaves()[command]):
        if action.choices or name in READ or action.metavar in READ or name in PLACES:
            continue
        values = ['nonsense', ''] if action.type is None else ['-1', '0', 'nan', 'inf', '1e300']
        for value in values:
            yield Case(command, 'wrong value', changed(command, name, action, value, given),
                       False)


def file_cases(command: str, bag: Path, out: Path, folder: Path) -> Iterator[Case]:
    """Yield calls with files that are missing or malformed; `folder` has them (`write_files`)."""
    given = words(command, bag, out)
    for name, action in options(leaves()[command]):
        kind = READ.get(name) or READ.get(f'{action.metavar}')
        if kind is None or (kind == 'bag' and name == '--bag'):
            continue
        missing = folder / 'none' / 'here.yaml'
        yield Case(command, 'missing file', changed(command, name, action, f'{missing}', given),
                   command != 'doctor')
        for file in sorted((folder / kind).iterdir()):
            yield Case(command, 'malformed file',
                       changed(command, name, action, f'{file}', given),
                       # what the doctor finds is its answer, not its error
                       command != 'doctor' and not file.name.startswith('odd'))


def place_cases(command: str, bag: Path, out: Path, folder: Path) -> Iterator[Case]:
    """Yield calls that cannot write: below a file, below /proc, into a file for a directory."""
    given = words(command, bag, out)
    file = folder / 'file'
    for name, action in options(leaves()[command]):
        if name not in PLACES:
            continue
        suffix = {'--save': '.rrd', '--headless-screenshot': '.png', '--json': '.json',
                  '--write': '.yaml'}.get(name, '.png' if command == 'film' else '')
        cut = [word for word in given]
        if command == 'view' and name == '--save':
            cut = given[:2]
        for place in (f'{file}/x{suffix}', f'/proc/x{suffix}', f'/proc/1/x/y{suffix}'):
            yield Case(command, 'no write permission', changed(command, name, action, place, cut),
                       True)


def write_files(folder: Path) -> None:
    """Write the malformed files of `file_cases` into `folder`."""
    (folder / 'file').parent.mkdir(parents=True, exist_ok=True)
    (folder / 'file').write_text('a file', encoding='utf-8')
    for kind in set(READ.values()):
        (folder / kind).mkdir(exist_ok=True)
    yaml = {'open': b'a: [1,\n', 'number': b'5\n', 'empty': b'', 'binary': bytes(range(256)) * 9,
            'utf16': 'a: 1'.encode('utf-16'), 'nul': b'a: \0\n', 'deep': b'[' * 5000,
            'python': b'a: !!python/object/apply:os.system [id]\n', 'list': b'- 1\n- 2\n',
            'cycle': b'a: &a [*a]\n', 'twice': b'a: 1\na: 2\n', 'key': b'{[1, 2]: 3}\n',
            'nan': b'name: .nan\n', 'date': b'a: 2026-13-45\n'}
    for kind in ('parameters', 'topics', 'robot'):
        for name, data in yaml.items():
            # these are unknown nodes or no topics, which may be allowed
            odd = kind != 'robot' and name in ('empty', 'cycle', 'nan', 'list', 'number', 'twice')
            (folder / kind / f'{"odd_" if odd else ""}{name}.yaml').write_bytes(data)
    xml = {'open': b'<robot', 'empty': b'', 'other': b'<html/>', 'bare': b'<robot name="r"/>',
           'binary': bytes(range(256)), 'deep': b'<robot name="r">' + b'<a>' * 3000,
           'entity': b'<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>',
           'number': b'<robot name="r"><link name="l"><inertial><mass value="x"/></inertial>'
                     b'</link></robot>'}
    for name, data in xml.items():
        (folder / 'robot' / f'{name}.urdf').write_bytes(data)
    (folder / 'robot' / 'wrong.urdf.xacro').write_bytes(
        b'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
        b'<xacro:include filename="none.xacro"/></robot>')
    (folder / 'robot' / 'macro.urdf.xacro').write_bytes(
        b'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
        b'<link name="${nothing}"/></robot>')
    (folder / 'robot' / 'directory.yaml').mkdir(exist_ok=True)
    for name in ('parameters', 'topics', 'terrain'):
        (folder / name / 'directory.yaml').mkdir(exist_ok=True)
    (folder / 'terrain' / 'binary.png').write_bytes(bytes(range(256)))
    (folder / 'terrain' / 'empty.png').write_bytes(b'')
    (folder / 'terrain' / 'text.yaml').write_bytes(b'a: [')
    _write_bags(folder / 'bag')


def _write_bags(folder: Path) -> None:
    """Write directories and files that are no bags, or damaged ones."""
    data = (GOLDEN_BAG / 'bag.mcap').read_bytes()
    metadata = (GOLDEN_BAG / 'metadata.yaml').read_text(encoding='utf-8')
    for name, text, stored in (
            ('empty', None, None), ('bad_yaml', 'a: [', data), ('number', '5', data),
            ('no_file', metadata, None), ('empty_file', metadata, b''),
            ('random', metadata, bytes(range(256)) * 100),
            ('cut', metadata, data[:len(data) // 2]),
            ('cut_early', metadata, data[:60]), ('only_file', None, data[:len(data) // 3]),
            ('damaged', metadata, data[:9000] + bytes(4000) + data[13000:])):
        # a part of these can be read, and repair is for them
        odd = name in ('cut', 'cut_early', 'only_file', 'damaged', 'bad_yaml', 'number')
        place = folder / f'{"odd_" if odd else ""}{name}'
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if text is not None:
            (place / 'metadata.yaml').write_text(text, encoding='utf-8')
        if stored is not None:
            (place / 'bag.mcap').write_bytes(stored)
    (folder / 'text.mcap').write_text('no bag')
    (folder / 'text.db3').write_text('no bag')
    (folder / 'empty.db3').write_bytes(b'')
