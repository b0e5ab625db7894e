# SPDX-License-Identifier: Apache-2.0
"""Stop doctrine in random sequences of commands, faults and losses."""

import numpy as np
import pytest
from device_bench import PUSH, ZERO, CardBench, card_settings_of, torques
from device_faults import ENABLE_OPERATION, ENCODER, FAULTS, TOWARDS_POWER, heal
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from c3p_hardware.canopen.cia402 import POWERED, DriveState
from c3p_hardware.supervisor import ArmState, Refused


class Master(RuleBasedStateMachine):
    """Random lives of a robot; what must hold holds after every single order."""

    @initialize(quick=st.booleans(), damping=st.sampled_from([0.0, 0.1]))
    def begin(self, quick, damping):
        self.bench = CardBench(card_settings_of(quick_stop=quick, stop_damping=damping,
                                                arming_timeout=0.2))
        self.armed = False  # an `arm` was granted, and no fault or disarming since
        self.pressed = False  # a torque was commanded before the drives held, and no zero since

    @rule(torque=st.sampled_from([None, ZERO, PUSH, -PUSH, 9 * PUSH]), cycles=st.integers(1, 15),
          lost=st.sets(st.sampled_from([1, 2, 3, 11, 12, 13]), max_size=2),
          rate=st.sampled_from([ZERO, PUSH, -20 * PUSH]))
    def pass_cycles(self, torque, cycles, lost, rate):
        self.bench.wheel_rate = rate
        for _ in range(cycles):
            before = self.bench.state
            orders = self.bench.cycle(torque, lost)
            if torque is not None and (not torque.any() or before != ArmState.ARMED):
                self.pressed = bool(torque.any())
            self.check(orders, before)

    def check(self, orders, before):
        bench, state = self.bench, self.bench.state
        if state == ArmState.FAULT:
            self.armed = False
        assert self.armed == (state in (ArmState.ARMING, ArmState.ARMED))
        for order, drive in zip(orders, bench.drives, strict=True):
            if order.controlword in TOWARDS_POWER:
                assert self.armed
            if order.torque:
                assert state == before == ArmState.ARMED or before == ArmState.ARMING
                assert order.controlword == ENABLE_OPERATION
                assert abs(order.torque) <= drive.settings.max_permille
        if state == ArmState.DISARMED != before:
            assert not any(d.state in POWERED for d in bench.drives)
        if state == ArmState.ARMED != before:
            assert all(d.behind <= bench.settings.missed_cycles for d in bench.devices)
        if any(torques(orders)):
            assert all(d.state == DriveState.OPERATION_ENABLED for d in bench.drives)
            assert all(d.behind <= bench.settings.missed_cycles for d in bench.devices)
            power = np.array(torques(orders)) * bench.wheel_rate
            assert bench.gate.open or np.all(power <= 0)
            assert not (bench.gate.open and self.pressed)
        if state == ArmState.ARMED:
            assert all(o.controlword == ENABLE_OPERATION for o in orders)
        assert (state == ArmState.FAULT) == bool(bench.supervisor.faults)

    @rule()
    def arm(self):
        newest, age = self.bench.gate.newest(self.bench.now)
        try:
            self.bench.supervisor.arm(self.bench.now)
        except Refused:
            return
        assert self.armed or (not newest.any() and age <= self.bench.settings.command_timeout)
        self.armed = True

    @rule()
    def arm_completely(self):
        """Do what a careful user does, so that the machine is often armed."""
        if self.bench.state == ArmState.FAULT:
            heal(self.bench)
            self.bench.come_to_rest()
            self.recover()
        self.pass_cycles(ZERO, 25, (), ZERO)
        self.arm()
        self.pass_cycles(ZERO, 5, (), ZERO)

    # one rule for all that ends driving, so that as many rules drive as stop

    @rule(what=st.sampled_from(['disarm', 'recover', 'quick_stop', 'breaks', 'state']),
          name=st.sampled_from(sorted(FAULTS)), drive=st.integers(1, 3),
          state=st.sampled_from([s for s in DriveState if s != DriveState.UNKNOWN]),
          then=st.sampled_from([None, 11, 12]))
    def trouble(self, what, name, drive, state, then):
        """Send a request or break a device, perhaps while an encoder is late."""
        supervisor, before = self.bench.supervisor, self.bench.state
        if then and what == 'state' and before == ArmState.ARMED:
            self.pass_cycles(PUSH, 4, {then}, ZERO)
        if what == 'disarm':
            supervisor.disarm()
        elif what == 'recover':
            self.recover()
        elif what == 'quick_stop':
            supervisor.quick_stop()
        elif what == 'breaks':
            node, happen, *_ = FAULTS[name]
            happen(self.bench.slave(drive + (10 if node == ENCODER else 0)))
        else:
            self.bench.slave(drive).state = state
        if what in ('disarm', 'quick_stop') or before == ArmState.FAULT or (
                supervisor.state not in (ArmState.ARMING, ArmState.ARMED)):
            self.armed = False
        if then:
            self.pass_cycles(PUSH, 3, {then}, ZERO)

    def recover(self):
        faults, moving = list(self.bench.supervisor.faults), self.bench.supervisor.moving
        try:
            self.bench.supervisor.recover()
        except Refused:
            assert moving and self.bench.supervisor.faults == faults

    @rule()
    def all_is_well_again(self):
        for slave in self.bench.slaves:
            slave.quick_stop_ended()
        heal(self.bench)

    @precondition(lambda self: self.bench.state == ArmState.FAULT)
    @rule()
    def a_fault_is_not_armed_away(self):
        with pytest.raises(Refused):
            self.bench.supervisor.arm(self.bench.now)

    @invariant()
    def a_fault_is_told(self):
        if hasattr(self, 'bench') and self.bench.state == ArmState.FAULT:
            assert all(f.device and f.text and f.remedy for f in self.bench.supervisor.faults)


TestMaster = Master.TestCase
TestMaster.settings = hypothesis_settings(max_examples=100, stateful_step_count=30, deadline=None)
