# SPDX-License-Identifier: Apache-2.0
"""
The state machine of a CiA 402 drive, as its master sees it.

A drive tells its state by the statusword (6041h) and changes it by commands in the controlword
(6040h) and by itself: a quick stop that has come to rest, a fault, a restart. So the master keeps
no state of its own: `controlword` is a function of what the drive says and of what is wanted, one
step at a time. CiA 402-2 = IEC 61800-7-201, "Finite state automaton".
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class DriveState(Enum):
    """State of a drive; UNKNOWN is a statusword that is no state of the profile."""

    NOT_READY_TO_SWITCH_ON = 'not ready to switch on'
    SWITCH_ON_DISABLED = 'switch on disabled'
    READY_TO_SWITCH_ON = 'ready to switch on'
    SWITCHED_ON = 'switched on'
    OPERATION_ENABLED = 'operation enabled'
    QUICK_STOP_ACTIVE = 'quick stop active'
    FAULT_REACTION_ACTIVE = 'fault reaction active'
    FAULT = 'fault'
    UNKNOWN = 'unknown'


class Target(Enum):
    """What a master wants of a drive."""

    # no voltage at the motor: SWITCH_ON_DISABLED
    DISABLED = 'disabled'
    # no torque, one command from power: READY_TO_SWITCH_ON
    READY = 'ready'
    # torque follows: OPERATION_ENABLED
    ENABLED = 'enabled'
    # brake at the drive's own ramp
    QUICK_STOP = 'quick stop'


class Command(Enum):
    """
    Command of a controlword: (mask, bits), ``controlword & mask == bits``.

    DISABLE_OPERATION is the same word as SWITCH_ON, sent to an enabled drive. FAULT_RESET counts
    only as a rising edge of its bit.
    """

    SHUTDOWN = (0x87, 0x06)
    SWITCH_ON = (0x8F, 0x07)
    DISABLE_OPERATION = (0x8F, 0x07)
    ENABLE_OPERATION = (0x8F, 0x0F)
    QUICK_STOP = (0x86, 0x02)
    DISABLE_VOLTAGE = (0x82, 0x00)
    FAULT_RESET = (0x80, 0x80)

    @property
    def word(self) -> int:
        """The controlword that gives this command and nothing else."""
        return self.value[1]


class Transition(NamedTuple):
    """Transition `number`; without a command the drive makes it by itself."""

    number: int
    source: DriveState | None
    command: Command | None
    target: DriveState


_S, _C = DriveState, Command

# all transitions of the profile; 0 begins at power-on, 13 is possible everywhere
TRANSITIONS: tuple[Transition, ...] = tuple(Transition(*row) for row in (
    (0, None, None, _S.NOT_READY_TO_SWITCH_ON),
    (1, _S.NOT_READY_TO_SWITCH_ON, None, _S.SWITCH_ON_DISABLED),
    (2, _S.SWITCH_ON_DISABLED, _C.SHUTDOWN, _S.READY_TO_SWITCH_ON),
    (3, _S.READY_TO_SWITCH_ON, _C.SWITCH_ON, _S.SWITCHED_ON),
    (4, _S.SWITCHED_ON, _C.ENABLE_OPERATION, _S.OPERATION_ENABLED),
    (5, _S.OPERATION_ENABLED, _C.DISABLE_OPERATION, _S.SWITCHED_ON),
    (6, _S.SWITCHED_ON, _C.SHUTDOWN, _S.READY_TO_SWITCH_ON),
    (7, _S.READY_TO_SWITCH_ON, _C.DISABLE_VOLTAGE, _S.SWITCH_ON_DISABLED),
    (7, _S.READY_TO_SWITCH_ON, _C.QUICK_STOP, _S.SWITCH_ON_DISABLED),
    (8, _S.OPERATION_ENABLED, _C.SHUTDOWN, _S.READY_TO_SWITCH_ON),
    (9, _S.OPERATION_ENABLED, _C.DISABLE_VOLTAGE, _S.SWITCH_ON_DISABLED),
    (10, _S.SWITCHED_ON, _C.DISABLE_VOLTAGE, _S.SWITCH_ON_DISABLED),
    (10, _S.SWITCHED_ON, _C.QUICK_STOP, _S.SWITCH_ON_DISABLED),
    (11, _S.OPERATION_ENABLED, _C.QUICK_STOP, _S.QUICK_STOP_ACTIVE),
    (12, _S.QUICK_STOP_ACTIVE, _C.DISABLE_VOLTAGE, _S.SWITCH_ON_DISABLED),
    # at rest, when the option 605Ah is 0 to 4
    (12, _S.QUICK_STOP_ACTIVE, None, _S.SWITCH_ON_DISABLED),
    *((13, state, None, _S.FAULT_REACTION_ACTIVE) for state in (
        _S.NOT_READY_TO_SWITCH_ON, _S.SWITCH_ON_DISABLED, _S.READY_TO_SWITCH_ON, _S.SWITCHED_ON,
        _S.OPERATION_ENABLED, _S.QUICK_STOP_ACTIVE)),
    (14, _S.FAULT_REACTION_ACTIVE, None, _S.FAULT),
    (15, _S.FAULT, _C.FAULT_RESET, _S.SWITCH_ON_DISABLED),
    # when the option 605Ah is 5 to 8; `controlword` never asks for it
    (16, _S.QUICK_STOP_ACTIVE, _C.ENABLE_OPERATION, _S.OPERATION_ENABLED),
))

# bits of the statusword beside the state
VOLTAGE_ENABLED = 1 << 4
WARNING = 1 << 7
REMOTE = 1 << 9
TARGET_REACHED = 1 << 10
INTERNAL_LIMIT = 1 << 11
# in the cyclic modes: 0 says that the target torque is ignored
TARGET_FOLLOWED = 1 << 12

# state: (mask, bits) of the statusword
STATE_PATTERNS: dict[DriveState, tuple[int, int]] = {
    _S.NOT_READY_TO_SWITCH_ON: (0x4F, 0x00),
    _S.SWITCH_ON_DISABLED: (0x4F, 0x40),
    _S.READY_TO_SWITCH_ON: (0x6F, 0x21),
    _S.SWITCHED_ON: (0x6F, 0x23),
    _S.OPERATION_ENABLED: (0x6F, 0x27),
    _S.QUICK_STOP_ACTIVE: (0x6F, 0x07),
    _S.FAULT_REACTION_ACTIVE: (0x4F, 0x0F),
    _S.FAULT: (0x4F, 0x08),
}
# no pattern looks at another bit
_STATE_MASK = 0x6F
_STATES = tuple(next((state for state, (mask, bits) in STATE_PATTERNS.items()
                      if word & mask == bits), _S.UNKNOWN) for word in range(_STATE_MASK + 1))

# the next command towards a target; where nothing stands, DISABLE_VOLTAGE
_STEPS: dict[Target, dict[DriveState, Command]] = {
    Target.DISABLED: {},
    Target.READY: {
        _S.SWITCH_ON_DISABLED: _C.SHUTDOWN,
        _S.READY_TO_SWITCH_ON: _C.SHUTDOWN,
        _S.SWITCHED_ON: _C.SHUTDOWN,
        _S.OPERATION_ENABLED: _C.SHUTDOWN,
    },
    Target.ENABLED: {
        _S.SWITCH_ON_DISABLED: _C.SHUTDOWN,
        _S.READY_TO_SWITCH_ON: _C.SWITCH_ON,
        _S.SWITCHED_ON: _C.ENABLE_OPERATION,
        _S.OPERATION_ENABLED: _C.ENABLE_OPERATION,
    },
    # a drive without torque has nothing to brake with: it loses its voltage by the same command
    Target.QUICK_STOP: {
        _S.READY_TO_SWITCH_ON: _C.QUICK_STOP,
        _S.SWITCHED_ON: _C.QUICK_STOP,
        _S.OPERATION_ENABLED: _C.QUICK_STOP,
        _S.QUICK_STOP_ACTIVE: _C.QUICK_STOP,
    },
}
_WORDS = {(state, target): steps.get(state, _C.DISABLE_VOLTAGE).word
          for target, steps in _STEPS.items() for state in DriveState}


def state_of(statusword: int) -> DriveState:
    """
    Return the state that a statusword tells; UNKNOWN for one that is no state. Never raises.

    >>> state_of(0x1237).value, state_of(0x0218).value, state_of(0x0060 | 0x07).value
    ('operation enabled', 'fault', 'unknown')
    """
    return _STATES[statusword & _STATE_MASK]


def state_bits(state: DriveState) -> int:
    """
    Return the bits of `state` in a statusword, all others 0.

    Raises
    ------
    ValueError
        UNKNOWN has no bits.
    """
    if state not in STATE_PATTERNS:
        raise ValueError(f'state {state.value!r} has no statusword: give a state of the profile')
    return STATE_PATTERNS[state][1]


def voltage_enabled(statusword: int) -> bool:
    """Return whether the power stage has its voltage; without it: supply off, or STO."""
    return bool(statusword & VOLTAGE_ENABLED)


def warns(statusword: int) -> bool:
    """Return whether the drive warns, of a temperature for example, and goes on."""
    return bool(statusword & WARNING)


def target_ignored(statusword: int) -> bool:
    """Return whether a drive in a cyclic mode does not use the target torque."""
    return not statusword & TARGET_FOLLOWED


def controlword(state: DriveState, target: Target) -> int:
    """
    Return the one next step from `state` towards `target`.

    A fault, its reaction, a start and an unknown state get 0: voltage off. Out of a quick stop
    the way leads through SWITCH_ON_DISABLED, never back by transition 16. Bit 7 is never set:
    only `FaultReset` does that. Words with power (7, 15) come for ENABLED alone.

    What is sent now was decided from a sample that is a cycle old. A drive that begins a quick
    stop by itself can therefore still get a word 15; it obeys (transition 16) only when its
    option 605Ah is one of those that stay in the state: do not choose one, see
    `QuickStopOption.stays`.

    >>> [controlword(s, Target.ENABLED) for s in (DriveState.SWITCH_ON_DISABLED,
    ...     DriveState.READY_TO_SWITCH_ON, DriveState.SWITCHED_ON)]
    [6, 7, 15]
    """
    return _WORDS[state, target]


def command_of(word: int, before: int = 0) -> Command | None:
    """
    Return what a controlword commands, as the drive understands it.

    Parameters
    ----------
    word : int
    before : int
        The controlword before it: a fault reset is a rising edge, and a bit 7 that stays is no
        command at all.
    """
    if word & 0x80:
        return None if before & 0x80 else Command.FAULT_RESET
    return next(c for c in Command if word & c.value[0] == c.value[1])


def commanded(state: DriveState, command: Command | None) -> DriveState:
    """
    Return the state into which `command` brings a drive; `state` where the table has no way.

    Word 15 given to READY_TO_SWITCH_ON first switches on; given once more, or still standing, it
    enables. Transition 16 is left out: it depends on the option 605Ah.
    """
    if command is None:
        return state
    if (state, command) == (DriveState.READY_TO_SWITCH_ON, Command.ENABLE_OPERATION):
        command = Command.SWITCH_ON
    return next((t.target for t in TRANSITIONS
                 if (t.source, t.command) == (state, command) and t.number != 16), state)


class FaultReset:
    """
    Makes the rising edge of bit 7 that takes a drive out of FAULT, once per request.

    Sends one word 0, so that the edge is one, then 80h until the drive has left FAULT or
    `cycles` have passed. The bit stays high meanwhile: a lost frame costs nothing, and a fault
    that comes back is not reset a second time. Its words never enable anything.

    Attributes
    ----------
    active : bool
        A request is on its way.
    done : bool or None
        Of the last request: the drive has no fault any more; None before and meanwhile.
    """

    def __init__(self, cycles: int = 40) -> None:
        """Be idle; a request is given up after `cycles` steps."""
        if cycles < 2:
            raise ValueError(f'cycles = {cycles}: must be at least 2, one for each level of the '
                             'edge')
        self.active = False
        self.done: bool | None = None
        self._cycles, self._passed, self._high = cycles, 0, False

    def request(self) -> None:
        """Ask for one reset; nothing changes while one is on its way."""
        if not self.active:
            self.active, self.done, self._passed, self._high = True, None, 0, False

    def cancel(self) -> None:
        """Forget a request."""
        self.active = False

    def step(self, state: DriveState) -> int | None:
        """Return the controlword of this cycle, None where it is not for a reset to say."""
        if not self.active:
            return None
        self._passed += 1
        # the reaction to a fault ends by itself; after the edge it is a new fault
        waiting = state is DriveState.FAULT_REACTION_ACTIVE and not self._high
        if state is not DriveState.FAULT and not waiting:
            return self._end(state not in (DriveState.FAULT_REACTION_ACTIVE, DriveState.UNKNOWN))
        if self._passed > self._cycles:
            return self._end(False)
        if waiting or self._passed == 1:
            return Command.DISABLE_VOLTAGE.word
        self._high = True
        return Command.FAULT_RESET.word

    def _end(self, done: bool) -> None:
        """End the request."""
        self.active, self.done = False, done


MODE_CST = 10
# values of 6060h and 6061h
MODES = {0: 'none', 1: 'profile position', 2: 'velocity', 3: 'profile velocity',
         4: 'profile torque', 6: 'homing', 7: 'interpolated position',
         8: 'cyclic synchronous position', 9: 'cyclic synchronous velocity',
         MODE_CST: 'cyclic synchronous torque',
         11: 'cyclic synchronous torque with commutation angle'}
# bit of 6502h
SUPPORTED_CST = 1 << MODE_CST - 1


def mode_name(mode: int) -> str:
    """Return the name of a mode of operation (6060h, 6061h)."""
    return MODES.get(mode, "manufacturer's own" if mode < 0 else 'reserved') + f' ({mode})'


def supported_modes(supported: int) -> list[str]:
    """Return the names of the modes in `supported` (6502h): bit k is mode k + 1."""
    return [mode_name(mode) for mode in MODES if mode and supported >> mode - 1 & 1]


class QuickStopOption(IntEnum):
    """605Ah: how a quick stop brakes, and whether it stays in QUICK_STOP_ACTIVE."""

    COAST = 0
    SLOW_DOWN_RAMP = 1
    QUICK_STOP_RAMP = 2
    CURRENT_LIMIT = 3
    VOLTAGE_LIMIT = 4
    SLOW_DOWN_RAMP_AND_STAY = 5
    QUICK_STOP_RAMP_AND_STAY = 6
    CURRENT_LIMIT_AND_STAY = 7
    VOLTAGE_LIMIT_AND_STAY = 8

    @property
    def stays(self) -> bool:
        """At rest the drive stays in the state, and word 15 would enable it again."""
        return self >= QuickStopOption.SLOW_DOWN_RAMP_AND_STAY


class FaultReactionOption(IntEnum):
    """605Eh: how a drive stops when it has a fault."""

    COAST = 0
    SLOW_DOWN_RAMP = 1
    QUICK_STOP_RAMP = 2
    CURRENT_LIMIT = 3
    VOLTAGE_LIMIT = 4


class AbortOption(IntEnum):
    """6007h: what a drive does when it has lost its master; NO_ACTION keeps the last torque."""

    NO_ACTION = 0
    FAULT = 1
    DISABLE_VOLTAGE = 2
    QUICK_STOP = 3


def option_text(option: IntEnum) -> str:
    """Return an option as ``quick stop ramp (2)``."""
    return f'{option.name.lower().replace("_", " ")} ({option.value})'
