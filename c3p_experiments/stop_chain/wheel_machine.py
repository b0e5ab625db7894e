# SPDX-License-Identifier: Apache-2.0
"""
Interlock and wheel gate as a machine, with what the velocity controller does between them.

The commands that it receives are any: it holds whatever the mux, or a publisher past it, sends.
The law is a stand-in, which drives forward while it follows a motion command and brakes at a
fault; the wheels turn forward all the time, so that a torque forward drives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from c3p_controller import motion_promises
from c3p_controller import stop_promises as seen
from c3p_controller.command_interlock import STARTING, CommandInterlock
from c3p_controller.stop_promises import Promise, StopEvent
from c3p_description.model import Array, CasterRobot
from c3p_hardware.wheel_gate import GateSettings, WheelGate

# the grid of time, s, and the timeouts on it
TICK = 0.25
CHAIN_TIMEOUT = TICK
GATE_TIMEOUT = TICK
COMMAND_TIMEOUT = 0.5
START_SILENCE = 1.0
# older moments make no difference, ticks: 1 s after a stop
OLDEST = 4
AHEAD = -2

COMMANDS = ('a zero command', 'a motion command')
CYCLES = ('a cycle', 'a cycle whose torque is lost', 'a cycle whose torque is late',
          'a cycle without odometry', 'a cycle in which the law stops the robot')
OTHERS = ('the last torque comes twice', 'the late torque comes', 'wheel commands from two nodes',
          'wheel commands from one node', 'time passes', 'a long time passes', 'time goes back',
          'velocity controller restarts', 'gate restarts')
FAULT = 'fault'
DRIVES = 0.5
BRAKES = -0.5


class WheelMachine:
    """Interlock, controller and gate of `robot`."""

    events = (*COMMANDS, *CYCLES, *OTHERS)

    def __init__(self, robot: CasterRobot) -> None:
        """Start all at 0 s."""
        self.robot = robot
        self.now = 0.0
        self._torque = {value: value * robot.effort_limit for value in (DRIVES, 0.0, BRAKES)}
        self._rate = np.ones(robot.count)
        self._twist = {False: np.zeros(3), True: np.array([0.3, 0.0, 0.0])}
        self.begin()

    def begin(self) -> Sequence[StopEvent]:
        """Start all anew."""
        return [*self._restart_controller(), *self._restart_gate()]

    def _restart_controller(self) -> Sequence[StopEvent]:
        self.interlock = CommandInterlock(COMMAND_TIMEOUT, START_SILENCE)
        self._cycled = -math.inf
        # torque that is under way, none
        self._late: float | None = None
        return (StopEvent(seen.LOCKED, self.now),)

    def _restart_gate(self) -> Sequence[StopEvent]:
        self.gate = WheelGate(self.robot, GateSettings(GATE_TIMEOUT, 0.1))
        return (StopEvent(seen.START, self.now, 'gate'),)

    def state(self) -> tuple[Any, ...]:
        """Return what is remembered, in ticks before now."""
        lock = self.interlock
        now = self.now
        # of the reasons of a lock only that of the start makes a difference
        reason = lock.lock if lock.lock in ('', STARTING) else FAULT
        moves = None if lock._command is None else bool(lock._command.any())
        silent = None if lock._silent_since is None else _ticks(now - lock._silent_since)
        gate = self.gate
        return (reason, moves, _ticks(now - lock._received), silent, lock._released,
                min(_ticks(now - lock._unlocked), 1), _ticks(now - lock._stopped),
                min(_ticks(now - self._cycled), 2), self._late,
                gate.open, bool(gate.held), _size(gate._torque), min(_ticks(now - gate._received),
                                                                   2))

    def restore(self, state: tuple[Any, ...]) -> None:
        """Let the parts remember `state`, at 0 s."""
        self.now = 0.0
        lock = self.interlock
        gate = self.gate
        (lock.lock, moves, received, silent, lock._released, unlocked, stopped, cycled, self._late,
         gate.open, held, torque, taken) = state
        lock._command = None if moves is None else self._twist[moves]
        lock._received = -TICK * received
        lock._silent_since = None if silent is None else -TICK * silent
        lock._unlocked = -TICK * unlocked
        lock._stopped = -TICK * stopped
        self._cycled = -TICK * cycled
        gate.held = 'two nodes' if held else ''
        gate._torque = self._torque[torque]
        gate._received = -TICK * taken

    def step(self, event: str) -> Sequence[StopEvent]:
        """Let `event` happen."""
        if event in COMMANDS:
            moves = event == 'a motion command'
            self.interlock.command(self._twist[moves], self.now)
            return [StopEvent(kind, self.now, '', float(moves)) for kind in (seen.COMMAND,
                                                                          seen.PASSED)]
        if event in CYCLES:
            return self._cycle(event)
        found: Sequence[StopEvent] = ()
        if event == 'velocity controller restarts':
            found = self._restart_controller()
        elif event == 'gate restarts':
            found = self._restart_gate()
        elif event == 'the last torque comes twice':
            # a gate without one gets none
            found = self._take(_size(self.gate._torque)) if self.gate._received > -math.inf else ()
        elif event == 'the late torque comes':
            found = () if self._late is None else self._take(self._late)
            self._late = None
        elif event.startswith('wheel commands'):
            self.gate.hold('two nodes' if event.endswith('two nodes') else '')
        else:
            found = self._time(event)
        return [*found, self._motor()]

    def _time(self, event: str) -> Sequence[StopEvent]:
        self.now += {'time passes': TICK, 'a long time passes': 2 * OLDEST * TICK,
                     'time goes back': -100.0}[event]
        if event != 'time goes back':
            return ()
        # the gate has a steady clock: that of the controller alone goes back
        self.gate._received -= 100.0
        self.interlock.fault('time went back')
        return (StopEvent(seen.BACK, self.now), StopEvent(seen.LOCKED, self.now))

    def _cycle(self, event: str) -> Sequence[StopEvent]:
        """Let the controller answer a sample, in the order of velocity_controller_node.py."""
        self.now += TICK
        now = self.now
        lock = self.interlock
        found = []
        before = lock.lock
        if event == 'a cycle without odometry':
            lock.fault('no odom')
        elif not 0.0 <= now - self._cycled <= CHAIN_TIMEOUT:
            lock.fault('nothing to answer')
        elif event == 'a cycle in which the law stops the robot':
            lock.stop('the torque is not finite', now)
        if lock.lock and not before:
            found.append(StopEvent(seen.LOCKED, now))
        self._cycled = now
        command = lock.active(now)
        follows = command is not None and bool(command.any())
        torque = DRIVES if follows else BRAKES if lock.lock else 0.0
        locked = bool(lock.lock)
        if event != 'a cycle without odometry':
            lock.rearm(now)
        if locked and not lock.lock:
            found.append(StopEvent(seen.UNLOCKED, now))
        if lock.opening(now):
            torque = 0.0
        found += [StopEvent(seen.FOLLOWS, now, '', float(follows)),
                  StopEvent(seen.SPEED, now, '', float(follows)),
                  # what the controller sends, not yet what the gate receives
                  StopEvent(seen.TORQUE, now, 'sent', torque, sure=False)]
        if event == 'a cycle whose torque is late':
            self._late = torque
        elif event != 'a cycle whose torque is lost':
            found += self._take(torque)
        return [*found, self._motor()]

    def _take(self, torque: float) -> Sequence[StopEvent]:
        """Let the gate receive a torque."""
        # while two nodes command, a zero opens nothing
        held = bool(self.gate.held)
        self.gate.command(self._torque[torque], self.now)
        return (StopEvent(seen.TORQUE, self.now, 'held' if held else 'received', torque),)

    def _motor(self) -> StopEvent:
        """Return the torque at the motors; the wheels turn forward, so that it drives above 0."""
        torque: Array = self.gate.torque_at(self.now, self._rate)
        return StopEvent(seen.MOTOR, self.now, '', float((torque / self.robot.effort_limit).max()))


def _size(torque: Array) -> float:
    """Return which torque of the stand-in it is."""
    return DRIVES if torque.max() > 0.0 else BRAKES if torque.min() < 0.0 else 0.0


def _ticks(age: float) -> int:
    """Return an age on the grid, within what makes a difference."""
    return round(min(max(age / TICK, AHEAD), OLDEST))


def wheel_promises() -> list[Promise]:
    """Return the promises of interlock and gate."""
    return [motion_promises.LockedUntilReleased(COMMAND_TIMEOUT),
            motion_promises.CommandTimeout(COMMAND_TIMEOUT), motion_promises.ZeroFirst(),
            motion_promises.TorqueLimits(), motion_promises.GateOpens(GATE_TIMEOUT)]
