# SPDX-License-Identifier: Apache-2.0
"""
Reach of nodes of rmw_zenoh_cpp: a session of each process, and the router through which they meet.

The middleware reads neither the discovery range nor the keystore of SROS2. By default a session
accepts connections on loopback and connects to ``tcp/localhost:7447``, while the router accepts
them on *all* addresses: every computer that reaches its port is in the graph. The configuration of
the router is unknown to a node, but the kernel lists the addresses on which that port listens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from c3p_ros.sockets import LISTENING, TCP, bound_sockets, loopback

SESSION_FILE = 'ZENOH_SESSION_CONFIG_URI'
OVERRIDE = 'ZENOH_CONFIG_OVERRIDE'
ATTEMPTS = 'ZENOH_ROUTER_CHECK_ATTEMPTS'

# of the router, in the configuration that rmw_zenoh_cpp installs
PORT = 7447
ROUTER = 'ros2 run rmw_zenoh_cpp rmw_zenohd'
# for the router's process alone: a session with it would take the port of the router
CLOSED_ROUTER = f"{OVERRIDE}='listen/endpoints=[\"tcp/localhost:{PORT}\"]' {ROUTER}"

# endpoints are protocol/address, with options behind ? and #; comments begin with //
ENDPOINT = re.compile(r'["\'](tcp|udp|tls|quic|ws|vsock|serial|unixsock-stream|unixpipe)/'
                      r'([^"\'?#\s]+)[^"\'\s]*["\']')
COMMENT = re.compile(r'/\*.*?\*/|(?:^|(?<=[\s,{}\[\]]))//[^\n]*', re.DOTALL)
MULTICAST = re.compile(r'multicast["\']?\s*:\s*\{[^{}]*?\benabled["\']?\s*:\s*true')
# protocols that do not leave the computer
WITHIN = ('unixsock-stream', 'unixpipe')


def session_settings(environment: Mapping[str, str]) -> str:
    """
    Return the text of the file and the overrides of a session; empty with the default ones.

    Raises
    ------
    OSError
        The file cannot be read: the node ends at its start.
    """
    file = environment.get(SESSION_FILE)
    text = COMMENT.sub('', Path(file).read_text(encoding='utf-8')) if file else ''
    for pair in filter(None, environment.get(OVERRIDE, '').split(';')):
        key, _, value = pair.partition('=')
        # a/b/c=value as a: { b: { c: value } }, in which the file has it
        parts = key.strip().split('/')
        text += '\n' + ': {'.join(parts) + f': {value} ' + '}' * (len(parts) - 1)
    return text


def router_ports(settings: str) -> set[int]:
    """
    Return the ports of this computer's routers to which a session with these settings connects.

    Examples
    --------
    >>> router_ports(''), router_ports('connect: { endpoints: ["tcp/127.0.0.1:7500"] }')
    ({7447}, {7500})
    """
    found = {int(address.rpartition(':')[2]) for protocol, address in ENDPOINT.findall(settings)
             if protocol not in WITHIN and address.rpartition(':')[2].isdecimal()
             and loopback(address.rpartition(':')[0])}
    # a port of 0 is any, of the session itself
    return found - {0} or {PORT}


def far_endpoints(settings: str) -> Iterator[str]:
    """
    Yield the endpoints of other computers, or on which other computers may connect.

    Examples
    --------
    >>> list(far_endpoints('listen: { endpoints: ["tcp/[::]:0", "tcp/localhost:1"] }'))
    ['tcp/[::]:0']
    """
    for protocol, address in ENDPOINT.findall(settings):
        if protocol not in WITHIN and not loopback(address.rpartition(':')[0]):
            yield f'{protocol}/{address}'


def listening(ports: Iterable[int], tables: Sequence[Path] = TCP) -> list[str]:
    """Return the addresses on which `ports` accept connections, sorted; all: 0.0.0.0 or ::."""
    wanted = set(ports)
    return sorted({str(one.address) for one in bound_sockets(tables)
                   if one.state == LISTENING and one.port in wanted})


def open_session(environment: Mapping[str, str], tables: Sequence[Path] = TCP) -> str:
    """
    Return why other computers reach the sessions of this one; empty where they do not.

    Examples
    --------
    >>> open_session({'ZENOH_CONFIG_OVERRIDE': 'listen/endpoints=["tcp/0.0.0.0:0"]'}, [])
    'its session uses tcp/0.0.0.0:0'
    """
    try:
        settings = session_settings(environment)
    except (OSError, ValueError):
        return f'{SESSION_FILE}={environment[SESSION_FILE]} cannot be read'
    if far := ', '.join(far_endpoints(settings)):
        return f'its session uses {far}'
    if MULTICAST.search(settings):
        return 'its session searches others by multicast'
    ports = router_ports(settings)
    found = listening(ports, tables)
    if not found:
        named = ', '.join(map(str, sorted(ports)))
        return f'no router listens on port {named} yet, by default one opens it on all addresses'
    if far := ', '.join(address for address in found if not loopback(address)):
        return f'its router listens on {far}'
    return ''
