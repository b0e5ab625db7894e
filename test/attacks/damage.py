# SPDX-License-Identifier: Apache-2.0
"""Damaged variants of files, the same for the same random numbers."""

import random
import re

# an attacker's word: nothing that is a program may have it, see watch.py
CANARY = 'c3p_canary'

# what a number in a text, or a place in one, becomes
NUMBERS = ['0', '-0.0', '1e308', '-1e308', '1.0e-320', '.inf', '-.inf', '.nan', 'nan', 'inf', '-1',
           '9' * 40, '9' * 401, '0x' + 'f' * 30, '1_000', '1:30:00', '2001-02-30', '1e3', '1e',
           '--1', '4294967296', '18446744073709551615', '9223372036854775807', '1j', '0.1.2', '']
WORDS = ['', '[]', '{}', 'null', '~', 'true', 'no', '""', '"\\0"', '[[[[]]]]', '{a: {b: {c: d}}}',
         '*a', '&a [*a]', '&a', '<<: *a', '!!python/object/apply:os.system [c3p_canary]',
         '!!binary aGFsbG8=', '!!set {a, b}', '!degrees 20', '!degrees [1]', '? [a]\n: b', '---',
         '...', '%YAML 9.9', '\t', '\r', '|', '>', '- ' * 60, '[' * 60, '{a: ' * 60, 'a: ' * 3,
         '${c3p_canary}', '$(c3p_canary)', "${__import__('os').system('c3p_canary')}",
         "'+c3p_canary+'", '../../../../etc/passwd', '/etc/passwd', 'file:///etc/passwd',
         'package://c3p/../../../etc/hostname', '/dev/zero', '/proc/self/environ', '~/.ssh/id_rsa',
         '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>', '&b;', '&#0;', '&#x110000;',
         '<mesh filename="/etc/passwd"/>', '<mesh filename="../../../../../etc/passwd.stl"/>',
         '<a>' * 80, '<link/>', '<joint/>', '<origin xyz="1 2"/>', ']]>', '<![CDATA[', '<?xml?>',
         '\ufeff', '\u2028', '\U0001f600', 'é', 'x' * 300, ' ' * 300]
BYTES = [b'\0', b'\0' * 9, b'\xff', b'\xff' * 8, b'\x7f\xff\xff\xff', b'\0\0\0\x80', b'\x80',
         b'\0\0\0\0\0\0\0\x80', b'\xff\xff\xff\xff\xff\xff\xff\x7f', b'\x01', b'\r\n', b'\xc3',
         b'\0\0\0\0\x02\0\0\0', b'\xed\xa0\x80', b'(lp0', b'\x80\x04', b'PK\x03\x04']

_NUMBER = re.compile(rb'[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?')
_WORD = re.compile(rb'[A-Za-z_][A-Za-z_0-9./:-]*')


def damaged(data, source, text, others=()):
    """
    Return a damaged variant.

    Parameters
    ----------
    data : bytes
    source : random.Random
    text : bool
        Whether it is one; numbers, words and lines are exchanged then, too.
    others : sequence of bytes
        Of which pieces are put in.
    """
    data = bytearray(data)
    ways = [_flip, _put, _cut, _hole, _double, _swap] + 3 * [_number, _word, _line] * text
    for _ in range(source.choice((1, 1, 1, 2, 3, 6))):
        if others and source.random() < 0.08:
            _splice(data, source, source.choice(others))
        else:
            source.choice(ways)(data, source)
    return bytes(data)


def _place(data, source):
    """Return a place; the heads and ends of files are worth more than their middle."""
    end = source.choice((len(data), len(data), len(data), 64, 300))
    place = source.randrange(max(1, min(end, len(data))))
    return len(data) - 1 - place if data and source.random() < 0.3 else place


def _flip(data, source):
    for _ in range(source.choice((1, 1, 2, 8, 40))):
        if data:
            data[_place(data, source)] ^= 1 << source.randrange(8)


def _put(data, source):
    place, piece = _place(data, source), source.choice(BYTES)
    data[place:place + source.choice((0, len(piece)))] = piece


def _cut(data, source):
    place = _place(data, source)
    if source.random() < 0.3:
        del data[place:]
    else:
        del data[place:place + source.choice((1, 2, 8, 100, 2000))]


def _hole(data, source):
    place = _place(data, source)
    length = min(source.choice((4, 8, 100, 4096)), len(data) - place)
    data[place:place + length] = bytes(length)


def _double(data, source):
    place = _place(data, source)
    data[place:place] = data[place:place + source.choice((1, 8, 60, 500))]


def _swap(data, source):
    a, b = sorted((_place(data, source), _place(data, source)))
    length = min(source.choice((1, 8, 50)), b - a, len(data) - b)
    data[a:a + length], data[b:b + length] = data[b:b + length], data[a:a + length]


def _splice(data, source, other):
    begin = source.randrange(len(other) + 1)
    place = _place(data, source)
    data[place:place + source.choice((0, 20))] = other[begin:begin + source.choice((10, 80, 600))]


def _exchange(data, source, pattern, choices):
    found = list(pattern.finditer(data))
    if found:
        match = source.choice(found)
        data[match.start():match.end()] = source.choice(choices).encode()


def _number(data, source):
    _exchange(data, source, _NUMBER, NUMBERS)


def _word(data, source):
    _exchange(data, source, _WORD, WORDS)


def _line(data, source):
    lines = bytes(data).split(b'\n')
    k = source.randrange(len(lines))
    way = source.randrange(4)
    if way == 0:
        del lines[k]
    elif way == 1:
        lines.insert(k, lines[source.randrange(len(lines))])
    elif way == 2:
        lines[k] = source.choice((b' ', b'  ', b'    ')) + lines[k]
    else:
        lines.insert(k, source.choice(WORDS).encode())
    data[:] = b'\n'.join(lines)


def variants(seed, name, count):
    """Yield random numbers for each variant of a kind of file."""
    for k in range(count):
        yield k, random.Random(f'{seed}/{name}/{k}')
