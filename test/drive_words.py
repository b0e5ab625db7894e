# SPDX-License-Identifier: Apache-2.0
"""Controlwords as a drive understands them, by the tables of the profile."""

from c3p_hardware.canopen.cia402 import TRANSITIONS, ControlwordCommand, DriveState


def command_of(word, before=0):
    """
    Return the command of a controlword after the word `before`.

    A fault reset is a rising edge; a bit 7 that stays is not a command.
    """
    if word & 0x80:
        return None if before & 0x80 else ControlwordCommand.FAULT_RESET
    return next(c for c in ControlwordCommand if word & c.value[0] == c.value[1])


def commanded(state, command):
    """
    Return the state into which `command` brings a drive; `state` without a transition.

    Word 15 given to READY_TO_SWITCH_ON first switches on. Transition 16, which depends on the
    option 605Ah, is left out.
    """
    if (state, command) == (DriveState.READY_TO_SWITCH_ON, ControlwordCommand.ENABLE_OPERATION):
        command = ControlwordCommand.SWITCH_ON
    return next((t.target for t in TRANSITIONS if command is not None
                 and (t.source, t.command) == (state, command) and t.number != 16), state)
