# SPDX-License-Identifier: Apache-2.0
"""Promises of interlock, wheel gate and hand drive, as predicates over events."""

from __future__ import annotations

import math
from collections.abc import Sequence

from c3p_controller.stop_promises import (
    BEYOND,
    COMMAND,
    FOLLOWS,
    LET_GO,
    LOCKED,
    MOTOR,
    PASSED,
    ROUNDING,
    SPEED,
    STANDS,
    START,
    TORQUE,
    TOUCH,
    UNLOCKED,
    LockStops,
    NoResume,
    Promise,
    SilenceCloses,
    StopEvent,
    UnknownCloses,
)


class CommandTimeout(Promise):
    """
    Without a command the robot comes to rest: it does not go on as it did.

    `deceleration`, m/s², and `margin`, s, allow for the stop; a robot that stood meanwhile
    was pushed.
    """

    identity = 'command-timeout'
    text = 'command timeout results in a controlled stop'
    needs = (PASSED, SPEED)

    def __init__(self, timeout: float, deceleration: float = math.inf, margin: float = 0.0
                 ) -> None:
        """Begin at rest."""
        super().__init__()
        self.timeout = timeout
        self.deceleration = deceleration
        self.margin = margin
        self.horizons = {'commanded': timeout + margin + BEYOND}
        self.moments = {'commanded': -math.inf}
        self.flags = {'stood': True}
        self.fastest = 0.0

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        if event.kind == PASSED:
            self.moments['commanded'] = event.at
            self.fastest = 0.0
            self.flags['stood'] = False
        elif event.kind == SPEED:
            silence = event.at - self.moments['commanded']
            if silence <= self.timeout:
                self.fastest = max(self.fastest, event.value)
            self.flags['stood'] |= silence > self.timeout and event.value < STANDS
            allowed = self.timeout + self.margin + self.fastest / self.deceleration
            if silence > allowed and not self.flags['stood']:
                return (f'{event.value:.2f} m/s {silence:.2f} s after the last command, at rest '
                        f'after {allowed:.2f} s')
        return ''


class ZeroFirst(Promise):
    """The first torque after an unlock is zero: drives that braked meanwhile re-arm by it."""

    identity = 'zero-first'
    text = 'motion after a lock begins with zero torques'
    needs = (UNLOCKED, TORQUE)

    def __init__(self) -> None:
        """Begin locked."""
        super().__init__()
        self.flags = {'opening': False}

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        if event.kind == UNLOCKED:
            self.flags['opening'] = True
        elif event.kind == TORQUE and not event.sure and self.flags['opening']:
            self.flags['opening'] = False
            if event.value:
                return f'the first torque after an unlock is {event.value:.2f} of the limit'
        return ''


class LockedUntilReleased(Promise):
    """After a start or a fault no motion command is followed before a zero, or silence."""

    identity = 'locked-until-released'
    text = ('a chain timeout brakes the wheels; motion resumes only after a zero command or '
            'silence')
    needs = (COMMAND, LOCKED, FOLLOWS)

    def __init__(self, timeout: float) -> None:
        """Begin locked; silence of `timeout`, s, releases."""
        super().__init__()
        self.timeout = timeout
        self.moments = {'restless': -math.inf}
        self.horizons = {'restless': timeout + BEYOND}
        self.flags = {'released': False}

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        if event.kind == LOCKED:
            self.flags['released'] = False
            self.moments['restless'] = event.at
            return ''
        if event.at - self.moments['restless'] >= self.timeout:
            self.flags['released'] = True
        if event.kind == COMMAND:
            self.moments['restless'] = event.at
            self.flags['released'] |= not event.value
        elif event.kind == FOLLOWS and event.value and not self.flags['released']:
            return f'a command of {event.value:.3g} is followed without a zero or silence before'
        return ''


class TorqueLimits(Promise):
    """Torques are finite and within the limits."""

    identity = 'torque-limits'
    text = ('torques are finite and within the limits of the robot for any input messages')
    needs = (TORQUE,)

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        if event.kind in (TORQUE, MOTOR) and not abs(event.value) <= 1.0 + ROUNDING:
            return f'a torque of {event.value:.3g} times its limit'
        return ''


class GateOpens(Promise):
    """After a timeout no torque reaches a motor, but that of its brake, before a zero command."""

    identity = 'gate-opens-by-zero'
    text = ('torque command timeout brakes the wheels until a command of exactly zero')
    needs = (TORQUE, MOTOR, START)

    def __init__(self, timeout: float) -> None:
        """Begin closed."""
        super().__init__()
        self.timeout = timeout
        self.horizons = {'received': timeout + BEYOND}
        self.moments = {'received': -math.inf}
        self.flags = {'open': False}

    def see(self, event: StopEvent) -> str:
        """Take an event; a motor drives if its torque, in limits, has the sense of its rate."""
        if event.kind == START and event.name == 'gate':
            self.flags['open'] = False
            self.moments['received'] = -math.inf
        elif event.kind == TORQUE and event.sure:
            # while it is held because of two publishers a zero opens nothing
            self.flags['open'] |= event.value == 0.0 and event.name != 'held'
            self.flags['open'] &= event.name != 'held'
            self.moments['received'] = event.at
        elif event.kind == MOTOR:
            self.flags['open'] &= event.at - self.moments['received'] <= self.timeout
            if event.value > 0.0 and not self.flags['open']:
                return f'a motor drives with {event.value:.2f} of its limit at a closed gate'
        return ''


class HeldByHand(Promise):
    """A page moves the robot only during one touch, and `hold`, s, after its last command."""

    identity = 'held-by-hand'
    text = ('the pad and the keys of the live page move the robot only while they are held and '
            'the page has the focus')
    needs = (TOUCH, COMMAND, LET_GO, PASSED)

    def __init__(self, hold: float, pages: Sequence[str]) -> None:
        """Begin without a touch."""
        super().__init__()
        self.hold = hold
        self.moments = dict.fromkeys(pages, -math.inf)
        self.horizons = dict.fromkeys(pages, hold + BEYOND)
        self.flags = dict.fromkeys(pages, False)

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        for page, moment in self.moments.items():
            # a touch that was interrupted does not begin again
            self.flags[page] &= event.at - moment < self.hold
        if event.kind in (TOUCH, COMMAND):
            self.flags[event.name] |= event.kind == TOUCH
            self.moments[event.name] = event.at
        elif event.kind == LET_GO:
            self.flags[event.name] = False
        elif event.kind == PASSED and event.value and not any(self.flags.values()):
            return f'a command of {event.value:.3g} without a held key'
        return ''


ALL = (LockStops, UnknownCloses, SilenceCloses, NoResume, CommandTimeout, ZeroFirst,
       LockedUntilReleased, TorqueLimits, GateOpens, HeldByHand)
