# SPDX-License-Identifier: Apache-2.0
"""Motor cards of a robot: connect, arm, command, recover, close; from any thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import can

from c3p_description.model import Array, CasterRobot
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.joint_sensing import JointSensing, SensedJoints
from c3p_hardware.problem import Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.supervisor import ArmState, Refused, Supervisor
from c3p_hardware.transport.can_bus import BusAddress, EchoProbe, conversation, open_bus
from c3p_hardware.transport.card_bus import CardBus
from c3p_hardware.transport.configure import Identity, configure, start
from c3p_hardware.transport.cycle_loop import CycleLoop

# polling period of a request for its result, s
POLL_PERIOD = 0.002

# time that a request to recover waits for the end of a stop before it is rejected, s
REST_WITHIN = 0.3


class CardLink:
    """
    Bus, devices, supervisor and cycle of one robot.

    The cycle's thread steps the supervisor; every method here reaches it under the lock of the
    cycle.

    Parameters
    ----------
    address : BusAddress
    robot : CasterRobot
    settings : CardSettings
    publish : callable
        Called in the thread of the cycle with the joints of each complete cycle and its stamp, ns.
    stamp : callable
        Returns the time for the stamps of joints, ns.

    Attributes
    ----------
    command : callable
        Takes wheel torques (n,) N·m for the cycle with a stamp, ns: `CycleLoop.command` of the
        running cycle; without one the torques are dropped.
    drives, encoders : list
        State of the devices.
    identities : list of Identity
        Identities of the devices, after `connect`.
    """

    def __init__(self, address: BusAddress, robot: CasterRobot, settings: CardSettings,
                 publish: Callable[[SensedJoints, int], None], stamp: Callable[[], int]) -> None:
        """Prepare the devices; `connect` opens the bus."""
        self.address = address
        self.settings = settings
        self._publish = publish
        self._stamp = stamp
        self.command = _drop
        self.drives = [Drive.of(d) for d in settings.drives]
        self.encoders = [Encoder.of(e) for e in settings.encoders]
        self.identities: list[Identity] = []
        self._supervisor = Supervisor(robot, settings, self.drives, self.encoders)
        self._sensing = JointSensing(robot, settings, self.drives, self.encoders)
        self._bus: can.BusABC | None = None
        self._loop: CycleLoop | None = None

    @property
    def state(self) -> ArmState:
        """State of the motors."""
        return self._supervisor.state

    @property
    def faults(self) -> list[str]:
        """Texts of the latched faults."""
        return [f'{fault}' for fault in self._supervisor.faults]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The latched faults."""
        return tuple(self._supervisor.faults)

    @property
    def held(self) -> str:
        """Names of late devices, because of which all torques are zero."""
        return self._supervisor.held

    @property
    def gate_reason(self) -> str:
        """Reason of a closed gate: armed wheels brake; empty while they follow commands."""
        return self._supervisor.gate.reason

    @property
    def failure(self) -> Exception | None:
        """Exception that ended the thread of the cycle."""
        return self._loop.failure if self._loop else None

    def connect(self) -> None:
        """
        Open the bus, configure every device and begin the cycle.

        Raises
        ------
        BusError, ConfigurationError
            The bus is closed again.
        """
        self.close()
        self._bus = open_bus(self.address)
        try:
            with conversation(self._bus) as network:
                probe = EchoProbe(network, self.settings.master_id)
                self.identities = configure(network, self.settings)
                start(network, self.settings)
            for drive, identity in zip(self.drives, self.identities, strict=False):
                drive.know_ramp(identity.ramp)
        except BaseException:
            self.close()
            raise
        bus = CardBus(self._bus, self.settings, self.drives, self.encoders, probe.echoes)
        self._loop = CycleLoop(bus, self._sensing, self._supervisor, self._publish, self._stamp)
        self.command = self._loop.command
        self._loop.start()

    def close(self) -> None:
        """
        Disable the drives, end the cycle and close the bus.

        Raises
        ------
        TimeoutError
            The CAN interface blocks; the bus is closed nevertheless.
        """
        self.command = _drop
        loop = self._loop
        self._loop = None
        try:
            if loop is not None:
                loop.stop()
        finally:
            bus = self._bus
            self._bus = None
            if bus is not None:
                bus.shutdown()

    def allow(self, allowed: bool) -> None:
        """Allow arming, or forbid it and disarm."""
        with self._cycle().lock:
            self._supervisor.allowed = allowed
            if not allowed:
                self._supervisor.disarm()

    def hold(self, reason: str) -> None:
        """Brake the wheels because of `reason`, whatever is commanded; empty ends it."""
        loop = self._loop
        if loop is not None:
            with loop.lock:
                self._supervisor.hold(reason)

    def arm(self) -> str:
        """
        Enable the drives; return once they are enabled.

        Raises
        ------
        Refused
            Arming is rejected in the present state.
        """
        self._wait_for_rest(self._cycle())
        with self._cycle().lock:
            self._supervisor.arm(time.monotonic())
        return self._wait(ArmState.ARMING, ArmState.ARMED)

    def disarm(self) -> str:
        """Stop and disable the motors; return the state, 'stopping' until the robot stands."""
        with self._cycle().lock:
            self._supervisor.disarm()
        return self.state.value

    def quick_stop(self) -> str:
        """Stop as after a fault."""
        with self._cycle().lock:
            self._supervisor.quick_stop()
        return 'stopping; call ~/recover and ~/enable to drive again'

    def recover(self) -> str:
        """
        Reset the faults and configure devices that lost their configuration; ends disarmed.

        Raises
        ------
        BusError, ConfigurationError, Refused
            The fault is still present, a wheel turns, or a drive is in a stop.
        """
        if self.state != ArmState.FAULT:
            return f'no fault to recover from: {self.state.value}'
        loop = self._loop
        if loop is not None:
            self._wait_for_rest(loop)
            with loop.lock:
                self._supervisor.check_rest()
        if loop is None or self._supervisor.to_configure:
            self.connect()
        with self._cycle().lock:
            self._cycle().restart_sensing()
            self._supervisor.recover()
        return self._wait(ArmState.RECOVERING, ArmState.DISARMED)

    def reset_statistics(self) -> str:
        """Reset the statistics."""
        with self._cycle().lock:
            self._cycle().reset_statistics()
        return 'latencies, cycles and overruns are reset'

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics of the cycle for the diagnostics."""
        loop = self._loop
        if loop is None:
            return {'bus': 'closed', 'motors': self.state.value}
        shown = {**loop.latency.metrics('latency'), **loop.lateness.metrics('late'),
                 **loop.cost.metrics('cpu')}
        bus = loop.bus
        return {'cycles': loop.cycles - loop.counted_from, 'answered': loop.answered,
                'overruns': loop.overruns, 'missed_cycles': loop.incomplete, **shown,
                'motors': self.state.value, 'wheels': self.gate_reason or 'driven',
                'sync_rate_hz': f'{loop.rate:.2f}',
                'bus_load': f'{loop.load:.4f}', 'frames_per_s': f'{loop.frames_per_s:.1f}',
                'faults': len(self._supervisor.faults), 'error_frames': bus.error_frames,
                'send_failures': bus.send_failures, 'malformed_frames': bus.malformed,
                'foreign_frames': bus.foreign,
                'foreign_command_frames': bus.own.counts.total(), 'bus': f'{self.address}'}

    def _cycle(self) -> CycleLoop:
        if self._loop is None:
            raise Refused('the bus is closed: ~/recover opens it again')
        return self._loop

    def _wait_for_rest(self, loop: CycleLoop) -> None:
        """Return once a robot that stops stands, or after a while."""
        end = time.monotonic() + REST_WITHIN
        while loop.failure is None and time.monotonic() < end and (
                self.state == ArmState.STOPPING
                or self.state == ArmState.FAULT and self._supervisor.moving):
            time.sleep(POLL_PERIOD)

    def _wait(self, transient: ArmState, goal: ArmState) -> str:
        """Return once the state has left `transient`, which the supervisor limits in time."""
        loop = self._cycle()
        while self.state == transient and loop.failure is None:
            time.sleep(POLL_PERIOD)
        if self.state != goal:
            raise Refused('; '.join(self.faults) or f'the motors are {self.state.value}')
        return goal.value


def _drop(torque: Array, stamp: int) -> None:
    """Drop a command without a running cycle."""
