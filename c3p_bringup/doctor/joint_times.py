# SPDX-License-Identifier: Apache-2.0
"""Times of the joint samples as a robot that drives has measured them: its diagnostics."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from c3p_bringup.doctor import ros
from c3p_bringup.doctor.apart import apart
from c3p_bringup.doctor.check import Check, ok
from c3p_kinematics.joint_times import TIMES

# time for which diagnostics are received: discovery, and two of their periods, s
LISTEN = 4.0


def joint_times() -> Check:
    """Return the times of the joint samples; a middleware that fails ends its process alone."""
    return apart(heard, TIMES, 'correct domain, range and middleware, then check again')


def heard(listen: float = LISTEN) -> Check:
    """Return the times in the diagnostics on the network, received for `listen` s at most."""
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.executors import SingleThreadedExecutor

    found: dict[str, str] = {}

    def keep(message: Any) -> None:
        found.update(stated(message.status))

    with ros.listener() as node:
        node.create_subscription(DiagnosticArray, '/diagnostics', keep, 10)
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
        end = time.monotonic() + listen
        while not found and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        executor.shutdown()
    return measured(found)


def stated(statuses: Iterable[Any]) -> dict[str, str]:
    """Return the times in words by the node of each DiagnosticStatus that has them."""
    return {status.name.partition(':')[0]: value.value for status in statuses
            for value in status.values if value.key == TIMES}


def measured(times: Mapping[str, str]) -> Check:
    """
    Return the result for the times in words that nodes have published.

    Examples
    --------
    >>> print(measured({'sensed_kinematics': 'joints are up to 9.1 ± 0.4 ms apart'}))
    OK   sample times          sensed_kinematics: joints are up to 9.1 ± 0.4 ms apart
    """
    if not times:
        return ok(TIMES, 'not measured: the robot has not driven some metres yet')
    return ok(TIMES, '; '.join(f'{node}: {text}' for node, text in sorted(times.items())))
