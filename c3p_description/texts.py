# SPDX-License-Identifier: Apache-2.0
"""Short texts of values for error messages."""

from __future__ import annotations

from typing import Any

# characters of a value in an error, entries of a collection, and how deep collections are shown
MOST_CHARACTERS = 140
MOST_ENTRIES = 6
DEEPEST = 3
# characters of a text that is shown whole
WHOLE = 70


def brief(value: Any, depth: int = DEEPEST) -> str:
    """
    Return ``repr(value)``, shortened to one line of at most 140 characters.

    The full text is never built, because it may be of any size. Of a type that YAML and XML
    readers do not return only the name is shown. `depth` levels of collections are shown.

    Examples
    --------
    >>> brief('C3P'), brief(2.5), brief([1, [2, [3, [4]]]])
    ("'C3P'", '2.5', '[1, [2, [3, [...]]]]')
    >>> brief('ab' * 50 + 'cd' * 50)
    "'abababababababababababababababababababab' ... 'cdcdcdcdcdcdcdcdcdcd' (200 characters)"
    >>> brief(10 ** 400)
    'an integer of 1329 bits'
    """
    return _limited(_brief(value, depth))


def one_line(error: BaseException) -> str:
    r"""
    Return the message of an `error` in one line of about 300 characters at most.

    Examples
    --------
    >>> one_line(ValueError('two\nlines')), one_line(MemoryError())
    ('two lines', 'MemoryError')
    """
    text = ' '.join(f'{error}'[:2000].split())
    return (text if len(text) <= 300 else f'{text[:297]}...') or type(error).__name__


def _limited(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f'{text[:MOST_CHARACTERS - 3]}...'


def _brief(value: Any, depth: int) -> str:
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        # more digits than Python converts
        bits = value.bit_length()
        return repr(value) if bits <= 128 else f'an integer of {bits} bits'
    if isinstance(value, (str, bytes)):
        if len(value) <= WHOLE:
            return repr(value)
        return f'{value[:40]!r} ... {value[-20:]!r} ({len(value)} characters)'
    if isinstance(value, dict):
        parts = (f'{_brief(key, 0)}: {_brief(entry, depth - 1)}' for key, entry in value.items())
        return '{' + _entries(parts, len(value), depth) + '}'
    if isinstance(value, (list, tuple, set)):
        left, right = {list: ('[', ']'), tuple: ('(', ')')}.get(type(value), ('{', '}'))
        return left + _entries((_brief(entry, depth - 1) for entry in value), len(value),
                               depth) + right
    return f'a {type(value).__name__}'


def _entries(parts: Any, count: int, depth: int) -> str:
    """Return the first parts of a collection."""
    if depth <= 0:
        return '...' if count else ''
    some = [part for part, _ in zip(parts, range(MOST_ENTRIES), strict=False)]
    return ', '.join([*some, f'... {count} entries'] if count > MOST_ENTRIES else some)
