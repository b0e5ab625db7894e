# SPDX-License-Identifier: Apache-2.0
"""config/nav2.yaml, and the parameters that the releases of Nav2 declare."""

from pathlib import Path
from typing import NamedTuple

import yaml
from ros_types import leaves, ros_type

ROOT = Path(__file__).resolve().parents[1]
FILE = yaml.safe_load((ROOT / 'config/nav2.yaml').read_text(encoding='utf-8'))

# the columns of test/data/nav2_types.txt, whose head says how it was read
RELEASES = ('1.3.13', '1.4.2', '1.5.1')

# parameters that each node has
COMMON = 'every node'


class Declared(NamedTuple):
    """Type of a parameter, of a plugin its class, and its default in each release that has it."""

    kind: str
    defaults: dict[str, str]


def declared():
    """Return {node: {parameter: Declared}} of the sources of Nav2."""
    found = {}
    for line in (ROOT / 'test/data/nav2_types.txt').read_text(encoding='utf-8').splitlines():
        if line.endswith(':') and not line.startswith('#'):
            entries = found.setdefault(line[:-1], {})
        elif line.startswith('  '):
            name, kind, *defaults, _source = line.split()
            assert len(defaults) == len(RELEASES) and name not in entries, line
            entries[name] = Declared(kind, {
                release: default for release, default in zip(RELEASES, defaults, strict=True)
                if default != '-'})
    return found


def values(content, node):
    """Return the parameters of a node."""
    entry = content[node]
    return entry.get(node, entry)['ros__parameters']


def undeclared(content, release):
    """Return {(node, parameter)} of `content` that `release` ignores; another type is an error."""
    known, ignored = declared(), set()
    for node in content:
        for name, value in leaves(values(content, node)):
            entry = known.get(node, {}).get(name)
            if entry is None or release not in entry.defaults:
                ignored.add((node, name))
                continue
            kind = value if name.endswith('.plugin') else ros_type(value)
            assert entry.kind == kind, f'{node}: {name} is {kind}, must be {entry.kind}'
    return ignored


def everything(content, key):
    """Return {(node, name): value} of every parameter whose last name is `key`."""
    return {(node, name): value for node in content
            for name, value in leaves(values(content, node)) if name.split('.')[-1] == key}
