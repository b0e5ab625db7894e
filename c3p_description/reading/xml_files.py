# SPDX-License-Identifier: Apache-2.0
"""XML of limited size: every description is read by this, wherever it comes from."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from c3p_description.model import ModelError

# of a description; a robot of a thousand links has some ten thousand elements
MOST_CHARACTERS = 4_000_000
MOST_ELEMENTS = 50_000
DEEPEST = 50


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> Any:
        self._depth, self._count = self._depth + 1, self._count + 1
        if self._depth > DEEPEST:
            raise ModelError(f'XML nested more than {DEEPEST} levels deep')
        if self._count > MOST_ELEMENTS:
            raise ModelError(f'XML of more than {MOST_ELEMENTS} elements')
        return super().start(tag, attributes)

    def end(self, tag: str) -> Any:
        self._depth -= 1
        return super().end(tag)

    def doctype(self, name: str, public: str, system: str) -> None:
        raise ModelError('XML with a DOCTYPE, whose entities could name other files; remove it')


def parse_xml(text: str) -> ElementTree.Element:
    """
    Return the root of a description, of which `text` is the XML.

    Raises
    ------
    ModelError
        It is not well-formed, has a DOCTYPE, more than 4 MB, 50 000 elements or 50 levels.

    Examples
    --------
    >>> parse_xml('<robot name="a"/>').get('name')
    'a'
    """
    if len(text) > MOST_CHARACTERS:
        raise ModelError(f'the URDF has {len(text)} characters, at most {MOST_CHARACTERS} are '
                         'read')
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        parser.feed(text)
        return parser.close()
    except ModelError:
        raise
    # of the parser, and of characters that cannot be encoded
    except (ElementTree.ParseError, ValueError) as error:
        raise ModelError(f'the URDF is not well-formed XML: {error}') from None
