# SPDX-License-Identifier: Apache-2.0
"""ROS as this process finds it, and who else is on its network."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from c3p_bringup.doctor.check import Check, fail, ok, warn

# first part of rclpy's version
DISTRIBUTIONS = {'3': 'humble', '7': 'jazzy', '9': 'kilted'}
RANGES = ('', 'NOT_SET', 'OFF', 'LOCALHOST', 'SUBNET', 'SYSTEM_DEFAULT')
# above, ports of Linux itself are in the way
HIGHEST_DOMAIN, LAST_DOMAIN = 101, 232

# what only one robot may publish
TOPICS = ('joint_states', 'odom', 'wheel_effort')
# how long others are looked for, s
LOOK_AROUND = 1.5

INSTALL = 'install ROS 2 and source its setup file, or `pip install c3p[jazzy]`'


def client_library(environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Yield rclpy, its distribution and its middleware, in this `environment`."""
    if importlib.util.find_spec('rclpy') is None:
        yield fail('rclpy', 'missing; needed by all nodes and by c3p drive', INSTALL)
        return
    try:
        found = version('ros-rclpy')
    except PackageNotFoundError:
        found = _version_of('rclpy')
    # by its version: a sourced setup file may be of another distribution than a wheel
    told = environment.get('ROS_DISTRO', '')
    known = DISTRIBUTIONS.get(found.split('.')[0], told or 'unknown')
    yield ok('rclpy', f'{found}, {known}')
    if told and known != told:
        yield warn('ROS_DISTRO', f'{told}, but rclpy is of {known}', 'do not mix them: use one '
                   'environment with wheels, or source one setup file')
    try:
        from rclpy.utilities import get_rmw_implementation_identifier
        yield ok('middleware', get_rmw_implementation_identifier())
    except (ImportError, RuntimeError) as error:
        yield fail('middleware', ' '.join(f'{error}'.split()), 'unset RMW_IMPLEMENTATION, or '
                   'install that implementation')


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return 'version not told'


def network(environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Yield domain and range of discovery that the `environment` says."""
    domain = environment.get('ROS_DOMAIN_ID', '')
    if domain and not (domain.isdigit() and int(domain) <= LAST_DOMAIN):
        yield fail('ROS_DOMAIN_ID', f'{domain!r}', 'must be a number from 0 to 101')
    elif domain and int(domain) > HIGHEST_DOMAIN:
        yield warn('ROS_DOMAIN_ID', domain, 'above 101 its ports may be taken: choose 1 to 101')
    else:
        yield ok('ROS_DOMAIN_ID', domain or '0, as of everybody who has not chosen one')
    span = environment.get('ROS_AUTOMATIC_DISCOVERY_RANGE', '')
    if span not in RANGES:
        yield fail('discovery range', f'{span!r}', f'must be one of {", ".join(RANGES[2:])}')
    elif span == 'OFF':
        yield warn('discovery range', 'OFF', 'nodes in different processes will not find each '
                   'other: LOCALHOST or SUBNET')
    else:
        yield ok('discovery range', span or 'SUBNET: everybody on this network is heard')
    if environment.get('ROS_LOCALHOST_ONLY', '0') not in ('', '0'):
        yield warn('ROS_LOCALHOST_ONLY', 'set', 'it overrides the range and is deprecated: use '
                   'ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST')


def company(look_around: float = LOOK_AROUND) -> Check:
    """Return which robots are on the network, after some seconds of looking around."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node('c3p_doctor', context=context, enable_rosout=False,
                                 start_parameter_services=False)
        time.sleep(look_around)
        names = [name for name, _ in node.get_topic_names_and_types()
                 if name.split('/')[-1] in TOPICS]
        found = {name: sorted(_full_name(info) for info in node.get_publishers_info_by_topic(name))
                 for name in names}
        node.destroy_node()
    finally:
        context.try_shutdown()
    return judged({name: who for name, who in found.items() if who})


def judged(publishers: Mapping[str, list[str]]) -> Check:
    """Return what to say of who publishes each topic."""
    name = 'robots on the air'
    doubled = {topic: who for topic, who in publishers.items() if len(who) > 1}
    if doubled:
        return fail(name, '; '.join(f'{topic} from {" and ".join(who)}'
                                    for topic, who in doubled.items()),
                    'stop all but one, or give each robot a namespace or a ROS_DOMAIN_ID')
    if publishers:
        return warn(name, '; '.join(f'{topic} from {who[0]}'
                                    for topic, who in publishers.items()),
                    'a robot is running: start no second one on these topics')
    return ok(name, 'none')


def _full_name(info: object) -> str:
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
