# SPDX-License-Identifier: Apache-2.0
"""ROS installation of this process, and other robots on its network."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator, Mapping

from c3p_bringup.doctor.apart import apart
from c3p_bringup.doctor.check import Check, fail, ok, warn
from c3p_bringup.modules import how_to_have
from c3p_ros.distribution import SUPPORTED, distribution_of, rclpy_version, supported, too_old
from c3p_ros.log_files import WITHOUT_FILES, log_folder, why_without

RANGES = ('', 'NOT_SET', 'OFF', 'LOCALHOST', 'SUBNET', 'SYSTEM_DEFAULT')
# above this ID the ports overlap with the ephemeral ports of Linux
HIGHEST_DOMAIN, LAST_DOMAIN = 101, 232

# topics with one publisher
TOPICS = ('joint_states', 'odom', 'wheel_effort')
# discovery time, s
LOOK_AROUND = 1.5


ON_AIR = 'robots on the air'
OTHER_MIDDLEWARE = 'unset RMW_IMPLEMENTATION, or install that implementation'


def client_library(environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Yield rclpy, its distribution, middleware and executor, in this `environment`."""
    if importlib.util.find_spec('rclpy') is None:
        yield fail('rclpy', 'missing; needed by all nodes and by c3p drive', how_to_have('rclpy'))
        return
    found = rclpy_version()
    sourced = environment.get('ROS_DISTRO', '')
    known = distribution_of(found, environment)
    text = f'{found or "unknown version"}, {known}'
    if too_old(found):
        yield fail('rclpy', text, f'the suite needs {supported()}')
    elif known not in SUPPORTED:
        yield warn('rclpy', text, f'tested with {supported()}')
    else:
        yield ok('rclpy', text)
    if sourced and known != sourced:
        yield warn('ROS_DISTRO', f'{sourced}, but rclpy is of {known}', 'use either an '
                   'environment with wheels or one sourced setup file')
    yield apart(middleware, 'middleware', OTHER_MIDDLEWARE)
    yield apart(executor, 'executor', OTHER_MIDDLEWARE)


def middleware() -> Check:
    """Return the check of the middleware; one that is not installed ends the process."""
    try:
        from rclpy.utilities import get_rmw_implementation_identifier

        return ok('middleware', get_rmw_implementation_identifier())
    except (ImportError, RuntimeError) as error:
        return fail('middleware', ' '.join(f'{error}'.split()), OTHER_MIDDLEWARE)


def executor() -> Check:
    """Return the check of the executor of all nodes."""
    from c3p_ros.executor import SLOWER, UPDATE, why_without_events

    missing = why_without_events()
    return (warn('executor', f'{missing}; {SLOWER}', UPDATE) if missing else
            ok('executor', 'EventsExecutor'))


def log_files(environment: Mapping[str, str] = os.environ) -> Check:
    """Return the check of the directory of log files."""
    reason = why_without(environment)
    if reason:
        text, _, remedy = reason.removeprefix('log files are ').partition('; ')
        return warn('log files', text, remedy)
    return ok('log files', f'{log_folder(environment)}')


def network(environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Yield domain and discovery range set by the `environment`."""
    domain = environment.get('ROS_DOMAIN_ID', '')
    if domain and not (domain.isdigit() and int(domain) <= LAST_DOMAIN):
        yield fail('ROS_DOMAIN_ID', f'{domain!r}', 'must be a number from 0 to 101')
    elif domain and int(domain) > HIGHEST_DOMAIN:
        yield warn('ROS_DOMAIN_ID', domain, 'above 101 its ports may be taken: choose 1 to 101')
    else:
        yield ok('ROS_DOMAIN_ID', domain or '0, the default')
    span = environment.get('ROS_AUTOMATIC_DISCOVERY_RANGE', '')
    if span not in RANGES:
        yield fail('discovery range', f'{span!r}', f'must be one of {", ".join(RANGES[2:])}')
    elif span == 'OFF':
        yield warn('discovery range', 'OFF', 'nodes in different processes will not find each '
                   'other: LOCALHOST or SUBNET')
    else:
        yield ok('discovery range', span or 'SUBNET: all nodes on this network are discovered')
    if environment.get('ROS_LOCALHOST_ONLY', '0') not in ('', '0'):
        yield warn('ROS_LOCALHOST_ONLY', 'set', 'it overrides the range and is deprecated: use '
                   'ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST')


def other_robots() -> Check:
    """Return the check for other robots; a wrong domain or middleware ends its process."""
    return apart(company, ON_AIR, 'correct domain, range and middleware, then check again')


def company(look_around: float = LOOK_AROUND) -> Check:
    """Return the check for other robots on the network, after a discovery time."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from c3p_ros.endpoints import node_of

    context = rclpy.Context()
    rclpy.init(args=list(WITHOUT_FILES), context=context,
               signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node('c3p_doctor', context=context, enable_rosout=False,
                                 start_parameter_services=False)
        time.sleep(look_around)
        names = [name for name, _ in node.get_topic_names_and_types()
                 if name.split('/')[-1] in TOPICS]
        found = {name: sorted(map(node_of, node.get_publishers_info_by_topic(name)))
                 for name in names}
        node.destroy_node()
    finally:
        context.try_shutdown()
    return judged({name: nodes for name, nodes in found.items() if nodes})


def judged(publishers: Mapping[str, list[str]]) -> Check:
    """Return the result for the publishers of each topic."""
    name = ON_AIR
    doubled = {topic: nodes for topic, nodes in publishers.items() if len(nodes) > 1}
    if doubled:
        return fail(name, '; '.join(f'{topic} from {" and ".join(nodes)}'
                                    for topic, nodes in doubled.items()),
                    'stop all but one, or give each robot a namespace or a ROS_DOMAIN_ID')
    if publishers:
        return warn(name, '; '.join(f'{topic} from {nodes[0]}'
                                    for topic, nodes in publishers.items()),
                    'a robot is running: do not start another on these topics')
    return ok(name, 'none')
