# SPDX-License-Identifier: Apache-2.0
"""
CiA 402 drive profile seen from the master: state machine, modes and options.

A drive reports its state in the statusword (6041h). It changes state by commands in the
controlword (6040h), and on its own: at the end of a quick stop, at a fault, at a restart. The
master therefore keeps no state: `controlword` is a function of the reported state and the target,
one step at a time. CiA 402-2 = IEC 61800-7-201, "Finite state automaton".
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class DriveState(Enum):
    """State of a drive; UNKNOWN for a statusword without a state of the profile."""

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
    """State to which a master leads a drive."""

    # no voltage at the motor: SWITCH_ON_DISABLED
    DISABLED = 'disabled'
    # no torque, one command away from power: READY_TO_SWITCH_ON
    READY = 'ready'
    # torque follows: OPERATION_ENABLED
    ENABLED = 'enabled'
    # brake at the drive's own ramp
    QUICK_STOP = 'quick stop'


class ControlwordCommand(Enum):
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
        """Controlword of this command alone."""
        return self.value[1]


class Transition(NamedTuple):
    """Transition `number`; without a command the drive makes it automatically."""

    number: int
    source: DriveState | None
    command: ControlwordCommand | None
    target: DriveState


_S = DriveState
_C = ControlwordCommand

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
    # when the option 605Ah is 5 to 8; `controlword` never commands it
    (16, _S.QUICK_STOP_ACTIVE, _C.ENABLE_OPERATION, _S.OPERATION_ENABLED),
))

# states in which the motor has current
POWERED = (_S.OPERATION_ENABLED, _S.QUICK_STOP_ACTIVE, _S.FAULT_REACTION_ACTIVE)

# bits of the statusword beside the state
VOLTAGE_ENABLED = 1 << 4
WARNING = 1 << 7
REMOTE = 1 << 9
INTERNAL_LIMIT = 1 << 11
# in the cyclic modes; while it is 0 the drive ignores the target torque
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
# union of the masks above: all other bits are outside the state
_STATE_MASK = 0x6F
_STATES = tuple(next((state for state, (mask, bits) in STATE_PATTERNS.items()
                      if word & mask == bits), _S.UNKNOWN) for word in range(_STATE_MASK + 1))

# next command towards a target; DISABLE_VOLTAGE for the states left out
_STEPS: dict[Target, dict[DriveState, ControlwordCommand]] = {
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
    # without torque there is nothing to brake with: the same command takes the voltage
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
    Return the state in a statusword, UNKNOWN for any other word. Never raises.

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


def controlword(state: DriveState, target: Target) -> int:
    """
    Return the one next step from `state` towards `target`.

    A fault, its reaction, a start and an unknown state get 0: voltage off. A quick stop is left
    through SWITCH_ON_DISABLED, never by transition 16. Bit 7 is set by `FaultReset` alone. Words
    with power (7, 15) are returned for ENABLED alone.

    The state is a cycle old when the word arrives. A drive that begins a quick stop on its own can
    therefore still receive word 15. It obeys (transition 16) only with an option 605Ah of
    `QuickStopOption.stays`: do not configure one of these.

    >>> [controlword(s, Target.ENABLED) for s in (DriveState.SWITCH_ON_DISABLED,
    ...     DriveState.READY_TO_SWITCH_ON, DriveState.SWITCHED_ON)]
    [6, 7, 15]
    """
    return _WORDS[state, target]


class FaultReset:
    """
    One rising edge of bit 7 per request, which takes a drive out of FAULT.

    The first word is 0, which makes room for an edge. Then follows 80h until the drive has left
    FAULT or `cycles` have passed. The bit stays high meanwhile: a lost frame costs nothing, and a
    new fault is not reset a second time. These words never enable a drive.

    Attributes
    ----------
    active : bool
        A request is in progress.
    """

    def __init__(self, cycles: int = 40) -> None:
        """Start idle; a request is given up after `cycles` steps."""
        if cycles < 2:
            raise ValueError(f'cycles = {cycles}: must be at least 2, one for each level of the '
                             'edge')
        self.active = False
        self._cycles = cycles
        self._passed = 0
        self._high = False

    def request(self) -> None:
        """Begin one reset; no effect while one is in progress."""
        if not self.active:
            self.active = True
            self._passed = 0
            self._high = False

    def cancel(self) -> None:
        """End the request."""
        self.active = False

    def step(self, state: DriveState) -> int | None:
        """Return the controlword of this cycle, None without a request."""
        if not self.active:
            return None
        self._passed += 1
        # the reaction to the fault ends automatically; after the edge it belongs to a new fault
        waiting = state is DriveState.FAULT_REACTION_ACTIVE and not self._high
        if state is not DriveState.FAULT and not waiting or self._passed > self._cycles:
            self.active = False
            return None
        # the low level before the edge
        if waiting or self._passed == 1:
            return ControlwordCommand.DISABLE_VOLTAGE.word
        self._high = True
        return ControlwordCommand.FAULT_RESET.word


MODE_CSV = 9
MODE_CST = 10
# values of 6060h and 6061h
MODES = {0: 'none', 1: 'profile position', 2: 'velocity', 3: 'profile velocity',
         4: 'profile torque', 6: 'homing', 7: 'interpolated position',
         8: 'cyclic synchronous position', MODE_CSV: 'cyclic synchronous velocity',
         MODE_CST: 'cyclic synchronous torque',
         11: 'cyclic synchronous torque with commutation angle'}
# bits of 6502h
SUPPORTED_CSV = 1 << MODE_CSV - 1
SUPPORTED_CST = 1 << MODE_CST - 1


def mode_name(mode: int) -> str:
    """Return the name of a mode of operation (6060h, 6061h)."""
    return MODES.get(mode, "manufacturer's own" if mode < 0 else 'reserved') + f' ({mode})'


def supported_modes(supported: int) -> list[str]:
    """Return the names of the modes in `supported` (6502h): bit k is mode k + 1."""
    return [mode_name(mode) for mode in MODES if mode and supported >> mode - 1 & 1]


class QuickStopOption(IntEnum):
    """605Ah: braking of a quick stop, and the state after it."""

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
        """The drive stays in QUICK_STOP_ACTIVE at rest; word 15 would enable it again."""
        return self >= QuickStopOption.SLOW_DOWN_RAMP_AND_STAY


class FaultReactionOption(IntEnum):
    """605Eh: reaction of a drive to a fault."""

    COAST = 0
    SLOW_DOWN_RAMP = 1
    QUICK_STOP_RAMP = 2
    CURRENT_LIMIT = 3
    VOLTAGE_LIMIT = 4


class AbortOption(IntEnum):
    """6007h: reaction to a lost master; NO_ACTION keeps the last torque."""

    NO_ACTION = 0
    FAULT = 1
    DISABLE_VOLTAGE = 2
    QUICK_STOP = 3
