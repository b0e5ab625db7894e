# SPDX-License-Identifier: Apache-2.0
"""Domain, reach and router of the ROS graph, as set by the environment."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress

from c3p_bringup.doctor.check import Check, fail, ok, warn
from c3p_ros.loopback_profile import configured
from c3p_ros.middleware import LOCAL_ONLY, RANGE, Middleware
from c3p_ros.reach import (
    RANGES,
    SECURITY,
    STRATEGY,
    Exposure,
    local_only,
    opening,
    range_in_force,
)
from c3p_ros.zenoh_reach import ATTEMPTS, ROUTER, router_ports, session_settings

# above this ID the ports overlap with the ephemeral ports of Linux; those of Zenoh do not depend
# on it
HIGHEST_DOMAIN = 101
LAST_DOMAIN = 232
# what strtoul with base 0 reads as a whole: decimal, hexadecimal, octal
NUMBER = re.compile(r'\s*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)')

# values of a switch that is meant to be off
OFF = ('', '0', 'false')

# time limit of a connection to the router, s
ROUTER_WITHIN = 1.0

DOMAIN = 'ROS_DOMAIN_ID'
SPAN = 'discovery range'
ZENOH = 'zenoh router'


def domain_in_force(text: str) -> int | None:
    """
    Return the domain that ``rcl`` reads from ``ROS_DOMAIN_ID``; None for what is not a number.

    As in C, 010 is octal; unlike ``rcl`` nothing may follow the number.

    Examples
    --------
    >>> [domain_in_force(text) for text in ('7', '010', '0x10', '08', '7a', '-1', 'lab')]
    [7, 8, 16, None, None, None, None]
    """
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    digits = found[1]
    base = 16 if digits[:2] in ('0x', '0X') else 8 if digits[0] == '0' else 10
    return int(digits, base)


def domain(environment: Mapping[str, str], middleware: Middleware) -> Check:
    """Return the check of the domain."""
    text = environment.get(DOMAIN, '')
    if not text:
        return ok(DOMAIN, '0, the default')
    number = domain_in_force(text)
    if number is None or (number > LAST_DOMAIN and not middleware.zenoh):
        return fail(DOMAIN, f'{text!r}', f'must be a number from 0 to {HIGHEST_DOMAIN}')
    if f'{number}' != text:
        return warn(DOMAIN, f'{text!r}, which is read as {number}', f'write {number}')
    if number > HIGHEST_DOMAIN and not middleware.zenoh:
        return warn(DOMAIN, text, f'above {HIGHEST_DOMAIN} its ports may be taken: choose 1 to '
                    f'{HIGHEST_DOMAIN}')
    return ok(DOMAIN, text)


def limited(environment: Mapping[str, str], middleware: Middleware) -> bool:
    """Return whether the environment limits the graph, with success or not."""
    return (environment.get(RANGE) in ('OFF', 'LOCALHOST')
            or environment.get(LOCAL_ONLY, '0') not in ('', '0')
            or configured(environment, middleware)
            or environment.get(SECURITY, '') not in OFF)


def discovery_range(environment: Mapping[str, str], middleware: Middleware) -> Check:
    """Return the check of the range: a limit that does not hold is a failure."""
    value = environment.get(RANGE, '')
    found = opening(environment, middleware)
    span = range_in_force(environment, middleware)
    if middleware.zenoh:
        return _zenoh_range(found)
    if value and value not in RANGES and RANGE in middleware.reads:
        return fail(SPAN, f'{value!r}, which is read as LOCALHOST',
                    f'must be one of {", ".join(RANGES)}')
    if value and span != value and local_only(environment, middleware):
        return warn(SPAN, f'{value}, but {LOCAL_ONLY} makes it {span}', f'unset {LOCAL_ONLY}')
    if found is not None and limited(environment, middleware):
        # of a middleware that is not known here the limit may hold
        level = fail if middleware.known else warn
        return level(SPAN, f'{found.cause}: {found.computers} may command this robot',
                     found.remedy)
    if span == 'OFF':
        return warn(SPAN, 'OFF', 'nodes in different processes will not find each other: '
                    'LOCALHOST or SUBNET')
    if found is not None:
        return ok(SPAN, f'{span}: all nodes on this network are discovered')
    return ok(SPAN, span)


def _zenoh_range(found: Exposure | None) -> Check:
    """Return the check of the range for Zenoh, which does not read it."""
    if found is None:
        return ok(SPAN, 'this computer: session and router accept no other')
    return warn(SPAN, f'{found.cause}: {found.computers} may command this robot', found.remedy)


def variable_without_effect(environment: Mapping[str, str],
                            middleware: Middleware) -> Iterator[Check]:
    """Yield the checks of ``ROS_LOCALHOST_ONLY`` and of SROS2 where they are set."""
    value = environment.get(LOCAL_ONLY, '0')
    remedy = f'use {RANGE}=LOCALHOST'
    if value in ('', '0'):
        pass
    elif local_only(environment, middleware):
        yield warn(LOCAL_ONLY, 'set', f'it overrides the range and is deprecated: {remedy}')
    elif LOCAL_ONLY in middleware.reads:
        yield fail(LOCAL_ONLY, f'{value!r} has no effect, only 1 has', remedy)
    else:
        yield fail(LOCAL_ONLY, 'set, but not read by this version of ROS 2: it limits nothing',
                   remedy)
    enable = environment.get(SECURITY, '')
    strategy = environment.get(STRATEGY, '')
    if enable not in (*OFF, 'true'):
        yield fail(SECURITY, f'{enable!r} has no effect', 'write true')
    elif enable == 'true' and middleware.zenoh:
        yield fail(SECURITY, f'{middleware.identifier} does not implement SROS2',
                   'limit its endpoints, or use TLS of Zenoh: docs/security.md')
    elif enable == 'true' and strategy != 'Enforce':
        yield warn(STRATEGY, f'{strategy!r}: nodes without keys start unprotected',
                   f'{STRATEGY}=Enforce')


def routers(environment: Mapping[str, str]) -> bool:
    """Return whether a router of Zenoh accepts a connection on this computer."""
    try:
        ports = router_ports(session_settings(environment))
    except (OSError, ValueError):
        return False
    for port in ports:
        with suppress(OSError), socket.create_connection(('localhost', port), ROUTER_WITHIN):
            return True
    return False


def zenoh_router(environment: Mapping[str, str]) -> Check:
    """Return the check of the router, without which nodes of other processes are not found."""
    if routers(environment):
        return ok(ZENOH, 'accepts connections')
    text = 'none on this computer: nodes of different processes do not find each other'
    if environment.get(ATTEMPTS) == '0':
        text += f', and each waits for it without end ({ATTEMPTS}=0)'
    return fail(ZENOH, text, f'start it first: {ROUTER}')
