# SPDX-License-Identifier: Apache-2.0
"""Holding brakes: their order with the torque, at a normal stop, at a fault and at the start."""

from dataclasses import replace

import numpy as np
import pytest
from device_bench import PUSH, ZERO, CardBench, card_settings_of, torques

from c3p_hardware.canopen.cia402 import MODE_CSV, POWERED, ControlwordCommand, DriveState
from c3p_hardware.emulator.motor_drive import DriveCard, MotorDrive
from c3p_hardware.settings import CardError
from c3p_hardware.supervisor import ArmState

CLOSE, OPEN = 0.05, 0.1
OFF = ControlwordCommand.DISABLE_VOLTAGE.word
STOP = ControlwordCommand.QUICK_STOP.word


def braked_settings(**changes):
    """Return settings whose drives have holding brakes."""
    plain = card_settings_of()
    drives = tuple(replace(drive, brake=True) for drive in plain.drives)
    return card_settings_of(drives=drives, brake_close_time=CLOSE, brake_open_time=OPEN,
                            **changes)


@pytest.fixture
def bench():
    return CardBench(braked_settings())


def closed(orders):
    """Return what the orders say to the brakes: all closed, or all open."""
    (found,) = {order.brake for order in orders}
    return found


def arm(bench):
    """Arm; return the states of drives and brakes at each cycle."""
    bench.cycle(ZERO)
    bench.supervisor.arm(bench.now)
    seen = []
    for _ in range(60):
        orders = bench.cycle(ZERO)
        # by the samples of this cycle
        powered = all(d.state is DriveState.OPERATION_ENABLED for d in bench.drives)
        seen.append((powered, closed(orders), bench.state))
        if bench.state == ArmState.ARMED:
            break
    return seen


def test_it_opens_after_the_torque_is_on_and_the_robot_is_armed_after_that(bench):
    assert closed(bench.cycle(ZERO)) is True
    seen = arm(bench)
    assert bench.state == ArmState.ARMED
    first_open = next(k for k, (_, shut, _) in enumerate(seen) if not shut)
    enabled = [k for k, (powered, _, _) in enumerate(seen) if powered]
    # never open before a drive has said that it has torque
    assert all(shut for powered, shut, _ in seen if not powered) and enabled[0] <= first_open
    assert len(seen) - 1 - first_open == pytest.approx(OPEN / bench.settings.period, abs=2)
    assert torques(bench.cycle(PUSH)) == [243, -162, 81] and closed(bench.cycle(PUSH)) is False


def test_at_a_normal_stop_it_closes_before_the_torque_ends(bench):
    arm(bench)
    bench.supervisor.disarm()
    seen = []
    for _ in range(40):
        orders = bench.cycle()
        seen.append((closed(orders), {o.controlword for o in orders}))
        if bench.slave(1).state is DriveState.QUICK_STOP_ACTIVE:
            break
    # closed in the first cycle, and the word that ends the torque comes `CLOSE` later
    assert all(shut for shut, _ in seen)
    kept = [words for _, words in seen if words == {15}]
    assert len(kept) == pytest.approx(CLOSE / bench.settings.period, abs=2)
    assert seen[-1][1] == {STOP}
    bench.come_to_rest()
    assert bench.state == ArmState.DISARMED and closed(bench.cycle()) is True


def roll(bench, speed):
    """Let the counts of all drives move as those of a robot at `speed`, m/s, do, for a cycle."""
    units = bench.settings.drives[0].units
    step = speed / 0.04 * bench.settings.period / units.angle_resolution
    for slave in bench.slaves[:3]:
        slave.travelled = getattr(slave, 'travelled', 0.0) + step
        slave.position = round(slave.travelled)


def test_a_robot_that_moves_brakes_by_its_ramp_and_then_closes_it(bench):
    arm(bench)
    for drive in bench.drives:
        # 2 m/s² on wheels of 4 cm
        drive.ramp = 50.0
    for _ in range(20):
        roll(bench, 0.5)
        bench.cycle(PUSH)
    bench.supervisor.disarm()
    speed, found = 0.5, []
    for _ in range(60):
        speed = max(0.0, speed - 2.0 * bench.settings.period)
        roll(bench, speed)
        orders = bench.cycle()
        found.append((speed, closed(orders), orders[0].controlword))
    # the ramp is ordered at once
    assert found[0] == (pytest.approx(0.49), False, STOP)
    first = next(at for at, shut, _ in found if shut)
    # the last 0.1 s and less of the ramp of 0.25 s; the rate is measured over 25 ms
    assert 0.0 < first <= 0.1
    assert not any(shut for at, shut, _ in found if at > 0.1)
    # still with torque: the drives had not come to rest
    assert bench.slave(1).state in POWERED


@pytest.mark.parametrize('happens', ['fault of one drive', 'quick stop without effect'])
def test_at_a_fault_it_closes_when_the_torque_ends(bench, happens):
    arm(bench)
    for _ in range(20):
        roll(bench, 0.5)
        bench.cycle(PUSH)
    if happens == 'fault of one drive':
        bench.slave(2).state = DriveState.FAULT
        roll(bench, 0.5)
        orders = bench.cycle(PUSH)
        assert bench.state == ArmState.FAULT
        # the others brake with their motors
        assert [order.brake for order in orders] == [False, True, False]
        return
    bench.supervisor.quick_stop()
    for _ in range(200):
        roll(bench, 0.5)
        orders = bench.cycle()
        # in the same cycle as the word without voltage
        assert [order.brake for order in orders] == [o.controlword == OFF for o in orders]
        if orders[0].controlword == OFF:
            break
    assert {order.controlword for order in orders} == {OFF}


def test_brakes_without_effect_are_a_fault_that_names_the_emergency_stop(bench):
    arm(bench)
    for _ in range(20):
        roll(bench, 0.5)
        bench.cycle(PUSH)
    for slave in bench.slaves[:3]:
        slave.state = DriveState.FAULT
    for _ in range(90):
        roll(bench, 0.5)
        bench.cycle()
    found = [fault for fault in bench.supervisor.faults if fault.kind == 'holding']
    (only,) = found
    assert 'the robot moves at 0.50 m/s; the emergency stop (STO) remains' in only.text


def test_a_robot_that_is_pushed_after_its_standstill_is_not_a_fault(bench):
    bench.cycle(ZERO)
    for _ in range(200):
        roll(bench, 0.5)
        bench.cycle()
    assert bench.supervisor.faults == []


def test_a_drive_without_one_gets_no_order_for_it():
    plain = card_settings_of()
    first, *others = plain.drives
    bench = CardBench(card_settings_of(drives=(replace(first, brake=True), *others)))
    arms = [o.brake for o in bench.cycle(ZERO)]
    assert arms == [True, None, None]
    assert CardBench().arm().supervisor._brakes is None
    assert [len(order.pack()) for order in bench.cycle(ZERO)] == [8, 4, 4]


def test_it_needs_a_motor_and_the_torque_mode():
    drive = card_settings_of().drives[0]
    with pytest.raises(CardError, match='must be false in the mode velocity'):
        replace(drive, brake=True, mode=MODE_CSV)
    with pytest.raises(CardError, match='must be false without a motor; correct drives.brakes'):
        replace(drive, brake=True, driven=False)


# -- the emulated brake -------------------------------------------------------------------------

INERTIA = 0.016
# of a third of 30 kg on a slope of 5 %, on a wheel of 4 cm, N·m
SLOPE = 0.2


class Joint:
    """A wheel with its drive under a constant torque."""

    def __init__(self, **card):
        self.drive = MotorDrive(DriveCard(**card))
        self.drive.mode = 10
        self.drive.outputs_mask = 1
        self.angle = self.rate = 0.0

    def run(self, seconds, word=None, outputs=None):
        """Let time pass with a controlword and digital outputs; return the largest turn, rad."""
        if word is not None:
            self.drive.command(word)
        self.drive.outputs = self.drive.outputs if outputs is None else outputs
        begin = most = self.angle
        for _ in range(round(seconds / 0.001)):
            torque = self.drive.step(0.001, self.angle, self.rate) + SLOPE
            self.rate += torque / INERTIA * 0.001
            self.angle += self.rate * 0.001
            most = max(most, abs(self.angle - begin))
        return most - begin if begin > most else most


def test_a_brake_holds_a_robot_on_a_slope_whose_torque_is_removed():
    assert Joint().run(1.0) > 5.0
    joint = Joint(brake_torque=2.0)
    # deflection, T/k
    assert joint.run(2.0) == pytest.approx(SLOPE / 25.0, rel=0.6) and abs(joint.rate) < 1e-3
    for word in (6, 7, 15):
        joint.run(0.01, word, outputs=1)
    assert joint.drive.brake_closed
    begin = joint.angle
    joint.run(0.5, outputs=0b1)
    assert abs(joint.angle - begin) < 0.01
    # opened: it rolls, and is held again where it is
    joint.run(0.2, outputs=0)
    assert not joint.drive.brake_closed and joint.rate > 0.5
    joint.run(0.3, outputs=1)
    place = joint.angle
    joint.run(1.0)
    assert abs(joint.angle - place) < 0.01


@pytest.mark.parametrize('lost', ['voltage off', 'master', 'fault', 'safe torque off'])
def test_the_card_closes_it_when_its_power_stage_is_off(lost):
    joint = Joint(brake_torque=2.0)
    for word in (6, 7, 15):
        joint.run(0.005, word, outputs=0)
    joint.run(0.1)
    assert not joint.drive.brake_closed
    drive = joint.drive
    {'voltage off': lambda: drive.command(0), 'fault': lambda: drive.fail(0x2310),
     'master': lambda: drive.connection_lost(0x8130),
     'safe torque off': lambda: setattr(drive, 'safe_torque_off', True)}[lost]()
    joint.run(1.0)
    place = joint.angle
    joint.run(1.0)
    assert drive.brake_closed and abs(joint.angle - place) < 1e-3


def test_a_brake_slips_above_its_torque():
    joint = Joint(brake_torque=0.1)
    joint.run(1.0)
    # (0.2 − 0.1) N·m on 0.016 kg·m²
    assert joint.rate == pytest.approx(0.1 / INERTIA, rel=0.05)
    assert np.isfinite(joint.angle)
    with pytest.raises(ValueError, match=r'brake_torque = -1: must be 0 \(no brake\)'):
        DriveCard(brake_torque=-1)
