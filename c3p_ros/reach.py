# SPDX-License-Identifier: Apache-2.0
"""Reach of the ROS graph: computers that may command a robot, from the environment."""

from __future__ import annotations

from collections.abc import Mapping

RANGE, LOCAL_ONLY = 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY'
PEERS = 'ROS_STATIC_PEERS'
SECURITY, STRATEGY = 'ROS_SECURITY_ENABLE', 'ROS_SECURITY_STRATEGY'

# files that configure the middleware where the range is SYSTEM_DEFAULT
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE', 'CYCLONEDDS_URI')

# ranges in which no other computer is discovered
NEAR = ('LOCALHOST', 'OFF')


def one_computer(environment: Mapping[str, str]) -> bool:
    """
    Return whether no other computer is discovered, with any distribution.

    Examples
    --------
    >>> one_computer({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}), one_computer({})
    (True, False)
    >>> one_computer({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', 'ROS_STATIC_PEERS': 'base'})
    False
    """
    return environment.get(RANGE) == 'LOCALHOST' and not environment.get(PEERS)


def open_reach(environment: Mapping[str, str]) -> str:
    """
    Return a warning when every computer of the network may command the robot, else ''.

    Examples
    --------
    >>> open_reach({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'})
    ''
    >>> open_reach({}).split(':')[0]
    'discovery range SUBNET'
    """
    if environment.get(LOCAL_ONLY) == '1' or environment.get(RANGE) in NEAR:
        return ''
    if environment.get(RANGE) == 'SYSTEM_DEFAULT' and any(map(environment.get, PROFILES)):
        return ''
    # without Enforce what has no valid enclave starts unprotected
    if environment.get(SECURITY) == 'true' and environment.get(STRATEGY) == 'Enforce':
        return ''
    return (f'discovery range {environment.get(RANGE) or "SUBNET"}: every computer of this '
            f'network may arm and command this robot; {RANGE}=LOCALHOST, or docs/security.md')
