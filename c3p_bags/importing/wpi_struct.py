# SPDX-License-Identifier: Apache-2.0
"""
Numbers in the packed structs of WPILib (its struct serialization, version 1.0).

A schema lists the members in the order of their bytes, without gaps, least byte first:

    double distance;Rotation2d angle;      with      double value;      of Rotation2d

A member may be an array of fixed length, another struct, or have its own number of bits. A log has
the schema of each struct as an entry of the type `structschema`, named `…struct:NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

# types of members as numpy reads them
NUMBERS = {'bool': '?', 'int8': '<i1', 'int16': '<i2', 'int32': '<i4', 'int64': '<i8',
           'uint8': '<u1', 'uint16': '<u2', 'uint32': '<u4', 'uint64': '<u8', 'float': '<f4',
           'float32': '<f4', 'double': '<f8', 'float64': '<f8'}
CHARACTER = 'char'

# a declaration: names of an enum, type, name, and length of an array or number of bits
DECLARATION = re.compile(r'(?:(?:enum)?\s*\{[^{}]*\})?\s*([^\s:\[\]{}]+)\s+([^\s:\[\]{}]+)'
                         r'\s*(?:\[\s*(\d{1,9})\s*\]|:\s*(\d{1,2}))?')

# a member in the name of a column: .NAME or .NAME[K]
STEP = re.compile(r'\.([^.\[\]]+)(?:\[(\d{1,9})\])?')

# bytes of a struct, and structs inside each other
MOST_BYTES = 1_000_000
DEEPEST = 16


class SchemaError(ValueError):
    """A struct of which a number cannot be read; the text has the reason."""


class StructMember(NamedTuple):
    """
    Member of a struct: its type, place of its first byte and `length`, the number of its values.

    `many` for an array, `bits` for a field with its own number of bits.
    """

    kind: str
    place: int
    length: int
    many: bool
    bits: bool


class StructLayout(NamedTuple):
    """Bytes of a struct, and its members by their names."""

    size: int
    members: Mapping[str, StructMember]


class PackedNumber(NamedTuple):
    """A number in a struct: its first byte, type of numpy, and the bytes of the struct."""

    place: int
    dtype: str
    size: int


class StructSchemas:
    """
    Schemas of the structs of a log.

    Parameters
    ----------
    texts : mapping of str to str
        Schema of each struct, by its name.

    Examples
    --------
    >>> schemas = StructSchemas({'SwerveModulePosition': 'double distance;Rotation2d angle',
    ...                          'Rotation2d': 'double value'})
    >>> schemas.number('SwerveModulePosition', '.angle')
    PackedNumber(place=8, dtype='<f8', size=16)
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Keep the texts; the layouts are made when they are needed."""
        self._texts = texts
        self._layouts: dict[str, StructLayout] = {}

    def layout(self, name: str, depth: int = 0) -> StructLayout:
        """
        Return the layout of a struct, inside of `depth` others.

        Raises
        ------
        SchemaError
            A schema is missing or damaged, or a struct contains itself.

        Examples
        --------
        >>> texts = {'Inner': 'int16 i; int8 x', 'Outer': 'char c; Inner s; bool b'}
        >>> layout = StructSchemas(texts).layout('Outer')
        >>> layout.size, layout.members['b'].place
        (5, 4)
        """
        if name in self._layouts:
            return self._layouts[name]
        if name not in self._texts:
            raise SchemaError(f'the log has no schema of struct {name!r}, but of '
                              f'{", ".join(self._texts)[:300] or "none"}')
        if depth > DEEPEST:
            raise SchemaError(f'struct {name!r} is more than {DEEPEST} structs deep, or in itself')
        size = 0
        # width of the number that fields of bits share, and its bits in use
        shared = (0, 0)
        members: dict[str, StructMember] = {}
        for declared in filter(None, map(str.strip, self._texts[name].split(';'))):
            found = DECLARATION.fullmatch(declared)
            if found is None:
                raise SchemaError(f'struct {name!r}: {declared[:80]!r} is not a declaration')
            kind, member, length, bits = found.groups()
            if bits is not None:
                shared, began = _share_bits(kind, int(bits), shared)
                if began < 0:
                    raise SchemaError(f'struct {name!r}: {declared[:80]!r} cannot have {bits} '
                                      'bits')
                size += began
                members[member] = StructMember(kind, size - shared[0] // 8, 1, False, True)
                continue
            shared = (0, 0)
            values = 1 if length is None else int(length)
            members[member] = StructMember(kind, size, values, length is not None, False)
            size += values * self._size(kind, depth)
            if size > MOST_BYTES:
                raise SchemaError(f'struct {name!r} has more than {MOST_BYTES} bytes')
        layout = self._layouts[name] = StructLayout(size, members)
        return layout

    def _size(self, kind: str, depth: int = 0) -> int:
        """Return the bytes of a value."""
        if kind == CHARACTER:
            return 1
        return _width(kind) // 8 if kind in NUMBERS else self.layout(kind, depth + 1).size

    def number(self, name: str, path: str) -> PackedNumber:
        """
        Return the place of a number in struct `name`.

        Parameters
        ----------
        name : str
        path : str
            Members from outside to inside, as ``.angle.value`` or ``.modules[2].angle``. A struct
            of one member, such as an angle, is that member.

        Raises
        ------
        SchemaError
            There is no such number.
        """
        place = 0
        kind = name
        here = ''
        steps = [(step[1], step[2]) for step in STEP.finditer(path)]
        while steps or kind not in NUMBERS:
            members = {} if kind in NUMBERS else self.layout(kind).members
            if not steps and len(members) != 1:
                raise SchemaError(f'{here or "it"} is a struct {kind!r} with '
                                  f'{", ".join(f"{here}.{member}" for member in members)}')
            key, index = steps.pop(0) if steps else (next(iter(members)), None)
            here += f'.{key}' if index is None else f'.{key}[{index}]'
            member = members.get(key)
            if member is None:
                raise SchemaError(f'{here} is not in {kind!r}, which has '
                                  f'{", ".join(members) or "no members"}')
            if member.bits or member.kind == CHARACTER:
                raise SchemaError(f'{here} is {"a field of bits" if member.bits else "text"}: '
                                  'only numbers of whole bytes are read')
            if member.many != (index is not None) or int(index or 0) >= member.length:
                raise SchemaError(f'{here}: {key} has {member.length} values, from {key}[0] on'
                                  if member.many else f'{here}: {key} is not an array')
            place += member.place + int(index or 0) * self._size(member.kind)
            kind = member.kind
        return PackedNumber(place, NUMBERS[kind], self.layout(name).size)


def _width(kind: str) -> int:
    """Return the bits of a number."""
    return 8 if kind == 'bool' else 8 * int(NUMBERS[kind][2:])


def _share_bits(kind: str, bits: int, shared: tuple[int, int]) -> tuple[tuple[int, int], int]:
    """
    Return what fields of bits share with one more, and the bytes that begin with it; −1: wrong.

    Fields of integers of one width share a number while they fit; a boolean fits any.
    """
    if kind != 'bool' and 'int' not in kind or kind not in NUMBERS:
        return shared, -1
    if not 1 <= bits <= (1 if kind == 'bool' else _width(kind)):
        return shared, -1
    width, used = shared
    if used + bits <= width and (kind == 'bool' or _width(kind) == width):
        return (width, used + bits), 0
    return (_width(kind), bits), _width(kind) // 8
