# SPDX-License-Identifier: Apache-2.0
"""
Write the tables of docs/nodes.md: parameters from the schemas, topics from running nodes.

Parameter tables are between ``<!-- parameters: NODE -->`` and ``<!-- end -->``, topic tables as in
node_contracts.py; the rest of the page is written by hand. Run from the root of the repository:
``python scripts/write_node_docs.py``. Without ROS 2 the topic tables are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'docs' / 'nodes.md'

HEAD = ('| parameter | type | default | range | while running | meaning |\n'
        '|---|---|---|---|---|---|')
SIGNS = {'gt<>': '>', 'gt_eq<>': '≥', 'lt<>': '<', 'lt_eq<>': '≤'}


def schemas() -> dict[str, dict[str, Any]]:
    """Return ``{node: {dotted parameter: entry}}`` of every schema of the suite."""
    found = {}
    for path in sorted(ROOT.glob('c3p_*/**/*_parameters.yaml')):
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
        for node, entries in content.items():
            found[node] = dict(flat(entries))
    return found


def flat(entries: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parameters of nested groups with dotted names."""
    for name, entry in entries.items():
        if isinstance(entry.get('type'), str):
            yield prefix + name, entry
        else:
            yield from flat(entry, f'{prefix}{name}.')


def shown(value: Any) -> str:
    """Return a value as typed on a command line."""
    if value == '':
        return "`''`"
    if isinstance(value, float) and 0.0 < abs(value) < 1e-3:
        value = f'{value:.10f}'.rstrip('0')
    return f'`{str(value).lower() if isinstance(value, bool) else value}`'


def allowed(entry: Mapping[str, Any]) -> str:
    """Return the permitted range of a parameter as text."""
    words = []
    for rule, argument in entry.get('validation', {}).items():
        if rule == 'bounds<>':
            words.append(' to '.join(shown(value).strip('`') for value in argument))
        elif rule == 'one_of<>':
            words.append(', '.join(f'`{value}`' for value in argument[0]))
        elif rule == 'fixed_size<>':
            words.append(f'{argument[0]} values')
        elif rule == 'not_empty<>':
            words.append('not empty')
        else:
            words.append(f'{SIGNS[rule]} {argument[0]}')
    return '; '.join(words)


def table(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of a node's parameters."""
    rows = [HEAD]
    for name, entry in entries.items():
        # a bar would end the cell
        meaning = ' '.join(entry['description'].split()).replace('|', r'\|')
        change = 'fixed' if entry.get('read_only') else 'may change'
        rows.append(f'| `{name}` | {entry["type"]} | {shown(entry.get("default_value"))} '
                    f'| {allowed(entry)} | {change} | {meaning} |')
    return '\n'.join(rows)


def rewritten(page: str) -> str:
    """
    Return the page with updated parameter tables.

    Raises
    ------
    ValueError
        A node without a table on the page, or a table without a node.
    """
    nodes = schemas()
    written = []

    def fill(found: re.Match[str]) -> str:
        node = found.group(1)
        if node not in nodes:
            raise ValueError(f'{PAGE.name}: a table for {node}, which has no schema; '
                             f'there are {sorted(nodes)}')
        written.append(node)
        return f'<!-- parameters: {node} -->\n{table(nodes[node])}\n<!-- end -->'

    page = re.sub(r'<!-- parameters: (\w+) -->\n.*?<!-- end -->', fill, page, flags=re.DOTALL)
    if missing := sorted(set(nodes) - set(written)):
        raise ValueError(f'{PAGE.name}: no table for {missing}; add the line '
                         f'<!-- parameters: {missing[0]} --> and <!-- end --> below it')
    return page


def main() -> None:
    """Rewrite the page."""
    page = rewritten(PAGE.read_text(encoding='utf-8'))
    # the nodes started here are for this process only
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    try:
        import node_contracts as contracts
    except ModuleNotFoundError as error:
        print(f'{error}: only the tables of parameters were written')
    else:
        page = contracts.rewritten(page, {n: contracts.contract(n) for n in contracts.DOCUMENTED})
        for name, table in contracts.tables(page).items():
            for kind, topic in (place for place, row in table.items() if not row.meaning):
                print(f'{PAGE.name}: {name} {kind} {topic}: add its meaning')
    PAGE.write_text(page, encoding='utf-8')


if __name__ == '__main__':
    main()
