# SPDX-License-Identifier: Apache-2.0
"""Scripts of faults: read, written, refused with a remedy, begun and ended in time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.emulator.faults import (
    KINDS,
    Fault,
    FaultError,
    FaultSchedule,
    affected,
    parse_faults,
)

NAMES = ('drive1', 'drive2', 'encoder1', 'encoder2')
times = st.integers(0, 10**6).map(lambda n: n / 1000)


def faults(kinds):
    """Return a strategy for faults of some kinds."""
    return st.builds(
        Fault, st.sampled_from(kinds), st.sampled_from([*NAMES, 'all', 'drives']), times,
        st.one_of(st.just(math.inf), st.integers(1, 10**5).map(lambda n: n / 1000)),
        st.integers(1, 2**31))


@given(st.lists(faults(sorted(KINDS))), st.sampled_from([' ', ', ', ';', '; ', '\n']))
def test_a_script_is_read_as_it_was_written(given_faults, between):
    read = parse_faults(between.join(map(str, given_faults)))
    assert [(f.kind, f.device, f.value) for f in read] == [
        (f.kind, f.device, f.value) for f in given_faults]
    # six digits are written
    assert [(f.at, f.duration) for f in read] == [
        pytest.approx((f.at, f.duration), rel=1e-5) for f in given_faults]


@pytest.mark.parametrize('script, fault', [
    ('sto:drive1', Fault('sto', 'drive1')), ('sto:drive1+2', Fault('sto', 'drive1', 0.0, 2.0)),
    ('emcy=0x4310:drive1@1', Fault('emcy', 'drive1', 1.0, math.inf, 0x4310)),
    ('encoder_jump=-9:encoder1@.5+1e-1', Fault('encoder_jump', 'encoder1', 0.5, 0.1, -9))])
def test_short_forms(script, fault):
    assert parse_faults(script) == (fault,)


@pytest.mark.parametrize('script, words', [
    ('silense:drive1', 'did you mean silence'), ('silence', 'names no device'),
    ('silence:drive1@soon', "'soon' is not a time"), ('emcy=much:drive1', "'much' is not a whole"),
    ('silence:drive1@-1', '0 or later'), ('silence:drive1@1+0', 'longer than 0'),
    ('silence:drive1@nan', '0 or later'), ('what:drive1', 'known are silence, wrong_mode')])
def test_what_cannot_be_read_is_named(script, words):
    with pytest.raises(FaultError, match=words):
        parse_faults(script)


@pytest.mark.parametrize('script, words', [
    ('silence:drive9', 'unknown device .drive9.; did you mean'), ('sto:encoder1', 'only drives'),
    ('encoder_jump:drives', 'only encoders')])
def test_what_cannot_befall_is_named(script, words):
    with pytest.raises(FaultError, match=words):
        affected(parse_faults(script)[0], NAMES)


def test_groups_leave_out_who_cannot_have_it():
    assert affected(Fault('sto', 'all'), NAMES) == NAMES[:2]
    assert affected(Fault('silence', 'encoders'), NAMES) == NAMES[2:]


@given(st.lists(faults(['silence', 'reboot']), max_size=6))
def test_faults_begin_and_end_in_time(given_faults):
    log, now = [], 0.0
    schedule = FaultSchedule(NAMES, lambda f, name: log.append((now, 'begin', f.kind, name)),
                             lambda f, name: log.append((now, 'end', f.kind, name)))
    for fault in given_faults:
        schedule.add(fault)
    expected = []
    for fault in given_faults:
        for name in affected(fault, NAMES):
            expected.append((fault.at, 'begin', fault.kind, name))
            if fault.kind != 'reboot' and math.isfinite(fault.duration):
                expected.append((fault.at + fault.duration, 'end', fault.kind, name))
    for now in sorted({entry[0] for entry in expected}):
        schedule.step(now)
    assert sorted(log) == sorted(expected)
    schedule.clear()
    assert schedule.present == ()
