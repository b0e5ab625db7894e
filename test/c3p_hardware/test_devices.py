# SPDX-License-Identifier: Apache-2.0
"""What the master concludes from the frames of one device: late, silent, doubled, and in words."""

import math

import pytest
from device_bench import card_settings_of
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen.cia301 import Emergency, NmtState
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE, ENCODER_SAMPLE, drive_health
from c3p_hardware.devices import SURPLUS, Drive, Encoder

SETTINGS = card_settings_of()
PERIOD = SETTINGS.period
# as the bus does: cycles of silence that are a fault, and those that are tolerated
PATIENCE = SETTINGS.max_backlog
SAMPLE = ENCODER_SAMPLE.pack(100, 0, 0)


def an_encoder():
    encoder = Encoder.of(SETTINGS.encoders[1])
    encoder.begin(0.0)
    return encoder


def a_drive():
    drive = Drive.of(SETTINGS.drives[1])
    drive.begin(0.0)
    return drive


def live(device, samples, start=0.0):
    """Let cycles pass, each with so many samples of the encoder; return the kinds of problems."""
    kinds = []
    for k, many in enumerate(samples):
        now = start + (k + 1) * PERIOD
        device.new_cycle(PATIENCE, now)
        device.on_heartbeat(bytes([NmtState.OPERATIONAL]), now)
        for _ in range(many):
            device.on_sample(SAMPLE, now)
        kinds.append({p.kind for p in device.problems(now, SETTINGS)})
    return kinds


def first(kinds, kind):
    """Return the number of cycles after which `kind` is told."""
    return next((k + 1 for k, found in enumerate(kinds) if kind in found), math.inf)


# -- a second device of the same node id ----------------------------------------------------------

# cycles below `silence_timeout`, in which a device or the master may be held up
BELOW_SILENCE = round(SETTINGS.silence_timeout * SETTINGS.rate) - 1


@given(st.lists(st.tuples(st.integers(0, BELOW_SILENCE), st.booleans(), st.integers(0, 20)),
                max_size=12))
def test_no_stall_below_the_silence_timeout_makes_a_second_device(stalls):
    # a stall, whose samples then come at once or never, and cycles of peace
    samples = []
    for cycles, lost, peace in stalls:
        samples += [0] * cycles + [1 if lost else cycles + 1] + [1] * peace
    assert first(live(an_encoder(), samples), 'duplicate') == math.inf


@given(st.lists(st.integers(0, 3), max_size=60))
def test_whatever_was_owed_may_come_in_any_portions(portions):
    # a queue that empties as it likes: never more samples than cycles
    encoder, owed, samples = an_encoder(), 0, []
    for portion in portions:
        owed = min(owed + 1, PATIENCE)
        samples.append(min(portion, owed))
        owed -= samples[-1]
    assert first(live(encoder, samples), 'duplicate') == math.inf


@pytest.mark.parametrize('cycles', [PATIENCE + 1, 30, 200])
def test_the_backlog_of_a_long_silence_is_no_second_device(cycles):
    kinds = live(an_encoder(), [1] * 5 + [0] * cycles + [10] * (cycles // 10 + 1) + [1] * 20)
    assert first(kinds, 'silence') == 5 + PATIENCE
    assert first(kinds, 'duplicate') == math.inf


@given(st.lists(st.integers(0, 1), max_size=100))
def test_a_second_device_is_found_whatever_was_lost_before(before):
    # a silence of its own costs the count: it is told as such, and ended by `begin`
    if '0' * (PATIENCE + 1) in ''.join(map(str, before)):
        return
    found = first(live(an_encoder(), [*before, *[2] * 100]), 'duplicate') - len(before)
    assert SURPLUS <= found < PATIENCE + SURPLUS


def test_a_second_device_is_found_after_three_cycles_and_after_losses_at_most_fourteen():
    # the figures of the docstring at 200 Hz: 15 ms, at most 70 ms
    assert first(live(an_encoder(), [1] * 50 + [2] * 100), 'duplicate') - 50 == SURPLUS == 3
    worst = [0, *[1] * 5] * 20
    assert first(live(an_encoder(), worst + [2] * 100), 'duplicate') - len(worst) == 14


def test_a_second_device_that_sends_by_itself_is_found_too():
    # every other cycle one sample more
    assert first(live(an_encoder(), [1, 2] * 20), 'duplicate') == 2 * SURPLUS


def test_configuring_ends_the_count():
    encoder = an_encoder()
    live(encoder, [2] * 10)
    encoder.begin(10 * PERIOD)
    assert first(live(encoder, [1] * 20, 10 * PERIOD), 'duplicate') == math.inf


# -- late and silent ------------------------------------------------------------------------------

@given(st.integers(1, 9))
def test_late_devices_count_their_cycles(cycles):
    encoder = an_encoder()
    live(encoder, [1] * 3 + [0] * cycles)
    assert (encoder.behind, encoder.missed, encoder.lost) == (cycles, cycles - 1, cycles - 1)
    encoder.on_sample(SAMPLE, 1.0)
    assert (encoder.behind, encoder.missed) == (0, 0)


def test_silence_begins_with_the_first_question_that_has_no_answer():
    encoder = an_encoder()
    live(encoder, [1] * 10)
    # the master pauses: nobody asks, nobody is blamed
    assert not list(encoder.problems(10 * PERIOD + 5.0, SETTINGS))
    encoder.new_cycle(PATIENCE, 7.0)
    assert not list(encoder.problems(7.0 + SETTINGS.silence_timeout, SETTINGS))
    (problem,) = encoder.problems(7.0 + SETTINGS.silence_timeout + 1e-6, SETTINGS)
    assert problem.kind == 'silence' and problem.configure


def test_a_heartbeat_is_missed_only_by_samples_that_come_without():
    drive = a_drive()
    for k in range(1, 100):
        drive.new_cycle(PATIENCE, k * PERIOD)
        drive.on_sample(DRIVE_SAMPLE.pack(0x1237, 0, 0), k * PERIOD)
        kinds = [p.kind for p in drive.problems(k * PERIOD + 9.0, SETTINGS)]
        assert kinds == (['heartbeat'] if k * PERIOD > SETTINGS.heartbeat_timeout else [])


# -- words ----------------------------------------------------------------------------------------

def test_a_device_that_was_never_heard_of_says_so():
    (problem,) = Drive.of(SETTINGS.drives[0]).problems(5.0, SETTINGS)
    assert 'no sample received yet' in f'{problem}' and 'wheel_joint_1 (node 1)' in f'{problem}'


def test_emergencies_are_told_once_and_taken_back():
    encoder = an_encoder()
    encoder.on_emergency(Emergency(0x4210).pack())
    (problem,) = encoder.problems(0.0, SETTINGS)
    assert f'{problem}'.count('4210h') == 1 and 'over-temperature of the device' in problem.text
    encoder.on_emergency(Emergency(0x0000).pack())
    assert not list(encoder.problems(0.0, SETTINGS))


def test_a_restart_is_remembered_until_it_has_been_configured():
    drive = a_drive()
    for state in (NmtState.INITIALISING, NmtState.PRE_OPERATIONAL, NmtState.OPERATIONAL):
        drive.on_heartbeat(bytes([state]), 0.0)
        assert [(p.kind, p.configure) for p in drive.problems(0.0, SETTINGS)] == [('reboot', True)]
    drive.begin(1.0)
    assert not list(drive.problems(1.0, SETTINGS))


def test_configuring_forgets_what_the_device_said_before():
    drive, encoder = a_drive(), an_encoder()
    drive.on_sample(DRIVE_SAMPLE.pack(0x0218, 5, 7), 0.0)
    drive.on_health(drive_health().pack(8, 0x2310, 24000, 31))
    encoder.on_sample(ENCODER_SAMPLE.pack(5000, 1, 1), 0.0)
    assert {p.kind for p in drive.problems(0.0, SETTINGS)} == {'fault', 'mode'}
    assert {p.kind for p in encoder.problems(0.0, SETTINGS)} == {'alarm', 'range'}
    for device in (drive, encoder):
        device.begin(1.0)
        assert not list(device.problems(1.0, SETTINGS))


def test_the_slow_frame_tells_volts_and_degrees():
    drive = a_drive()
    assert math.isnan(drive.voltage) and math.isnan(drive.temperature)
    drive.on_health(drive_health().pack(10, 0, 23750, -5))
    assert (drive.voltage, drive.temperature, drive.mode) == (pytest.approx(23.75), -5, 10)


@pytest.mark.parametrize('frame', [
    lambda d: d.on_sample(b'\0' * 7, 1.0), lambda d: d.on_heartbeat(b'\x33', 1.0),
    lambda d: d.on_heartbeat(b'', 1.0), lambda d: d.on_emergency(b'\0' * 3)])
def test_a_frame_that_cannot_be_read_changes_nothing(frame):
    for device in (a_drive(), an_encoder()):
        before = {k: v for k, v in vars(device).items() if v == v}
        with pytest.raises(ValueError):
            frame(device)
        assert {k: v for k, v in vars(device).items() if v == v} == before


def test_warnings_are_no_problems():
    encoder = an_encoder()
    encoder.on_sample(ENCODER_SAMPLE.pack(0, 0, 1 << 4), 0.0)
    assert encoder.warning() == 'battery low' and not list(encoder.problems(0.0, SETTINGS))
    drive = a_drive()
    drive.on_sample(DRIVE_SAMPLE.pack(0x12B7, 0, 0), 0.0)
    assert 'bit 7' in drive.warning() and drive.left() is None
    assert not list(drive.problems(0.0, SETTINGS))
