# SPDX-License-Identifier: Apache-2.0
"""
Random and malicious CAN frames against the cycle of the motor cards, off the clock.

No frame raises, no torque is not finite, a fault takes the torque in the cycle that reads it, and
only recover, arm and a command of zero give it back. In the profile `explore` more than 100 000
frames: ``pytest --hypothesis-profile=explore test/attacks/test_can_frames.py``.
"""

import can
import numpy as np
import pytest
from can_rig import DRIVES, ENCODERS, MASTER, PUSH, ZERO, CanRig, frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from c3p_hardware.canopen.process_data import ENCODER_SAMPLE
from c3p_hardware.supervisor import Refused

# frames of one example
FRAMES = 400
NODES = (*DRIVES, *ENCODERS)


def data(rng, low=0, high=9):
    return rng.bytes(int(rng.integers(low, high)))


def node(rng):
    return int(rng.choice(NODES))


# one frame of each kind; those of the first group must not stop the robot by themselves
HARMLESS = {
    'unknown': lambda rng: frame(int(rng.choice([0x100, 0x184, 0x190, 0x30B, 0x7E5, 0x704])),
                                 data(rng)),
    'extended': lambda rng: frame(int(rng.integers(1 << 29)), data(rng), is_extended_id=True),
    'remote': lambda rng: frame(int(rng.integers(1 << 11)), is_remote_frame=True,
                                dlc=int(rng.integers(9))),
    'error frame': lambda rng: frame(int(rng.integers(1 << 29)) & ~0x40, bytes(8),
                                     is_error_frame=True, is_extended_id=True),
    'SDO answer': lambda rng: frame(0x580 + node(rng), data(rng)),
    'SDO abort': lambda rng: frame(0x580 + node(rng), b'\x80' + data(rng, 7, 8)),
    'SDO read': lambda rng: frame(0x600 + node(rng), b'\x40' + data(rng, 7, 8)),
    'sample of wrong length': lambda rng: frame(0x180 + node(rng), data(rng, 0, 8)),
    'health of wrong length': lambda rng: frame(0x280 + int(rng.choice(DRIVES)), data(rng, 0, 8)),
    'heartbeat of wrong length': lambda rng: frame(0x700 + node(rng), data(rng, 2, 9)),
    'emergency of wrong length': lambda rng: frame(0x80 + node(rng), data(rng, 0, 8)),
    'CAN FD': lambda rng: frame(0x180 + node(rng), rng.bytes(int(rng.choice([12, 16, 64]))),
                                is_fd=True),
}
# what only the master sends: one is a fault
COMMANDS = {
    'network management': lambda rng: frame(0x000, data(rng)),
    'SYNC': lambda rng: frame(0x080, data(rng)),
    'heartbeat of the master': lambda rng: frame(0x700 + MASTER, data(rng)),
    'command': lambda rng: frame(int(rng.choice([0x200, 0x300, 0x400, 0x500]))
                                 + int(rng.choice(DRIVES)), data(rng)),
    'SDO write': lambda rng: frame(0x600 + node(rng), bytes([int(rng.choice([0x20, 0x2F, 0xC0]))])
                                   + data(rng, 7, 8)),
}
# what looks like a device
DEVICES = {
    'sample': lambda rng: frame(0x180 + node(rng), data(rng, 8, 9)),
    'health': lambda rng: frame(0x280 + int(rng.choice(DRIVES)), data(rng, 8, 9)),
    'heartbeat': lambda rng: frame(0x700 + node(rng), data(rng, 1, 2)),
    'emergency': lambda rng: frame(0x80 + node(rng), data(rng, 8, 9)),
    'bus-off': lambda rng: frame(0x40, bytes(8), is_error_frame=True, is_extended_id=True),
    'anything': lambda rng: frame(int(rng.integers(1 << 11)), data(rng)),
    'interface fails': lambda rng: can.CanOperationError('overrun'),
}
ALL = HARMLESS | COMMANDS | DEVICES


@pytest.fixture
def rig(monkeypatch):
    return CanRig(monkeypatch)


# cycles after which a robot at rest has recovered: the drives of the rig do not end their quick
# stop, whose voltage is switched off after `stop_margin`
RECOVERED = 100


def tempt(rig, rng, frames):
    """After a fault: nothing gives torque but recover, arm and a zero; then drive again."""
    for push in (PUSH, ZERO, PUSH):
        rig.push = push
        for _ in range(5):
            assert rig.cycle(*(frames(rng) for _ in range(3))) in ([], [0, 0, 0])
            assert rig.state == 'fault'
            with pytest.raises(Refused):
                rig.supervisor.arm(rig.clock.now)
    rig.bus.attack.clear()
    # recovering is refused in a stop, and while forged counts look like motion
    rig.cycles(RECOVERED, PUSH)
    # the devices come back as they are after a start of theirs
    for _ in range(5):
        rig.recover()
        rig.cycles(RECOVERED, PUSH)
        if rig.state == 'disarmed':
            break
    assert rig.state == 'disarmed', rig.supervisor.faults
    with pytest.raises(Refused, match='release the command first'):
        rig.supervisor.arm(rig.clock.now)
    rig.arm()
    rig.cycles(3, PUSH)
    assert any(rig.cycle())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1))
def test_no_frame_raises_and_after_a_fault_only_the_documented_way_gives_torque(
        monkeypatch, seed):
    rng, rig = np.random.default_rng(seed), CanRig(monkeypatch)
    kinds = [list(ALL.values())[k] for k in rng.choice(len(ALL), size=4)]
    # from one frame in ten cycles to a storm
    most, left = int(rng.choice([1, 2, 5, 50])), FRAMES

    def any_of_them(rng):
        return kinds[rng.integers(len(kinds))](rng)

    rig.arm()
    rig.push = PUSH
    while left > 0:
        count = int(rng.integers(most + 1)) if rng.random() < 0.5 else 0
        left -= max(count, 1)
        rig.cycle(*(any_of_them(rng) for _ in range(count)))
        assert len(rig.loop._sent) <= 64 and len(rig.cards.own.counts) <= 32
        if rig.state == 'fault':
            left -= 45
            tempt(rig, rng, any_of_them)
            rig.push = PUSH


@pytest.mark.parametrize('kind', HARMLESS)
def test_frames_that_mean_nothing_do_not_stop_the_robot(rig, kind):
    rng = np.random.default_rng(1)
    rig.arm()
    rig.cycles(3, PUSH)
    for _ in range(100):
        assert any(rig.cycle(*(HARMLESS[kind](rng) for _ in range(int(rng.integers(5))))))
    assert rig.state == 'armed'


@pytest.mark.parametrize('kind', COMMANDS)
def test_one_command_of_another_master_takes_the_torque(rig, kind):
    rng = np.random.default_rng(2)
    for _ in range(20):
        rig.arm()
        rig.cycles(3, PUSH)
        assert any(rig.cycle())
        # one that comes behind the last sample is read at the next SYNC
        assert not any(rig.cycle(COMMANDS[kind](rng)) and rig.cycle())
        assert rig.state == 'fault' and 'foreign_command' in [
            f.kind for f in rig.supervisor.faults]
        rig.recover()
        rig.cycles(RECOVERED)
        assert rig.state == 'disarmed', rig.supervisor.faults


@pytest.mark.parametrize(('kind', 'frames'), [
    ('emergency', [frame(0x82, b'\x10\x23' + bytes(6))]),
    ('reboot', [frame(0x70B, b'\x00')]), ('nmt', [frame(0x703, b'\x04')]),
    ('nmt', [frame(0x701, b'\x7f')]), ('bus_off', [frame(0x40, bytes(8), is_error_frame=True)]),
    ('duplicate', [frame(0x18C, bytes(8))] * 3),
    ('range', [frame(0x18B, b'\xff\xff\xff\xff' + bytes(4))] * 2)])
def test_what_a_device_tells_of_itself_takes_the_torque(rig, kind, frames):
    rig.arm()
    rig.cycles(3, PUSH)
    assert any(rig.cycle())
    # of two samples of a device the last one counts; what comes behind it, at the next SYNC
    assert not any(rig.cycle(*frames) and rig.cycle(*frames))
    assert rig.state == 'fault' and kind in [f.kind for f in rig.supervisor.faults]


def bunched(rig, cycles, only=()):
    """Let the adapter hand over what has come only every so many cycles, of `only` or all."""
    answer = rig.bus._answer
    kept = []
    turn = 0

    def later():
        nonlocal turn
        answer()
        turn += 1
        held = [m for m in rig.bus.coming if not only or m.arbitration_id in only]
        kept.extend(held)
        rig.bus.coming[:] = [m for m in rig.bus.coming if m not in held]
        if turn % cycles == 0:
            rig.bus.coming += kept
            kept.clear()

    rig.bus._answer = later


@pytest.mark.parametrize('cycles', [3, 4, 7, 10])
def test_an_adapter_that_holds_frames_back_is_named_and_no_drive(rig, cycles):
    rig.arm()
    bunched(rig, cycles)
    rig.cycles(6 * cycles, PUSH)
    fault, = rig.supervisor.faults
    assert fault.kind == 'bunches' and f'bunches of up to {cycles}' in fault.text
    assert 'samples of all devices' in fault.text and 'latency' in fault.remedy
    assert not any(rig.cycle())


def test_one_card_that_holds_its_frames_back_is_named(rig):
    rig.arm()
    bunched(rig, 5, only=(0x182,))
    rig.cycles(30, PUSH)
    assert [f.kind for f in rig.supervisor.faults] == ['bunches']
    assert rig.supervisor.faults[0].text.startswith(f'samples of {rig.drives[1].name} arrive')


@pytest.mark.parametrize('cycles', [1, 2])
def test_bunches_within_the_missed_cycles_do_not_stop_the_robot(rig, cycles):
    rig.arm()
    bunched(rig, cycles)
    rig.cycles(200, PUSH)
    assert rig.state == 'armed' and not rig.supervisor.faults


def test_the_newest_sample_of_a_bunch_counts(rig):
    rig.arm()
    heard = []
    rig.loop._publish = lambda joints, stamp: heard.append(joints.steering[0])
    counts = iter(range(0, 4000, 8))
    answer = rig.bus._answer

    def turning():
        answer()
        value = next(counts)
        rig.bus.coming[:] = [frame(m.arbitration_id, ENCODER_SAMPLE.pack(value, 0, 0))
                             if m.arbitration_id == 0x18B else m for m in rig.bus.coming]

    rig.bus._answer = turning
    bunched(rig, 2)
    rig.cycles(40)
    # two counts of a cycle between samples of two cycles: the age does not vary
    steps = np.diff(heard[5:])
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    assert steps[0] != 0.0


def test_a_storm_of_emergencies_ends_in_one_fault_for_each_device(rig):
    rng = np.random.default_rng(3)
    rig.arm()
    for _ in range(50):
        rig.cycle(*(frame(0x80 + node(rng), b'\x10\x23' + data(rng, 6, 7)) for _ in range(200)))
    assert rig.state == 'fault' and len(rig.supervisor.faults) == len(NODES)
