# SPDX-License-Identifier: Apache-2.0
"""
Node: gives ``cmd_vel`` to one of several sources, by the rules of twist_mux.py.

Reads the parameter file of the package twist_mux, ``topics.NAME`` and ``locks.NAME`` with
``topic``, ``timeout`` and ``priority``; config/twist_mux.yaml where none are given. Messages pass
as they are, so that the stamp of a command is that of its source.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from geometry_msgs.msg import Twist, TwistStamped
from rcl_interfaces.msg import ParameterDescriptor
from std_msgs.msg import Bool, String

from c3p_controller.command_guard import ZERO_COMMAND
from c3p_controller.twist_mux import Input, TwistMux
from c3p_description.files import share_file
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.drive_commands import OPENING, Listeners
from c3p_ros.executor import run
from c3p_ros.finite import check_message
from c3p_ros.messages import MessageError, ns_to_stamp, planar
from c3p_ros.node import LATCHED, LATEST, RELIABLE, SuiteNode
from c3p_ros.parameters import ParameterError

# groups of the parameter file, and what each of their entries must have
TOPICS, LOCKS = 'topics', 'locks'
FIELDS = {'topic': str, 'timeout': float, 'priority': int}


def inputs_of(entries: Mapping[str, Any], where: str) -> list[Input]:
    """
    Return the inputs of a group in the order of their names, which is that of twist_mux.

    Parameters
    ----------
    entries : mapping
        ``{'NAME.FIELD': value}``.
    where : str
        Of the group, for errors.

    Raises
    ------
    ParameterError
        A field that is missing, unknown or of another type.
    """
    found: dict[str, dict[str, Any]] = {}
    for key, value in entries.items():
        name, _, field = key.rpartition('.')
        kind = FIELDS.get(field)
        if not name or kind is None:
            raise ParameterError(f'{where}.{key}: unknown; an entry has {", ".join(FIELDS)}')
        # a whole number of seconds
        value = float(value) if kind is float and type(value) is int else value
        if type(value) is not kind:
            raise ParameterError(f'{where}.{key} = {value!r}: must be of type {kind.__name__}')
        found.setdefault(name, {})[field] = value
    for name, fields in found.items():
        if missing := [field for field in FIELDS if field not in fields]:
            raise ParameterError(f'{where}.{name}: {", ".join(missing)} missing')
    return [Input(name, **found[name]) for name in sorted(found)]


def shipped() -> dict[str, dict[str, Any]]:
    """Return ``{group: {'NAME.FIELD': value}}`` of config/twist_mux.yaml."""
    content = yaml.safe_load(share_file('config/twist_mux.yaml').read_text(encoding='utf-8'))
    (node,) = content.values()
    return {group: {f'{name}.{field}': value for name, entry in
                    node['ros__parameters'][group].items() for field, value in entry.items()}
            for group in (TOPICS, LOCKS)}


class TwistMuxNode(SuiteNode):
    """Adapter between topics and TwistMux."""

    OWN_GROUPS = (TOPICS, LOCKS)

    def __init__(self, **options: Any) -> None:
        """Create the mux, a subscription for each of its inputs, publishers and the watch."""
        super().__init__('twist_mux', Path(__file__).with_name(
            'twist_mux_parameters.yaml'), **options)
        values = self.parameters.value
        sources, locks = self._inputs()
        try:
            self._mux = TwistMux(sources, locks, self.watch_time(), resume=values.resume,
                                 start_silence=values.start_silence)
        except ValueError as error:
            raise ParameterError(f'twist_mux: {error}') from error
        # from when on commands are passed on
        self._open_at = math.inf
        self._passed = dict.fromkeys((source.name for source in sources), 0)
        self._shown: tuple[Any, ...] = ()
        self._kind = TwistStamped if values.use_stamped else Twist
        self._command = self.create_publisher(self._kind, 'cmd_vel', LATEST)
        self._listeners = Listeners(self._command, self.watch_time())
        self._locked = self.create_publisher(Bool, '~/locked', LATCHED)
        self._driving = self.create_publisher(String, '~/driving', LATCHED)
        for source in sources:
            self.create_subscription(
                self._kind, source.topic,
                lambda message, source=source: self._on_command(source, message), LATEST)
        for lock in locks:
            # not the newest alone: a button that was pressed for a moment counts
            self.create_subscription(
                Bool, lock.topic, lambda message, lock=lock: self._on_lock(lock, message),
                RELIABLE)
        self.watch(self._on_watch)
        self.create_timer(1.0, self._look_past)
        self._on_watch()

    def _inputs(self) -> tuple[list[Input], list[Input]]:
        """Declare and return the sources and the locks."""
        given: dict[str, dict[str, Any]] = {TOPICS: {}, LOCKS: {}}
        for name, parameter in self._parameter_overrides.items():
            group, _, rest = name.partition('.')
            if group in given and parameter.value is not None:
                given[group][rest] = parameter.value
        if not any(given.values()):
            given = shipped()
        fixed = ParameterDescriptor(read_only=True)
        for group, entries in given.items():
            for key, value in entries.items():
                self.declare_parameter(f'{group}.{key}', value, fixed)
        return inputs_of(given[TOPICS], TOPICS), inputs_of(given[LOCKS], LOCKS)

    def figures(self) -> Mapping[str, Any]:
        """Return the figures for the diagnostics."""
        now = self.watch_time()
        return {'driving': self._mux.driving(now) or 'nobody',
                'lock priority': self._mux.lock_priority(now),
                **{f'{name} passed': count for name, count in self._passed.items()}}

    def _on_command(self, source: Input, message: Any) -> None:
        twist = message.twist if self._kind is TwistStamped else message
        parts = (twist.linear.x, twist.linear.y, twist.linear.z,
                 twist.angular.x, twist.angular.y, twist.angular.z)
        try:
            planar(parts, 'twist')
        except MessageError as error:
            self.diagnostics.refuse(source.topic, error)
            return
        neutral = all(abs(part) <= ZERO_COMMAND for part in parts)
        now = self.watch_time()
        if self._mux.command(source.name, neutral, now) and self._open(now):
            self._passed[source.name] += 1
            if not self.send(self._command, check_message, 'cmd_vel', message):
                self._command.publish(self._zero())
        self._tell()

    def _on_lock(self, lock: Input, message: Bool) -> None:
        self._mux.lock(lock.name, message.data, self.watch_time())
        self._on_watch()

    def _on_watch(self) -> None:
        now = self.watch_time()
        self._mux.look(now)
        if self._mux.halting(now) or not self._open(now):
            self._command.publish(self._zero())
        self._tell()

    def _open(self, now: float) -> bool:
        """Return whether commands are passed on: somebody listens, and has been told to stand."""
        # it may have missed the zero with which a source has begun, and would wait for another
        if self._listeners.found(now):
            self._open_at = now + OPENING
        return now >= self._open_at

    def _look_past(self) -> None:
        """Tell who else commands the robot: no lock stops that."""
        own = (self.get_name(), self.get_namespace())
        others = sorted({end.node_name for end in self.get_publishers_info_by_topic(
            self._command.topic_name) if (end.node_name, end.node_namespace) != own})
        self._condition('past', others, f'publishes {self._command.topic_name} past all '
                        'priorities and locks; remap it to a source')

    def _zero(self) -> Any:
        message = self._kind()
        if self._kind is TwistStamped:
            message.header.stamp = ns_to_stamp(self.now_ns())
            message.header.frame_id = 'base_link'
        return message

    def _tell(self) -> None:
        """Publish who drives and what is locked when it has changed."""
        now, before = self.watch_time(), self._shown
        locks, waiting = self._mux.locks(now), self._mux.waiting(now)
        self._shown = (self._mux.locked(now), self._mux.driving(now), locks, waiting)
        if self._shown == before:
            return
        if self._shown[:1] != before[:1]:
            self._locked.publish(Bool(data=self._shown[0]))
        if self._shown[1:2] != before[1:2]:
            self._driving.publish(String(data=self._shown[1]))
        self._condition('lock', locks, 'closed; nothing that it masks moves the robot')
        self._condition('waits', () if locks else waiting,
                        'was kept out; has to show zero, or fall silent, before it is followed')

    def _condition(self, name: str, who: Iterable[str], text: str) -> None:
        names = ', '.join(who)
        self.diagnostics.condition(name, WARN if names else OK, f'{names}: {text}' if names else
                                   'well again')


def main() -> int:
    """Run the node until Ctrl-C."""
    return run(TwistMuxNode)


if __name__ == '__main__':
    raise SystemExit(main())
