# SPDX-License-Identifier: Apache-2.0
"""ROS installation of this process, and other robots on its network."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from c3p_bringup.doctor.apart import ApartError, apart, value_apart
from c3p_bringup.doctor.check import Check, Level, fail, ok, warn
from c3p_bringup.doctor.network import (
    discovery_range,
    domain,
    routers,
    variable_without_effect,
    zenoh_router,
)
from c3p_bringup.modules import how_to_have
from c3p_ros.distribution import SUPPORTED, distribution_of, rclpy_version, supported, too_old
from c3p_ros.log_files import WITHOUT_FILES, log_folder, why_without
from c3p_ros.middleware import Middleware, of_this_process
from c3p_ros.zenoh_reach import ROUTER

# topics with one publisher
TOPICS = ('joint_states', 'odom', 'wheel_effort')
# discovery time, s
LOOK_AROUND = 1.5


ON_AIR = 'robots on the air'
OTHER_MIDDLEWARE = 'unset RMW_IMPLEMENTATION, or install that implementation'
# of ROS 2, and of its wheels
DEFAULT = Middleware('rmw_fastrtps_cpp')


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
    loaded = apart(middleware, 'middleware', OTHER_MIDDLEWARE)
    yield loaded
    # rclpy loads the middleware first
    if loaded.level is Level.OK:
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


def facts() -> dict[str, Any]:
    """Return the middleware of this process as a value of JSON."""
    found = of_this_process()
    return {'identifier': found.identifier, 'reads': sorted(found.reads)}


def installed() -> Middleware | None:
    """Return the middleware that nodes would have; None where it cannot be loaded."""
    try:
        found = value_apart(facts)
    except ApartError:
        return None
    return Middleware(found['identifier'], frozenset(found['reads']))


def network(environment: Mapping[str, str] = os.environ,
            middleware: Middleware | None = None) -> Iterator[Check]:
    """Yield domain, discovery range and security set by the `environment`, and the router."""
    # without one no node starts, which is another check
    found = middleware or installed() or DEFAULT
    yield domain(environment, found)
    yield discovery_range(environment, found)
    yield from variable_without_effect(environment, found)
    if found.zenoh:
        yield zenoh_router(environment)


def other_robots(environment: Mapping[str, str] = os.environ,
                 middleware: Middleware | None = None) -> Check:
    """Return the check for other robots; a wrong domain or middleware ends its process."""
    found = middleware or installed() or DEFAULT
    if found.zenoh and not routers(environment):
        return warn(ON_AIR, 'not searched: without a router of Zenoh nothing is found', ROUTER)
    return apart(company, ON_AIR, 'correct domain, range and middleware, then check again')


@contextmanager
def listener() -> Iterator[Any]:
    """Give a node of a context of its own, without log topic and services, and end both."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    rclpy.init(args=list(WITHOUT_FILES), context=context,
               signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node('c3p_doctor', context=context, enable_rosout=False,
                                 start_parameter_services=False)
        yield node
        node.destroy_node()
    finally:
        context.try_shutdown()


def company(look_around: float = LOOK_AROUND) -> Check:
    """Return the check for other robots on the network, after a discovery time."""
    from c3p_ros.endpoints import node_of

    with listener() as node:
        time.sleep(look_around)
        names = [name for name, _ in node.get_topic_names_and_types()
                 if name.split('/')[-1] in TOPICS]
        found = {name: sorted(map(node_of, node.get_publishers_info_by_topic(name)))
                 for name in names}
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
