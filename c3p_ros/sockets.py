# SPDX-License-Identifier: Apache-2.0
"""Sockets of this computer, or of this container, as the kernel lists them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple

UDP = (Path('/proc/net/udp'), Path('/proc/net/udp6'))
TCP = (Path('/proc/net/tcp'), Path('/proc/net/tcp6'))

# state of a TCP socket that accepts connections
LISTENING = '0A'


class BoundSocket(NamedTuple):
    """Local end of a socket."""

    address: IPv4Address | IPv6Address
    port: int
    state: str      # hexadecimal, as in include/net/tcp_states.h


def bound_sockets(tables: Sequence[Path]) -> Iterator[BoundSocket]:
    """
    Yield the local ends of the sockets in `tables`; none where there is no such table.

    Examples
    --------
    >>> list(bound_sockets([]))
    []
    """
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            # not Linux
            continue
        for line in lines:
            fields = line.split()
            address, _, port = fields[1].rpartition(':')
            yield BoundSocket(_address(address), int(port, 16), fields[3])


def loopback(name: str) -> bool:
    """
    Return whether a host name or an address, also in brackets, is this computer's loopback.

    Examples
    --------
    >>> [loopback(name) for name in ('localhost', '127.0.0.2', '[::1]', '0.0.0.0', 'base')]
    [True, True, True, False, False]
    """
    text = name.strip().strip('[]')
    if text == 'localhost':
        return True
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


def _address(text: str) -> IPv4Address | IPv6Address:
    """Return an address from the words of 32 bits of a table, in the order of the processor."""
    words = [int(text[k:k + 8], 16) for k in range(0, len(text), 8)]
    return ip_address(struct.pack(f'={len(words)}I', *words))
