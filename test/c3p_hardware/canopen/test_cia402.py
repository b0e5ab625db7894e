# SPDX-License-Identifier: Apache-2.0
"""The drive's state machine: every word, every state and target, and nothing enables by itself."""

import itertools

import pytest
from drive_words import command_of, commanded
from obeying_drive import (
    FAULT,
    ON,
    OPERATION,
    REACTION,
    RTSO,
    SOD,
    START,
    STOPPING,
    UNKNOWN,
    reset_words,
    slave,
)

from c3p_hardware.canopen import cia402
from c3p_hardware.canopen.cia402 import (
    TRANSITIONS,
    ControlwordCommand,
    DriveState,
    QuickStopOption,
    Target,
    controlword,
    state_bits,
    state_of,
)

REAL = [s for s in DriveState if s is not UNKNOWN]
POWERED = {ON, OPERATION}
HARMLESS = [Target.DISABLED, Target.READY, Target.QUICK_STOP]

# what the profile demands: state, then the word towards DISABLED, READY, ENABLED, QUICK_STOP
TABLE = [
    (START, 0x00, 0x00, 0x00, 0x00),
    (SOD, 0x00, 0x06, 0x06, 0x00),
    (RTSO, 0x00, 0x06, 0x07, 0x02),
    (ON, 0x00, 0x06, 0x0F, 0x02),
    (OPERATION, 0x00, 0x06, 0x0F, 0x02),
    (STOPPING, 0x00, 0x00, 0x00, 0x02),
    (REACTION, 0x00, 0x00, 0x00, 0x00),
    (FAULT, 0x00, 0x00, 0x00, 0x00),
    (UNKNOWN, 0x00, 0x00, 0x00, 0x00),
]


@pytest.fixture(scope='module')
def p402():
    return pytest.importorskip('canopen.profiles.p402')


def by_itself(state):
    """Return the states into which a drive may go without any command."""
    # faults, a restart, and STO or a lost supply, which take the voltage away
    moves = {state, START}
    if state not in (FAULT, REACTION):
        moves |= {REACTION}
    if state in (RTSO, ON, OPERATION, STOPPING):
        moves |= {SOD}
    # a lost master, an end switch
    if state is OPERATION:
        moves |= {STOPPING}
    if state is START:
        moves |= {SOD}
    if state is REACTION:
        moves |= {FAULT}
    return moves


def closure(beginning, step):
    """Return everything that can be reached from `beginning` by `step(node) -> nodes`."""
    reached, waiting = set(beginning), list(beginning)
    while waiting:
        for node in step(waiting.pop()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def test_all_65536_statuswords_are_what_canopen_takes_them_for(p402):
    patterns = p402.State402.SW_MASK

    def peer(word):
        names = [name for name, (mask, bits) in patterns.items() if word & mask == bits]
        assert len(names) <= 1
        return names[0].lower() if names else 'unknown'

    assert [w for w in range(1 << 16) if state_of(w).value != peer(w)] == []


def test_a_statusword_has_one_state_and_none_raises():
    unknown = {w & 0x6F for w in range(1 << 16) if state_of(w) is UNKNOWN}
    for word in range(1 << 16):
        fits = [s for s, (mask, bits) in cia402.STATE_PATTERNS.items() if word & mask == bits]
        assert fits == ([] if word & 0x6F in unknown else [state_of(word)])
    assert state_of(-1) is UNKNOWN and state_of(1 << 40) is START


@pytest.mark.parametrize('state', REAL)
def test_the_bits_of_a_state_are_read_back_whatever_the_other_bits(state):
    others = 0xFFFF & ~0x6F
    assert state_of(state_bits(state)) is state
    assert state_of(state_bits(state) | others) is state


def test_no_state_has_no_bits():
    with pytest.raises(ValueError, match='unknown'):
        state_bits(UNKNOWN)


@pytest.mark.parametrize('state, disabled, ready, enabled, quick', TABLE,
                         ids=[row[0].name for row in TABLE])
def test_table_of_states_and_targets(state, disabled, ready, enabled, quick):
    assert [controlword(state, t) for t in (
        Target.DISABLED, Target.READY, Target.ENABLED, Target.QUICK_STOP)] == [
            disabled, ready, enabled, quick]


def test_the_table_has_every_state_and_every_target():
    assert [row[0] for row in TABLE] == [*REAL, UNKNOWN] and len(Target) == 4


@pytest.mark.parametrize('state', DriveState)
@pytest.mark.parametrize('target', Target)
def test_a_word_makes_a_transition_of_the_profile_or_none(state, target):
    word = controlword(state, target)
    assert not word & 0x80
    if state is UNKNOWN:
        return
    after = slave(state, word, 0, stays=True)
    ways = {(t.source, t.target): t.number for t in TRANSITIONS if t.command}
    assert after is state or ways[state, after] not in (15, 16)


@pytest.mark.parametrize('beginning', [s for s in REAL if s not in (FAULT, REACTION)])
@pytest.mark.parametrize('target, end', [(Target.DISABLED, SOD), (Target.READY, RTSO),
                                         (Target.ENABLED, OPERATION), (Target.QUICK_STOP, SOD)])
def test_an_obeying_drive_is_where_it_is_wanted_after_four_steps(beginning, target, end):
    state = SOD if beginning is START else beginning
    for _ in range(4):
        state = slave(state, controlword(state, target), 0, stays=False)
    # an enabled drive is still braking
    braking = target is Target.QUICK_STOP and beginning in (OPERATION, STOPPING)
    assert state is (STOPPING if braking else end)


@pytest.mark.parametrize('target', Target)
@pytest.mark.parametrize('event', [SOD, REACTION, START, UNKNOWN])
def test_a_quick_stop_that_is_left_by_itself_needs_no_word_for_it(target, event):
    # while it brakes: stay or lose voltage, whatever is wanted
    assert controlword(STOPPING, target) in (0x00, 0x02)
    # afterwards: at most the first step up, which powers nothing
    assert controlword(event, target) in (0x00, 0x06)
    assert slave(SOD, controlword(event, target), 0, stays=False) in (SOD, RTSO)


def test_commands_are_understood_as_a_drive_does():
    for state, word, before in itertools.product(REAL, range(256), (0x00, 0x80)):
        assert commanded(state, command_of(word, before)) is slave(state, word, before, False)


def test_transitions_are_those_of_canopen(p402):
    def name(state):
        return 'START' if state is None else state.value.upper()

    words = p402.State402.TRANSITIONTABLE
    ours = {(name(t.source), name(t.target)): t for t in TRANSITIONS}
    # canopen has no table of faults
    assert set(words) == {way for way, t in ours.items() if t.number != 13}
    for way, word in words.items():
        commands = [t.command for t in TRANSITIONS if (name(t.source), name(t.target)) == way]
        assert word == 0 if commands == [None] else word in [c.word for c in commands if c]
    assert {t.number for t in TRANSITIONS} == set(range(17))


@pytest.mark.parametrize('row', [t for t in TRANSITIONS if t.command])
def test_every_transition_by_command_is_made_by_its_word(row):
    assert slave(row.source, row.command.word, 0, stays=True) is row.target
    assert command_of(row.command.word) is row.command


def test_no_drive_gets_power_while_none_is_asked_for():
    """
    All sequences: any target but ENABLED, changing at will; the master believes *any* state.

    So samples may be lost, late or wrong, frames may come late or again, resets may be asked for
    at any time, and the drive may do what it does by itself. None of it leads to power.
    """
    words = {controlword(seen, target) for seen in DriveState for target in HARMLESS}
    words |= {word for word in reset_words() if word is not None}
    assert words == {0x00, 0x02, 0x06, 0x80}

    def step(node):
        state, before = node
        for word in words:
            yield slave(state, word, before, stays=True), word
        for moved in by_itself(state):
            yield moved, before

    beginnings = [(s, w) for s in REAL if s not in POWERED for w in words]
    reached = {state for state, _ in closure(beginnings, step)}
    assert not reached & POWERED
    # the search is not empty: everything else is reached
    assert reached == set(REAL) - POWERED


def test_the_model_would_find_power_if_it_were_asked_for():
    def step(state):
        yield slave(state, controlword(state, Target.ENABLED), 0, stays=False)

    assert closure([SOD], step) == {SOD, RTSO, ON, OPERATION}


def test_a_drive_that_loses_power_does_not_get_it_back_by_words_for_other_targets():
    words = {controlword(seen, target) for seen in DriveState for target in HARMLESS}

    def step(state):
        for word in words:
            yield slave(state, word, 0, stays=False)
        yield from by_itself(state)

    for lost in (SOD, STOPPING, REACTION, START, RTSO):
        assert not closure([lost], step) & POWERED


def test_only_a_request_resets_a_fault():
    words = {controlword(seen, target) for seen in DriveState for target in Target}
    for word, before in itertools.product(words, words):
        assert slave(FAULT, word, before, stays=True) is FAULT


@pytest.mark.parametrize('option', QuickStopOption)
def test_a_word_on_its_way_ends_a_quick_stop_only_with_options_that_stay(option):
    """
    ENABLED is asked for all the time; the drive begins a quick stop by itself.

    Words are decided from the sample before. With options 5 to 8 the word that is on its way
    enables the drive again (transition 16), which is why the master has to choose another.
    """
    def step(node):
        state, seen, _ = node
        after = slave(state, controlword(seen, Target.ENABLED), 0, option.stays)
        yield after, state, (state, after) == (STOPPING, OPERATION)
        for moved in by_itself(state):
            yield moved, seen, False

    late = any(again for _, _, again in closure([(SOD, SOD, False)], step))
    assert late == option.stays
    # with samples and words in time it never happens
    assert slave(STOPPING, controlword(STOPPING, Target.ENABLED), 0, option.stays) is SOD


# modes, bits and options

def test_modes_have_the_numbers_and_bits_of_canopen(p402):
    mode = p402.OperationMode
    assert mode.CYCLIC_SYNCHRONOUS_TORQUE == cia402.MODE_CST
    assert mode.CYCLIC_SYNCHRONOUS_VELOCITY == cia402.MODE_CSV
    assert mode.SUPPORTED['CYCLIC SYNCHRONOUS TORQUE'] == cia402.SUPPORTED_CST
    assert mode.SUPPORTED['CYCLIC SYNCHRONOUS VELOCITY'] == cia402.SUPPORTED_CSV
    # canopen has homing, interpolated and cyclic modes at these bits
    for name, bit in mode.SUPPORTED.items():
        ours = [m.rsplit(' (')[0].upper() for m in cia402.supported_modes(bit)]
        assert ours == [name.replace('PROFILED', 'PROFILE')] or not bit


@pytest.mark.parametrize('mode, text', [(10, 'cyclic synchronous torque (10)'), (0, 'none (0)'),
                                        (-3, "manufacturer's own (-3)"), (5, 'reserved (5)')])
def test_a_mode_has_a_name(mode, text):
    assert cia402.mode_name(mode) == text


def test_bits_of_the_statusword_besides_the_state():
    bits = [cia402.VOLTAGE_ENABLED, cia402.WARNING, cia402.REMOTE, cia402.INTERNAL_LIMIT,
            cia402.TARGET_FOLLOWED]
    assert [b.bit_length() - 1 for b in bits] == [4, 7, 9, 11, 12]
    # none of them has a say in the state
    assert not any(b & 0x6F for b in bits)


def test_options_have_the_numbers_of_605ah():
    assert [o.value for o in QuickStopOption if o.stays] == [5, 6, 7, 8]
    assert (QuickStopOption.QUICK_STOP_RAMP, cia402.AbortOption.QUICK_STOP,
            cia402.FaultReactionOption.COAST) == (2, 3, 0)


def test_the_profiles_table_is_total_and_has_one_target_per_command():
    for state, command in itertools.product(REAL, ControlwordCommand):
        targets = {t.target for t in TRANSITIONS if (t.source, t.command) == (state, command)}
        assert len(targets) <= 1
        # a command without a transition changes nothing, at most one of them is made
        after = commanded(state, command)
        assert after is state or (state, command) == (RTSO,
                                                      ControlwordCommand.ENABLE_OPERATION) or (
            {after} == targets)


def test_disable_operation_is_the_word_of_switch_on():
    assert ControlwordCommand.DISABLE_OPERATION is ControlwordCommand.SWITCH_ON
