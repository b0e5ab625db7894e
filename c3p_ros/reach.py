# SPDX-License-Identifier: Apache-2.0
"""
Reach of the ROS graph: computers that may command a robot, from the environment of its nodes.

The range in force is the one of ``rcl``: a value that is unknown to it counts as LOCALHOST, a
variable that it does not read has no effect. What the middleware makes of the range is judged for
each of them; one that is unknown here counts as open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from c3p_ros import loopback_profile, zenoh_reach
from c3p_ros.middleware import LOCAL_ONLY, RANGE, Middleware, of_this_process
from c3p_ros.sockets import loopback

PEERS = 'ROS_STATIC_PEERS'
SECURITY = 'ROS_SECURITY_ENABLE'
STRATEGY = 'ROS_SECURITY_STRATEGY'
# discovery by a server, of Fast DDS with any range but OFF
SERVER = 'ROS_DISCOVERY_SERVER'
EASY_MODE = 'ROS2_EASY_MODE'
FILE = 'FASTDDS_ENVIRONMENT_FILE'

RANGES = ('OFF', 'LOCALHOST', 'SUBNET', 'SYSTEM_DEFAULT')
# ranges in which the configuration of the middleware decides which sockets are opened
FAR = ('SUBNET', 'SYSTEM_DEFAULT')

SUBNET = 'every computer of this network'
PAGE = 'docs/security.md'
# the remedy of most of them
NEAR = f'{RANGE}=LOCALHOST'


class Exposure(NamedTuple):
    """Cause for which other computers reach the nodes."""

    cause: str
    computers: str = SUBNET
    remedy: str = NEAR

    def __str__(self) -> str:
        """Return the warning."""
        return (f'{self.cause}: {self.computers} may arm and command this robot; {self.remedy}, '
                f'or {PAGE}')


def local_only(environment: Mapping[str, str], middleware: Middleware) -> bool:
    """
    Return whether ``ROS_LOCALHOST_ONLY`` is in force.

    Up to Jazzy; a value that does not begin with 1, such as true, switches it off.
    """
    value = environment.get(LOCAL_ONLY, '')
    if RANGE not in middleware.reads:
        # Humble compares the whole value
        return LOCAL_ONLY in middleware.reads and value == '1'
    return LOCAL_ONLY in middleware.reads and value.startswith('1')


def range_in_force(environment: Mapping[str, str], middleware: Middleware) -> str:
    """
    Return the discovery range that ``rcl`` gives to the middleware.

    Examples
    --------
    >>> kilted = Middleware('rmw_fastrtps_cpp')
    >>> [range_in_force({'ROS_AUTOMATIC_DISCOVERY_RANGE': value}, kilted)
    ...  for value in ('', 'SUBNET', 'localhost')]
    ['SUBNET', 'SUBNET', 'LOCALHOST']
    >>> range_in_force({'ROS_LOCALHOST_ONLY': '1'}, kilted)
    'SUBNET'
    """
    if local_only(environment, middleware):
        return 'LOCALHOST'
    value = environment.get(RANGE, '') if RANGE in middleware.reads else ''
    # any other text: "assuming localhost only"
    return value if value in RANGES else 'LOCALHOST' if value else 'SUBNET'


def one_computer(environment: Mapping[str, str], middleware: Middleware) -> bool:
    """
    Return whether each participant is one of DDS, on this computer, and discovered by its port.

    Examples
    --------
    >>> near, fast = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}, Middleware('rmw_fastrtps_cpp')
    >>> one_computer(near, fast), one_computer({}, fast)
    (True, False)
    >>> one_computer({**near, 'ROS_STATIC_PEERS': 'base'}, fast)
    False
    """
    return ((middleware.fast_dds or middleware.cyclone)
            and range_in_force(environment, middleware) == 'LOCALHOST'
            and _beyond_localhost(environment, middleware) is None)


def opening(environment: Mapping[str, str], middleware: Middleware) -> Exposure | None:
    """Return the cause for which other computers reach the nodes; None where they do not."""
    if middleware.zenoh:
        # has no SROS2 either
        cause = zenoh_reach.open_session(environment)
        return Exposure(f'{middleware.identifier} does not read {RANGE}, and {cause}',
                        remedy=zenoh_reach.CLOSED_ROUTER) if cause else None
    # without Enforce what has no valid enclave starts unprotected
    if environment.get(SECURITY) == 'true' and environment.get(STRATEGY) == 'Enforce':
        return None
    span = range_in_force(environment, middleware)
    if not middleware.known:
        return Exposure(f'discovery range {span}, which {middleware.identifier} may not read',
                        remedy='limit its sockets to this computer')
    if span in FAR:
        return _subnet(span, environment, middleware)
    # OFF discovers nothing, neither peers nor a server
    return _beyond_localhost(environment, middleware) if span == 'LOCALHOST' else None


def open_reach(environment: Mapping[str, str], middleware: Middleware | None = None) -> str:
    """
    Return a warning when other computers may command the robot, else ''.

    Parameters
    ----------
    environment : mapping
        Variables of the process.
    middleware : Middleware, optional
        That of this process.

    Examples
    --------
    >>> fast = Middleware('rmw_fastrtps_cpp')
    >>> open_reach({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}, fast)
    ''
    >>> open_reach({}, fast).split(':')[0]
    'discovery range SUBNET'
    """
    found = opening(environment, middleware or of_this_process())
    return '' if found is None else f'{found}'


def _subnet(span: str, environment: Mapping[str, str], middleware: Middleware) -> Exposure | None:
    """Return the opening of a range that is not limited, unless the sockets are."""
    reason = loopback_profile.open_sockets(environment, middleware)
    if not reason:
        return None
    if loopback_profile.configured(environment, middleware):
        return Exposure(f'discovery range {span}, as {reason}')
    if RANGE not in middleware.reads:
        # Humble
        return Exposure(f'discovery range {span}, as this version of ROS 2 does not read {RANGE}',
                        remedy=f'{LOCAL_ONLY}=1')
    if environment.get(LOCAL_ONLY, '0') not in ('', '0'):
        why = ('is not 1' if LOCAL_ONLY in middleware.reads else
               'is not read by this version of ROS 2')
        return Exposure(f'discovery range {span}, as {LOCAL_ONLY}={environment[LOCAL_ONLY]} {why}')
    return Exposure(f'discovery range {span}')


def _beyond_localhost(environment: Mapping[str, str], middleware: Middleware) -> Exposure | None:
    """Return what opens the range LOCALHOST, by peers or by a discovery server."""
    # ROS_LOCALHOST_ONLY ignores the peers
    peers = [] if local_only(environment, middleware) else _hosts(environment.get(PEERS, ''))
    if far := [name for name in peers if not loopback(name)]:
        return Exposure(f'discovery range LOCALHOST with {PEERS}={environment[PEERS]}',
                        f'{", ".join(far)} beside this computer', f'unset {PEERS}')
    if far := loopback_profile.far_peers(environment, middleware):
        return Exposure('discovery range LOCALHOST with a configuration of the middleware that '
                        f'names {", ".join(far)}', 'those beside this computer',
                        'remove them from it')
    if not middleware.fast_dds:
        return None
    environment = {**environment, **_environment_file(environment)}
    if environment.get(EASY_MODE):
        return Exposure(f'discovery range LOCALHOST with {EASY_MODE}={environment[EASY_MODE]}',
                        remedy=f'unset {EASY_MODE}')
    if not all(map(loopback, _hosts(environment.get(SERVER, '')))):
        return Exposure(f'discovery range LOCALHOST with {SERVER}={environment[SERVER]}',
                        'every client of that server', f'unset {SERVER}')
    return None


def _environment_file(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the file of Fast DDS, which precede those of the process."""
    try:
        content = json.loads(Path(environment.get(FILE, '')).read_text(encoding='utf-8'))
        return {name: content[name] for name in (SERVER, EASY_MODE)
                if isinstance(content.get(name), str)}
    except (OSError, ValueError, AttributeError):
        # Fast DDS ignores it
        return {}


def _hosts(text: str) -> list[str]:
    """
    Return the hosts of a list that is separated by semicolons, without protocols and ports.

    >>> _hosts('10.0.0.2:11811; ;TCPv4:[base]:42100;::1')
    ['10.0.0.2', 'base', '::1']
    """
    found = []
    for item in filter(None, map(str.strip, text.split(';'))):
        if within := re.search(r'\[(.*?)\]', item):
            found.append(within[1])
        else:
            # an address of IPv6 has more than one colon
            found.append(item.partition(':')[0] if item.count(':') == 1 else item)
    return found
