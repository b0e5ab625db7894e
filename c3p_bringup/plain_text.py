# SPDX-License-Identifier: Apache-2.0
"""
Output on terminals that cannot show every character, and on pipes that are no longer read.

Texts contain Greek letters, units and signs. Where the encoding of a stream lacks them, as
``PYTHONIOENCODING=ascii`` or the code page cp1252, they are written in words instead of ending the
program.
"""

from __future__ import annotations

import codecs
import os
import select
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Any

NAME = 'c3p_plain'

# signs in texts of the suite
SIGNS = {
    '·': '*', '×': 'x', '°': 'deg', '±': '+-', '²': '^2', '³': '^3', '¹': '^1', '⁻': '-',
    '−': '-', '–': '-', '—': '-', '’': "'", '‘': "'", '“': '"', '”': '"', '…': '...',
    'µ': 'u', '√': 'sqrt', '∞': 'inf', '≤': '<=', '≥': '>=', '≠': '!=', '≈': '~', '→': '->',
    '←': '<-', '↔': '<->', 'Σ': 'sum', 'Δ': 'd', '½': '1/2', '∈': 'in', '█': '#', '\u202f': ' ',
    '\u00a0': ' ',
}


def plain(text: str) -> str:
    """
    Return a text in ASCII.

    Signs are as usual in plain text, Greek letters are named, others lose their accents, and the
    rest is ``?``.

    Examples
    --------
    >>> plain('σ_min 0.3 N·m, 90° → θ̇, naïve, 車')
    'sigma_min 0.3 N*m, 90deg -> theta, naive, ?'
    """
    return ''.join(_sign(one) for one in text)


def _sign(one: str) -> str:
    """Return one character in ASCII."""
    if one.isascii():
        return one
    if one in SIGNS:
        return SIGNS[one]
    name = unicodedata.name(one, '').split()
    if name[:2] == ['GREEK', 'SMALL']:
        return name[3].lower() if len(name) > 3 else '?'
    if name[:2] == ['GREEK', 'CAPITAL']:
        return name[3].capitalize() if len(name) > 3 else '?'
    if name[:1] == ['COMBINING']:
        return ''
    return ''.join(part for part in unicodedata.normalize('NFKD', one) if part.isascii()) or '?'


def show_plainly() -> None:
    """Let both streams of this process write in words what their encoding lacks."""
    codecs.register_error(NAME, _replaced)
    for stream in (sys.stdout, sys.stderr):
        # a stream of a test, or none at all
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors=NAME)  # type: ignore[union-attr]


def output_ended() -> bool:
    """Return whether what reads the output of this process has ended, such as ``head``."""
    try:
        waiting = select.poll()
        waiting.register(sys.stdout.fileno(), 0)
    # a stream of a test, or none at all
    except (AttributeError, ValueError, OSError):
        return False
    return any(event & select.POLLERR for _, event in waiting.poll(0))


def while_read(program: Callable[[], Any]) -> Any:
    """Return what a program returns, 0 if what reads its output ends before it does."""
    try:
        try:
            return program()
        finally:
            # also of a parser, which raises SystemExit after its help
            sys.stdout.flush()
    except BrokenPipeError:
        if not output_ended():
            raise
        # the interpreter flushes once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Answer an encoder that cannot write a part of its text."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # names of files that are not UTF-8 contain halves of pairs, which no encoding has
    return plain(error.object[error.start:error.end]), error.end
