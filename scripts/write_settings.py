# SPDX-License-Identifier: Apache-2.0
"""
Write the classes of settings from the parameter schemas.

Run from the root of the repository: ``python scripts/write_settings.py``, after a change of a
``*_parameters.yaml`` or of settings_classes.py. Beside each schema it writes a module of the same
name, as generate_parameter_library does: frozen dataclasses with the defaults, bounds and
descriptions of the parameters. They need neither ROS nor the schema. With ``--check`` nothing is
written, and the exit code is 1 if a module is not up to date.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from settings_classes import CLASSES, Generated

ROOT = Path(__file__).parents[1]
# the suite itself, wherever it is called from
sys.path.insert(0, str(ROOT))

WIDTH = 99
TYPES = {'double': 'float', 'int': 'int', 'bool': 'bool', 'string': 'str'}
# arguments of `setting` by the rules of a schema
RULES = {'bounds<>': 'bounds', 'gt<>': 'above', 'gt_eq<>': 'least', 'one_of<>': 'one_of',
         'fixed_size<>': 'size'}

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from {schema}:
# change that, not this file.
"""
Settings from the parameters of {node}.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting
'''


def selected(generated: Generated, entries: Mapping[str, Mapping[str, Any]]
             ) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return ``{field: (parameter, entry)}`` of a class."""
    names = dict.fromkeys([
        *generated.parameters,
        *(name for group in generated.groups for name in entries
          if name.startswith(f'{group}.') and name not in generated.without)])
    fields = {generated.fields.get(name, name.rpartition('.')[2]): (name, entries[name])
              for name in names}
    if len(fields) != len(names):
        raise SystemExit(f'{generated.name}: two parameters have the same field, of {[*names]}; '
                         'name one in fields')
    return fields


def hint(entry: Mapping[str, Any]) -> str:
    """Return the type of a field."""
    kind, array, _ = entry['type'].partition('_array')
    name = TYPES[kind]
    if not array:
        return name
    size = entry.get('validation', {}).get('fixed_size<>')
    return f'tuple[{", ".join([name] * size[0])}]' if size else f'tuple[{name}, ...]'


def literal(value: Any) -> str:
    """Return a value as Python."""
    if isinstance(value, list):
        return f'({", ".join(map(literal, value))})'
    # 1000000000.0 cannot be read
    short = f'{value:.0e}'.replace('e+0', 'e') if isinstance(value, float) else ''
    return short if short and value >= 1e6 and float(short) == value else repr(value)


def rules(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of `setting` for the rules of an entry."""
    for rule, argument in entry.get('validation', {}).items():
        if rule == 'not_empty<>':
            yield 'filled=True'
            continue
        if rule not in RULES:
            raise SystemExit(f'the rule {rule} is not one of a setting: add it to RULES, and to '
                             'c3p_description.settings.setting')
        single = rule == 'one_of<>' or len(argument) == 1
        yield f'{RULES[rule]}={literal(argument[0] if single else argument)}'


def field_lines(name: str, parameter: str, entry: Mapping[str, Any], unlimited: bool
                ) -> Iterator[str]:
    """Yield the lines of a field."""
    default = entry['default_value']
    if entry['type'] == 'double':
        default = float(default)
    begin = f'    {name}: {hint(entry)} = setting('
    text = ', '.join([literal(default), *rules(entry), f'parameter={parameter!r}',
                      *(['unlimited=True'] if unlimited else [])]) + ')'
    if len(begin + text) <= WIDTH:
        yield begin + text
    else:
        yield begin
        yield from textwrap.wrap(text, WIDTH, initial_indent=' ' * 8, subsequent_indent=' ' * 8,
                                 break_on_hyphens=False)


def class_lines(generated: Generated, entries: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a class."""
    fields = selected(generated, entries)
    summary, *more = generated.summary.split('\n\n')
    keywords = ', kw_only=True' if generated.keywords else ''
    yield from ('', '', f'@dataclass(frozen=True{keywords})',
                f'class {generated.name}(CheckedSettings):', '    """', f'    {summary}', '')
    for paragraph in more:
        yield from textwrap.wrap(paragraph, WIDTH, initial_indent=' ' * 4,
                                 subsequent_indent=' ' * 4)
        yield ''
    yield from ('    Attributes', '    ----------')
    for name, (_, entry) in fields.items():
        yield f'    {name} : {hint(entry)}'
        yield from textwrap.wrap(' '.join(entry['description'].split()), WIDTH,
                                 initial_indent=' ' * 8, subsequent_indent=' ' * 8,
                                 break_on_hyphens=False)
    yield from ('    """', '')
    for name, (parameter, entry) in fields.items():
        yield from field_lines(name, parameter, entry, name in generated.unlimited)


def module(schema: str) -> str:
    """Return the text of the module of a schema."""
    from c3p_ros.schema import read_schema

    entries = read_schema(ROOT / schema)
    path = Path(schema)
    lines = [HEAD.format(schema=path.name, node=path.stem.removesuffix('_parameters'))]
    for generated in CLASSES[schema]:
        lines.append('\n'.join(class_lines(generated, entries)) + '\n')
    return ''.join(lines)


def modules() -> dict[Path, str]:
    """Return the text of each module, by its path."""
    return {(ROOT / schema).with_suffix('.py'): module(schema) for schema in CLASSES}


def main(given: list[str] | None = None) -> int:
    """Write or compare the modules; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--check', action='store_true', help='compare and write nothing')
    arguments = parser.parse_args(given)
    old = [path for path, text in modules().items()
           if not path.is_file() or path.read_text(encoding='utf-8') != text]
    for path in old:
        if arguments.check:
            print(f'{path.relative_to(ROOT)} is not up to date: python scripts/write_settings.py')
        else:
            path.write_text(modules()[path], encoding='utf-8')
    return 1 if old and arguments.check else 0


if __name__ == '__main__':
    raise SystemExit(main())
