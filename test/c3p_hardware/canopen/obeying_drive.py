# SPDX-License-Identifier: Apache-2.0
"""A drive that obeys its controlwords, as CiA 402 describes it, and the words of a reset."""

import itertools

from c3p_hardware.canopen.cia402 import DriveState, FaultReset

# short names for tables
START, SOD, RTSO = (DriveState.NOT_READY_TO_SWITCH_ON, DriveState.SWITCH_ON_DISABLED,
                    DriveState.READY_TO_SWITCH_ON)
ON, OPERATION, STOPPING = (DriveState.SWITCHED_ON, DriveState.OPERATION_ENABLED,
                           DriveState.QUICK_STOP_ACTIVE)
REACTION, FAULT, UNKNOWN = (DriveState.FAULT_REACTION_ACTIVE, DriveState.FAULT,
                            DriveState.UNKNOWN)


def slave(state, word, before, stays):
    """
    A drive that obeys: the next state, bit by bit as the profile describes the controlword.

    Written apart from `cia402.Command` and `TRANSITIONS`, which it is to check.
    """
    switch_on, voltage, no_quick_stop, operation, reset = (
        bool(word >> bit & 1) for bit in (0, 1, 2, 3, 7))
    if state is FAULT:
        return SOD if reset and not before & 0x80 else FAULT
    # commands count only without the reset bit; these states obey none
    if reset or state in (START, REACTION):
        return state
    if state is SOD:
        return RTSO if voltage and no_quick_stop and not switch_on else SOD
    if not voltage:
        return SOD
    if not no_quick_stop:
        return STOPPING if state in (OPERATION, STOPPING) else SOD
    if state is STOPPING:
        return OPERATION if stays and switch_on and operation else STOPPING
    if not switch_on:
        return RTSO
    if state is RTSO:
        return ON
    return OPERATION if operation else ON


def words_of(reset, states):
    """Return the words of one request while the drive reports `states`."""
    reset.request()
    return [reset.step(state) for state in states]


def reset_words():
    """Return every word that a reset ever sends, for all short sequences of states."""
    stories = itertools.product([FAULT, REACTION, SOD, OPERATION, UNKNOWN], repeat=5)
    return {word for story in stories for word in words_of(FaultReset(cycles=3), story)}
