# SPDX-License-Identifier: Apache-2.0
"""
Timeouts, sources and locks on which the promises depend, by the parameters of the nodes.

A bag has them as the recorder wrote them, a running robot by its parameter services; both are
``{full name of a node: {parameter: value}}``. What is unknown is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from c3p_controller.command_lock import Lock
from c3p_controller.twist_mux import HIGHEST, Input
from c3p_controller.velocity_controller_parameters import StopParameters
from c3p_hardware.escalation import COMMAND_TIMEOUT
from c3p_hardware.wheel_gate import GateSettings

# nodes with a wheel gate
GATES = ('hardware_interface', 'ros2_control_bridge', 'simulation')

# groups of the parameters of a mux
SOURCES = 'topics.'
LOCKS = 'locks.'
ENABLES = 'enables.'

# parameter of the mux of the suite that the package twist_mux does not have
OWN = 'start_silence'

Parameters = Mapping[str, Mapping[str, Any]]


class StopTimes(NamedTuple):
    """
    Parameters of the velocity controller and of the wheel gate behind it; defaults are theirs.

    Attributes
    ----------
    cmd_vel_timeout, command_timeout : float, s
    stop_acceleration : float, m/s²
    """

    cmd_vel_timeout: float = COMMAND_TIMEOUT
    command_timeout: float = GateSettings.command_timeout
    stop_acceleration: float = StopParameters.stop_acceleration


class MuxInputs(NamedTuple):
    """
    Sources and locks of a mux.

    Attributes
    ----------
    sources : tuple of Input
    locks : tuple of Lock
    suite : bool
        It is twist_mux_node, which closes unknown locks.
    enables : tuple of Lock
        Enabling devices, of type Bool: locks that are pressed while the message is false.
    releases : bool
        A source that was masked must be released before it moves the robot.
    """

    sources: tuple[Input, ...]
    locks: tuple[Lock, ...]
    suite: bool = True
    releases: bool = True
    enables: tuple[Lock, ...] = ()

    def masked_by(self, lock: Lock) -> tuple[str, ...]:
        """Return the sources that a lock masks; with '', an unknown one, if these are all."""
        if lock.source:
            return (lock.source,)
        masked = tuple(one.name for one in self.sources if one.priority < lock.priority)
        return (*masked, '') if len(masked) == len(self.sources) else masked


class JudgedParameters(NamedTuple):
    """Times and mux of a robot; None where its parameters are unknown."""

    times: StopTimes | None = None
    mux: MuxInputs | None = None


def judged_parameters(parameters: Parameters, space: str = '') -> JudgedParameters:
    """Return times and mux in `parameters`, of the robot with the namespace `space`."""
    return JudgedParameters(stop_times(parameters, space), mux_inputs(parameters, space))


def stop_times(parameters: Parameters, space: str = '') -> StopTimes | None:
    """
    Return the times in `parameters`, of the robot with the namespace `space`.

    None without those of a velocity controller.

    Examples
    --------
    >>> stop_times({'/velocity_controller': {'cmd_vel_timeout': 1.0}}).cmd_vel_timeout
    1.0
    """
    controller = parameters.get(f'{space}/velocity_controller')
    if not controller:
        return None
    gate = next((parameters[name] for name in (f'{space}/{node}' for node in GATES)
                 if name in parameters), {})
    known = {**{name: controller.get(name) for name in ('cmd_vel_timeout', 'stop_acceleration')},
             'command_timeout': gate.get('command_timeout')}
    return StopTimes()._replace(**{name: float(value) for name, value in known.items()
                                   if _number(value) and value > 0.0})


def mux_inputs(parameters: Parameters, space: str = '') -> MuxInputs | None:
    """
    Return sources and locks in `parameters`; None without a mux.

    An entry without topic, timeout or priority is left out: a bag may be of any mux.

    Examples
    --------
    >>> found = mux_inputs({'/twist_mux': {'topics.joy.topic': 'cmd_vel_joy',
    ...     'topics.joy.timeout': 0.5, 'topics.joy.priority': 100}})
    >>> found.sources[0].name, found.suite
    ('joy', False)
    """
    mux = parameters.get(f'{space}/twist_mux')
    if not mux:
        return None
    sources = tuple(Input(*entry[:4]) for entry in _entries(mux, SOURCES) if entry[2] > 0.0)
    if not sources:
        return None
    suite = OWN in mux
    return MuxInputs(sources, tuple(Lock(*entry) for entry in _entries(mux, LOCKS)), suite,
                     suite and not mux.get('resume'), _enables(mux) if suite else ())


def _names(mux: Mapping[str, Any], group: str) -> list[str]:
    """Return the names of the entries of a group, in order."""
    return sorted({key[len(group):].rpartition('.')[0] for key in mux if key.startswith(group)})


def _entries(mux: Mapping[str, Any], group: str) -> list[tuple[str, str, float, int]]:
    """Return name, topic, timeout and priority of each whole entry of a group."""
    found = []
    for name in _names(mux, group):
        topic, timeout, priority = (mux.get(f'{group}{name}.{field}')
                                    for field in ('topic', 'timeout', 'priority'))
        if isinstance(topic, str) and _number(timeout) and _number(priority):
            found.append((name, topic, float(timeout), int(priority)))
    return found


def _enables(mux: Mapping[str, Any]) -> tuple[Lock, ...]:
    """Return the enabling devices; a button of a Joy message is not read."""
    found = []
    for name in _names(mux, ENABLES):
        topic, timeout, source = (mux.get(f'{ENABLES}{name}.{field}')
                                  for field in ('topic', 'timeout', 'source'))
        if (isinstance(topic, str) and isinstance(source, str) and _number(timeout)
                and mux.get(f'{ENABLES}{name}.button', -1) == -1):
            found.append(Lock(name, topic, float(timeout), HIGHEST, source=source))
    return tuple(found)


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
