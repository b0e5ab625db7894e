# SPDX-License-Identifier: Apache-2.0
"""
YAML of limited size: every file of the suite that a user or a bag brings is read by this.

A few hundred bytes of YAML can stand for any number of values (aliases of aliases, merged keys),
and deep nesting ends the interpreter's stack. What a text stands for is counted before anything
is made of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from c3p_description.texts import brief

# of a file; values that it stands for, with everything that aliases repeat; levels of nesting
MOST_BYTES = 1_000_000
MOST_NODES = 50_000
DEEPEST = 40
# characters of a number; of more it takes long to make one
LONGEST_NUMBER = 64

# libyaml is twenty times as fast, where PyYAML was built with it
_EVENTS: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
PLAIN: Any = _EVENTS


class YamlFileError(ValueError):
    """A text that is not YAML, or stands for more than is read; one line."""


def read_yaml(path: str | Path, loader: Any = PLAIN) -> Any:
    """
    Return the content of the YAML file at `path`, read by a safe `loader` of PyYAML.

    Raises
    ------
    YamlFileError
        As `parse_yaml`; also of bytes that are not UTF-8, and of more than 1 MB.
    OSError
        The file cannot be opened.
    """
    with Path(path).open('rb') as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise YamlFileError(f'more than {MOST_BYTES} bytes, which is more than is read')
    try:
        return parse_yaml(data.decode('utf-8'), loader)
    except UnicodeDecodeError as error:
        raise YamlFileError(f'not UTF-8: {error.reason} at byte {error.start}') from None


def parse_yaml(text: str, loader: Any = PLAIN) -> Any:
    """
    Return the content of a YAML `text`, read by a safe `loader` of PyYAML.

    Raises
    ------
    YamlFileError
        It is not YAML, or has more than 50 000 values with all that aliases repeat, more than 40
        levels, an alias within itself, or a number of more than 64 characters.

    Examples
    --------
    >>> parse_yaml('{a: [1, 2]}')
    {'a': [1, 2]}
    >>> parse_yaml('&a [*a]')
    Traceback (most recent call last):
    c3p_description.reading.yaml_files.YamlFileError: alias *a within itself
    """
    try:
        check_yaml(text)
        return yaml.load(text, loader)  # noqa: S506, a safe loader
    except YamlFileError:
        raise
    except yaml.YAMLError as error:
        raise YamlFileError(' '.join(f'{error}'.split())[:400]) from None
    # impossible dates, numbers and keys, of any type; ModelError of a loader of our own
    except Exception as error:
        raise YamlFileError(' '.join(f'{error}'.split())[:400]) from None


def check_yaml(text: str, most_nodes: int = MOST_NODES) -> None:
    """
    Refuse a `text` of more than `most_nodes` values, before anything is made of it.

    Raises
    ------
    YamlFileError
        As `parse_yaml`.
    yaml.YAMLError
        It is not YAML.
    """
    if len(text) > MOST_BYTES:
        raise YamlFileError(f'{len(text)} characters, at most {MOST_BYTES} are read')
    # nodes so far, with those that aliases repeat; anchors that are open and what the others are
    count = 0
    open_nodes: list[Any] = []
    size: dict[Any, Any] = {}
    for event in yaml.parse(text, _EVENTS):
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_nodes):
                raise YamlFileError(f'alias *{brief(event.anchor)[1:-1]} within itself')
            count += size.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            size[event.anchor] = 1
            if event.implicit[0] and len(event.value) > LONGEST_NUMBER \
                    and event.value[:1] in '+-.0123456789' and ' ' not in event.value:
                raise YamlFileError(f'{brief(event.value)}: too long for a number; put a text in '
                                    'quotes')
        elif isinstance(event, yaml.CollectionStartEvent):
            count += 1
            open_nodes.append((event.anchor, count))
            if len(open_nodes) > DEEPEST:
                raise YamlFileError(f'nested more than {DEEPEST} levels deep')
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, begin = open_nodes.pop()
            size[anchor] = count - begin + 1
        if count > most_nodes:
            raise YamlFileError(f'stands for more than {most_nodes} values')
