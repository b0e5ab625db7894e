# SPDX-License-Identifier: Apache-2.0
"""Emulated cards on a bus, against a master of another make and the plant that they drive."""

import math
import struct
import threading

import can
import canopen
import numpy as np
import pytest
from canopen.profiles.p402 import BaseNode402
from raw_master import DRIVES, ENCODERS, MASTER, PERIOD, Master

from c3p_description.reading.loader import load
from c3p_hardware.emulator.cards import EmulatedCards, EmulatedDevices
from c3p_hardware.emulator.device import EDS
from c3p_hardware.transport.serial_can import FastSerialBus, PtyBus
from c3p_simulation.make_plant import make_plant

ENABLED, DISABLED, STOPPING = 0x27, 0x40, 0x07


@pytest.fixture
def master(request):
    with Master(request.node.name) as made:
        yield made


@pytest.fixture
def running(master):
    master.configure()
    master.enable()
    master.cycle(0x0F)
    assert master.states() == [ENABLED] * 3
    return master


def test_everybody_boots_and_waits_without_torque(request):
    with Master(request.node.name) as master:
        assert {frame[1] for frame in master.log} == {0x700 + n for n in (*DRIVES, *ENCODERS)}
        assert all(frame[2] == b'\0' for frame in master.log)
        master.command(0x0F, (1000,) * 3)  # PDOs count in OPERATIONAL only
        master.advance(0.1)
        assert np.all(master.cards.sample.wheel_torque == 0)
        assert [master.sdo(n, 0x6041, code='<I') & 0x6F for n in DRIVES] == [0x40] * 3


def test_identities_and_units(master):
    assert [master.sdo(n, 0x1018, 4) for n in (*DRIVES, *ENCODERS)] == [
        1001, 1002, 1003, 2001, 2002, 2003]
    assert master.sdo(1, 0x1000) & 0xFFFF == 402 and master.sdo(11, 0x1000) & 0xFFFF == 406
    assert master.sdo(1, 0x6076) == 110 and master.sdo(1, 0x608F, 1) == 2000
    assert master.sdo(11, 0x6001) == master.sdo(11, 0x6002) == 4096


@pytest.mark.parametrize('node, index, subindex, value, code, abort', [
    (1, 0x6041, 0, 1, '<H', 0x06010002), (1, 0x5FFF, 0, 1, '<H', 0x06020000),
    (1, 0x1018, 9, None, '<I', 0x06090011), (1, 0x6060, 0, 8, '<b', 0x06090030),
    (1, 0x6060, 0, 11, '<b', 0x06090031), (1, 0x6007, 0, -1, '<h', 0x06090032),
    (1, 0x6040, 0, 1, '<I', 0x06070010), (1, 0x1A00, 1, 0x60640020, '<I', 0x08000022),
    (1, 0x1A00, 0, 0, '<B', 0x08000022), (11, 0x6003, 0, 4096, '<I', 0x06090030)])
def test_what_a_real_device_refuses_is_refused(master, node, index, subindex, value, code, abort):
    assert master.sdo(node, index, subindex, value, code) == -abort


def test_a_mapping_is_refused_when_it_cannot_be(master):
    assert master.sdo(1, 0x1800, 1, 0x80000181) >= 0
    assert master.sdo(1, 0x1A00, 0, 0, '<B') == 0
    assert master.sdo(1, 0x1A00, 1, 0x60410020) == -0x06040041  # 16 bits, not 32
    assert master.sdo(1, 0x1A00, 1, 0x60760020) == -0x06040041
    assert master.sdo(1, 0x1A00, 1, 0x12340010) == -0x06020000
    for k in (1, 2, 3):
        assert master.sdo(1, 0x1A00, k, 0x60640020) >= 0
    assert master.sdo(1, 0x1A00, 0, 3, '<B') == -0x06040042  # 96 bits
    assert master.sdo(1, 0x1A00, 0, 2, '<B') == 2


def test_one_sync_brings_six_samples_and_health_comes_by_itself(running):
    running.log.clear()
    for _ in range(40):
        running.cycle(0x0F)
    count = {n: sum(f[1] == 0x180 + n for f in running.log) for n in (*DRIVES, *ENCODERS)}
    assert set(count.values()) == {40}
    assert all(sum(f[1] == 0x280 + n for f in running.log) == 2 for n in DRIVES)  # 0.2 s
    assert struct.unpack('<bHIb', running.received[0x281]) == (10, 0, 24000, 30)
    assert all(sum(f[1] == 0x700 + n for f in running.log) == 4 for n in (*DRIVES, *ENCODERS))


def test_torque_turns_the_wheels_as_the_plant_alone_would(running):
    command, steps = (100, -50, 80), 60
    begin = running.cards.time
    for _ in range(steps):
        running.cycle(0x0F, command)
    # the same plant, with the lag's integral as a mean torque over each ms
    plant = make_plant('analytic', 'c3p')
    lag, torque, time = 2 * math.pi * 500, np.zeros(3), 0.0
    wanted = np.array(command) / 1000 * 1.232
    for k in range(round((running.cards.time - begin) * 1000)):
        # commands come one ms into the first cycle
        target = wanted if k >= 1 else np.zeros(3)
        share = (1 - math.exp(-lag * 1e-3)) / (lag * 1e-3)
        plant.step(target + (torque - target) * share, 1e-3)
        torque = target + (torque - target) * math.exp(-lag * 1e-3)
        time += 1e-3
    truth, sample = plant.truth(), running.cards.sample
    np.testing.assert_allclose(running.cards.truth.pose, truth.pose, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sample.wheel_angle, plant.sense().wheel_angle, rtol=0, atol=1e-9)
    running.cycle(0x0F)
    # read at the SYNC, which is one ms into the cycle: the sample before it is older by 1 ms
    for node, angle, rate in zip(DRIVES, sample.wheel_angle, sample.wheel_rate, strict=True):
        assert abs(running.drive(node)[1] - angle / (2 * math.pi) * 28000) <= (
            0.5 + abs(rate) * PERIOD / (2 * math.pi) * 28000)
    for node, angle in zip(ENCODERS, sample.steering, strict=True):
        told = running.encoder(node)[0] / 4096 * 2 * math.pi
        assert abs(math.remainder(told - angle, 2 * math.pi)) < 0.01


def test_the_same_frames_give_the_same_bits(request):
    ends = []
    for k in range(2):
        with Master(f'{request.node.name}{k}', faults='encoder_jump:encoder2@0.1+0.1') as master:
            master.configure()
            master.enable()
            for step in range(40):
                master.cycle(0x0F, (step, 2 * step, -step))
            ends.append((master.log, master.cards.truth.pose.tobytes()))
    assert ends[0] == ends[1] and len(ends[0][0]) > 300


def test_a_lost_master_stops_the_wheels_and_one_word_moves_nothing(running):
    for _ in range(100):
        running.cycle(0x0F, (200, 200, 200))
    rates = np.abs(running.cards.sample.wheel_rate)
    assert rates.max() > 2.0
    lost = running.cards.time
    while np.abs(running.cards.sample.wheel_rate).max() > 0.05:
        running.advance(0.001)
        assert running.cards.time < lost + 2.0
    stopping = running.cards.time - lost
    # the consumer time, then a ramp of 50 rad/s² followed 0.05 s behind; 0.15 more for the casters
    assert 0.145 < stopping < 0.15 + rates.max() / 50 + 0.05 * math.log(rates.max() / 0.05) + 0.15
    running.advance(0.3)
    emergencies = {f[1]: f[2][:2] for f in running.log if 0x81 <= f[1] <= 0x8F}
    assert emergencies == {0x80 + n: b'\x30\x81' for n in (*DRIVES, *ENCODERS)}
    assert [running.sdo(n, 0x6041) & 0x6F for n in DRIVES] == [DISABLED] * 3
    assert [running.sdo(n, 0x603F) for n in DRIVES] == [0x8130] * 3
    # a master that comes back as if nothing had been
    running.send(0, b'\x01\x00')
    pose = running.cards.truth.pose.copy()
    for _ in range(50):
        running.cycle(0x0F, (500, 500, 500))
        assert np.all(running.cards.sample.wheel_torque == 0)
    assert running.states() == [DISABLED] * 3
    # what rolls on with less than the rate that counts as standing, over 0.25 s
    assert np.abs(running.cards.truth.pose - pose).max() < 0.05 * 0.04 * 0.25
    assert [running.sdo(n, 0x603F) for n in DRIVES] == [0] * 3


def test_syncs_without_commands_or_heartbeats_do_not_keep_it_going(running):
    for _ in range(60):
        running.cycle(0x0F, (60, 60, 60), beat=False, silent=True)
    assert [running.sdo(n, 0x6041) & 0x6F for n in DRIVES] == [DISABLED] * 3


def test_leaving_operational_stops(running):
    for _ in range(20):
        running.cycle(0x0F, (60, 60, 60))
    running.send(0, b'\x02\x02')  # stop drive 2 only
    running.cycle(0x0F, (60, 60, 60))
    assert running.cards.devices['drive2'].drive.state.name == 'QUICK_STOP_ACTIVE'
    assert running.cards.devices['drive1'].drive.state.name == 'OPERATION_ENABLED'


def test_a_command_time_out_of_the_drive_itself(running):
    assert running.sdo(1, 0x1400, 5, 20, '<H') == 20
    running.cycle(0x0F, (60, 0, 0))
    for _ in range(20):
        running.cycle(0x0F, silent=True)
    # it leaves OPERATIONAL as well, and tells no samples any more
    assert [running.sdo(n, 0x6041) & 0x6F for n in DRIVES] == [DISABLED, ENABLED, ENABLED]
    assert (0x81, b'\x50\x82') in [(f[1], f[2][:2]) for f in running.log]


FAULT_EFFECTS = {
    'silence:drive2': lambda m: m.sampled == {1, 3, 11, 12, 13},
    'bus_off:drive2': lambda m: m.sampled == {1, 3, 11, 12, 13} and not m.torque()[1],
    'power_cut:all': lambda m: m.sampled == set() and not m.torque().any(),
    'power_cut:encoder1': lambda m: m.sampled == {1, 2, 3, 12, 13},
    'reboot:drive3': lambda m: m.sampled == {1, 2, 11, 12, 13} and not m.torque()[2],
    'wrong_mode:drive1': lambda m: m.sdo(1, 0x6061) == 8 and abs(m.torque()[0]) < 1e-9,
    'emcy:drive1': lambda m: m.states() == [0x08, 0x27, 0x27] and not m.torque()[0],
    'emcy=0x5000:encoder3': lambda m: m.encoder(13)[1] == 1 and m.received[0x8D][:2] == b'\0\x50',
    'encoder_jump=100:encoder1': lambda m: m.encoder(11)[0] - m.before in (99, 100, 101),
    'sto:drives': lambda m: m.states() == [0x40] * 3 and not m.drive(1)[0] & 0x10,
    'over_temperature:drive1': lambda m: m.drive(1)[0] & 0x80 and m.received[0x281][7] == 85,
    'wrong_serial:drive1': lambda m: m.sdo(1, 0x1018, 4) == 9999,
    'wrong_serial=7:encoder1': lambda m: m.sdo(11, 0x650B) == m.sdo(11, 0x1018, 4) == 7,
}


@pytest.mark.parametrize('script', FAULT_EFFECTS)
def test_a_fault_has_its_effect(script, running):
    running.torque = lambda: running.cards.sample.wheel_torque
    for _ in range(3):
        running.cycle(0x0F, (1, 1, 1))
    running.before = running.encoder(11)[0]
    running.cards.inject(script)
    running.cycle(0x0F, (1, 1, 1))
    running.log.clear()
    running.cycle(0x0F, (1, 1, 1))
    running.sampled = {f[1] - 0x180 for f in running.log if 0x180 < f[1] < 0x200}
    assert FAULT_EFFECTS[script](running)


def test_a_doubled_device_answers_twice(running):
    running.cards.inject('duplicate_id:drive1')
    running.cycle(0x0F)
    running.log.clear()
    running.cycle(0x0F)
    assert sum(f[1] == 0x181 for f in running.log) == 2


def test_a_stuck_encoder_stays(running):
    for _ in range(20):
        running.cycle(0x0F, (80, 80, -80))
    running.cards.inject('encoder_stuck:encoder1')
    seen = set()
    for _ in range(20):
        running.cycle(0x0F, (80, 80, -80))
        seen.add(running.encoder(11)[0])
    assert len(seen) <= 2  # the sample of the cycle in which it began


def test_devices_that_come_back_are_unconfigured_and_off(running):
    running.cards.inject('power_cut:drive1+0.05')
    for _ in range(60):
        running.cycle(0x0F, (60, 60, 60))
    assert sum(f[1:] == (0x701, b'\0') for f in running.log) == 2  # at the start, and again
    assert running.cards.devices['drive1'].state.name == 'PRE_OPERATIONAL'
    assert running.sdo(1, 0x6060) == 0 and running.sdo(1, 0x1016, 1) == 0
    assert running.sdo(1, 0x6041) & 0x6F == 0x40 and not running.cards.sample.wheel_torque[0]


def test_presets_and_mounting(request):
    settings = EmulatedDevices(steering_direction=(-1, 1, 1), steering_zero_counts=(100, 200, 300))
    with Master(request.node.name, settings=settings, steering=(math.pi / 2,) * 3) as master:
        assert [master.sdo(n, 0x6004) for n in ENCODERS] == [100 - 1024 + 4096, 1224, 1324]
        assert master.sdo(12, 0x6003, 0, 7) == 7
        assert master.sdo(12, 0x6004) == 7


@pytest.mark.parametrize('settings, words', [
    (EmulatedDevices(drive_ids=(1, 2)), 'drive_ids.*3 values, one per joint'),
    (EmulatedDevices(drive_ids=(1, 2, 11)), 'must be different'),
    (EmulatedDevices(wheel_direction=(1, -1)), 'wheel_direction')])
def test_settings_that_cannot_be_are_refused(settings, words):
    with (can.Bus('refused', interface='virtual') as bus,
          pytest.raises(ValueError, match=words)):
        EmulatedCards(bus, make_plant('analytic', load('c3p')), settings)


@pytest.mark.parametrize('data', [b'', b'\x40', bytes(7), bytes(8), b'\xff' * 8, b'\xa0' * 8,
                                  b'\x60' + bytes(7), b'\x00' * 8])
def test_nonsense_does_no_harm(master, data):
    for number in (*range(0x600, 0x610), 0x201, 0x7E5, 0x77F, 0x000, 0x080):
        master.send(number, data)
    master.advance(0.01)
    assert master.sdo(1, 0x6076) == 110


def test_canopens_own_master_configures_and_drives():
    stop = threading.Event()
    with can.Bus('canopen', interface='virtual') as bus:
        cards = EmulatedCards(bus, make_plant('analytic', 'c3p'))
        thread = threading.Thread(target=cards.run, args=(stop,))
        thread.start()
        network = canopen.Network()
        try:
            network.connect(interface='virtual', channel='canopen')
            node = network.add_node(BaseNode402(1, canopen.import_od(
                str(EDS / 'motor_drive.eds'), 1)))
            node.sdo.RESPONSE_TIMEOUT = 10.0
            for limit in ('RESET_FAULT', 'SWITCH_OP_MODE', 'SWITCH_STATE_FINAL',
                          'SWITCH_STATE_SINGLE', 'CHECK_TPDO'):
                setattr(node, f'TIMEOUT_{limit}', 10.0)
            node.tpdo.read()
            node.rpdo.read()
            for pdo, kind, entries in ((node.tpdo[1], 1, (0x6041, 0x6064, 0x6077)),
                                       (node.rpdo[1], 255, (0x6040, 0x6071))):
                pdo.clear()
                for index in entries:
                    pdo.add_variable(index)
                pdo.trans_type, pdo.enabled = kind, True
                pdo.save()
            network.sync.start(0.005)
            node.nmt.state = 'OPERATIONAL'
            node.setup_402_state_machine(read_pdos=False)
            node.op_mode = 'CYCLIC SYNCHRONOUS TORQUE'
            assert node.op_mode == 'CYCLIC SYNCHRONOUS TORQUE'
            node.state = 'OPERATION ENABLED'
            assert node.state == 'OPERATION ENABLED'
            node.rpdo[1][0x6071].raw = 100
            node.rpdo[1].transmit()
            for _ in range(10000):
                node.tpdo[1].wait_for_reception(10.0)
                if node.tpdo[1][0x6064].raw > 200:
                    break
            assert node.tpdo[1][0x6077].raw == 100
            assert node.tpdo[1][0x6064].raw > 200
            node.state = 'SWITCH ON DISABLED'
            assert node.state == 'SWITCH ON DISABLED'
        finally:
            network.sync.stop()
            network.disconnect()
            stop.set()
            thread.join(20.0)
    assert MASTER == 127 and not thread.is_alive()


def test_a_bus_that_nobody_reads_costs_frames_and_nothing_else(tmp_path):
    with PtyBus(tmp_path / 'can') as ours:
        cards = EmulatedCards(ours, make_plant('analytic', 'c3p'))
        with FastSerialBus(ours.path) as peer:
            # a heartbeat each ms, for a peer that does not read them and then goes
            peer.send(can.Message(arbitration_id=0x601, is_extended_id=False,
                                  data=struct.pack('<BHBH2x', 0x2B, 0x1017, 0, 1)))
            while not cards.dropped:
                cards.advance(0.1)
                assert cards.time < 100.0
        cards.advance(0.01)
        with FastSerialBus(ours.path) as peer:
            cards.advance(0.0105)
            assert 9 <= len(list(iter(lambda: peer.recv(0), None))) <= 12
