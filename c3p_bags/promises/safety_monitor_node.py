# SPDX-License-Identifier: Apache-2.0
"""
Node: compares a running robot with the promises of safety.md, as ``c3p report`` does a bag.

It reads the topics of the robot twice a second, requests the parameters of the nodes that publish
them, as the recorder does, and commands nothing. A broken promise is an ERROR of its diagnostics,
with evidence and time, until ``~/clear``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterEvent
from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from c3p_bags.promises.judged_parameters import JudgedParameters, judged_parameters
from c3p_bags.promises.live_events import LiveEvents, topics_of
from c3p_bags.promises.polled_topics import PolledTopics
from c3p_bags.promises.promise_judge import BrokenPromise, PromiseJudge
from c3p_bags.recorder.node_parameters import ParameterQuery
from c3p_bags.storage.bag_parameters import value_of
from c3p_ros.diagnostics import ERROR, OK
from c3p_ros.endpoints import nodes_of
from c3p_ros.node import SuiteNode
from c3p_ros.session import run

# period of the search for publishers, s
LOOK_PERIOD = 2.0

# a message of another topic that arrived earlier may be read this much later, s
SETTLED = 0.05

# after a longer pause of this process messages may be missing: the judge begins anew, s
LONGEST_PAUSE = 2.0


class SafetyMonitorNode(SuiteNode):
    """Adapter between the topics of a robot, its parameters and the judge."""

    def __init__(self, **options: Any) -> None:
        """Subscribe, and look for the nodes whose parameters count."""
        super().__init__('safety_monitor', Path(__file__).with_name(
            'safety_monitor_parameters.yaml'), **options)
        self._space = self.get_namespace().rstrip('/')
        self._known: dict[str, dict[str, Any]] = {}
        self._judged = JudgedParameters()
        self._topics = PolledTopics(self)
        self.at_end(self._topics.close)
        self._names: dict[str, str] = {}
        # of judges before the present one
        self._broken: dict[str, BrokenPromise] = {}
        self._seen: set[str] = set()
        self._looked = self.watch_time()
        self._begin()
        self._query = ParameterQuery(self, self._on_parameters)
        self.create_subscription(ParameterEvent, '/parameter_events', self._on_change, 100)
        self.create_service(Trigger, '~/clear', self._on_clear)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_PERIOD, self._look, clock=steady)
        self.create_timer(self.parameters.value.period, self._poll, clock=steady)

    def _begin(self) -> None:
        """Begin a judge with the parameters that are known."""
        for topic, (kind, reliable) in topics_of(self._judged.mux).items():
            name = self.resolve_topic_name(topic)
            self._names[name] = topic
            self._topics.add(name, kind, reliable)
        self._events = LiveEvents(self.robot, self._judged.mux)
        self._judge = PromiseJudge(self._judged, self.watch_time())

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        # the first diagnostics precede the judge
        judged = getattr(self, '_seen', ())
        return {'judged': ' '.join(sorted(judged)) or 'none',
                **{f'{one.promise} broken': one.events
                   for one in getattr(self, '_broken', {}).values()}}

    def _look(self) -> None:
        """Look for publishers, and request the parameters of their nodes."""
        self._topics.adapt()
        for name, topic in self._names.items():
            if topic in ('joint_states', 'wheel_effort', 'cmd_vel', 'twist_mux/locked'):
                self._query.request(nodes_of(self.get_publishers_info_by_topic(name)))
        self._query.poll()

    def _on_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        self._known[node] = {name: value_of(value) for name, value in values.items()}
        self._renew()

    def _on_change(self, event: ParameterEvent) -> None:
        if event.node in self._known:
            for parameter in (*event.new_parameters, *event.changed_parameters):
                self._known[event.node][parameter.name] = value_of(parameter.value)
            self._renew()

    def _renew(self) -> None:
        """Begin anew if other times or another mux count."""
        found = judged_parameters(self._known, self._space)
        if found != self._judged:
            self._poll()
            self._judged = found
            self._begin()

    def _poll(self) -> None:
        """Judge what has arrived since the last look."""
        now = self.watch_time()
        since = now - self._looked
        clock = time.time_ns()
        for batch in self._topics.taken():
            age = 1e-9 * (clock - np.array(batch.received, float))
            # a clock that is set meanwhile moves them within this period at most
            self._events.take(self._names[batch.topic], batch.kind, batch.data,
                              now - np.clip(age, 0.0, max(since, 0.0)))
        self._looked = now
        if not 0.0 <= since < LONGEST_PAUSE:
            self._begin()
            return
        for event in self._events.settled(now - SETTLED):
            self._judge.see(event)
        self._seen.update(self._judge.judged())
        self._report(now)

    def _report(self, now: float) -> None:
        """Report what is broken, with the time of the first event by the clock of the node."""
        for promise, found in self._judge.broken.items():
            first = self._broken.get(promise)
            if first is None:
                at = 1e-9 * self.now_ns() - (now - found.time)
                first = found._replace(time=at, events=0)
            self._broken[promise] = first._replace(events=first.events + found.events)
            self.diagnostics.condition(promise, ERROR, f'{first.evidence}; first at '
                                       f'{first.time:.2f} s, {self._broken[promise].events} times')
        self._judge.broken.clear()

    def _on_clear(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        """Clear what has been reported."""
        answer.success = True
        answer.message = f'cleared: {", ".join(self._broken) or "nothing"}'
        for promise in self._broken:
            self.diagnostics.condition(promise, OK, 'cleared')
        self._broken.clear()
        return answer


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SafetyMonitorNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
