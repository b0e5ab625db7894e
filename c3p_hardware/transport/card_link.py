# SPDX-License-Identifier: Apache-2.0
"""A robot's motor cards as one thing: connect, arm, command, recover, close."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import can

from c3p_description.model import Array, CasterRobot
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.joint_sensing import Joints, JointSensing
from c3p_hardware.settings import CardSettings
from c3p_hardware.supervisor import ArmState, Refused, Supervisor
from c3p_hardware.transport.can_bus import BusAddress, conversation, open_bus
from c3p_hardware.transport.card_bus import CardBus
from c3p_hardware.transport.configure import Identity, configure, start
from c3p_hardware.transport.cycle_loop import CycleLoop
from c3p_hardware.transport.own_frames import EchoProbe
from c3p_hardware.wheel_gate import GateSettings, WheelGate

# how often a request looks whether the cycle has carried it out, s
LOOK_PERIOD = 0.002


class CardLink:
    """
    Bus, devices, supervisor and cycle of one robot; methods may be called from any thread.

    Parameters
    ----------
    address : BusAddress
    robot : CasterRobot
    settings : CardSettings
    publish : callable
        Gets the joints of each complete cycle and its stamp, ns, in the thread of the cycle.
    stamp : callable
        Returns the time that joints are stamped with, ns.

    Attributes
    ----------
    drives, encoders : list
        As the bus tells of them.
    identities : list of Identity
        Who they are, after `connect`.
    """

    def __init__(self, address: BusAddress, robot: CasterRobot, settings: CardSettings,
                 publish: Callable[[Joints, int], None], stamp: Callable[[], int]) -> None:
        """Touch no bus yet."""
        self.address, self.settings = address, settings
        self._robot, self._publish, self._stamp = robot, publish, stamp
        self.drives = [Drive.of(d) for d in settings.drives]
        self.encoders = [Encoder.of(e) for e in settings.encoders]
        self.identities: list[Identity] = []
        self._supervisor = Supervisor(
            settings, self.drives, self.encoders,
            WheelGate(robot, GateSettings(settings.command_timeout, settings.stop_damping)))
        self._sensing = JointSensing(robot, settings, self.drives, self.encoders)
        self._bus: can.BusABC | None = None
        self._loop: CycleLoop | None = None

    @property
    def state(self) -> ArmState:
        """What the motors are allowed."""
        return self._supervisor.state

    @property
    def faults(self) -> list[str]:
        """Latched faults in words."""
        return [f'{fault}' for fault in self._supervisor.faults]

    @property
    def held(self) -> str:
        """Devices that are late, for which all torques are zero."""
        return self._supervisor.held

    @property
    def gate_reason(self) -> str:
        """Why the wheels brake although they are armed; empty while they follow."""
        return self._supervisor.gate.reason

    @property
    def failure(self) -> Exception | None:
        """What ended the thread of the cycle."""
        return self._loop.failure if self._loop else None

    def connect(self) -> None:
        """
        Open the bus, configure every device and begin the cycle.

        Raises
        ------
        BusError, ConfigurationError
            Nothing runs then, and the bus is closed.
        """
        self.close()
        self._bus = open_bus(self.address)
        try:
            with conversation(self._bus) as network:
                probe = EchoProbe(network, self.settings.master_id)
                self.identities = configure(network, self.settings)
                start(network, self.settings)
        except BaseException:
            self.close()
            raise
        bus = CardBus(self._bus, self.settings, self.drives, self.encoders, probe.echoes)
        self._loop = CycleLoop(self._robot, bus, self._sensing, self._supervisor, self._publish,
                               self._stamp)
        self._loop.start()

    def close(self) -> None:
        """
        Let the drives go, end the cycle and close the bus.

        Raises
        ------
        TimeoutError
            The interface does not come back; the bus is closed all the same.
        """
        loop, self._loop = self._loop, None
        try:
            if loop is not None:
                loop.stop()
        finally:
            bus, self._bus = self._bus, None
            if bus is not None:
                bus.shutdown()

    def allow(self, allowed: bool) -> None:
        """Allow arming, or forbid it and disarm."""
        with self._cycle().lock:
            self._supervisor.allowed = allowed
            if not allowed:
                self._supervisor.disarm()

    def command(self, torque: Array, stamp: int) -> None:
        """Take the wheels' torques (n,) N·m that answer the cycle with this stamp, ns."""
        loop = self._loop
        if loop is not None:
            loop.command(torque, stamp)

    def hold(self, reason: str) -> None:
        """Let the wheels brake because of `reason`, whatever is commanded; empty ends that."""
        loop = self._loop
        if loop is not None:
            with loop.lock:
                self._supervisor.gate.hold(reason)

    def arm(self) -> str:
        """
        Let the drives hold their wheels; return once they do.

        Raises
        ------
        Refused
            Not now; the text says why and what to do first.
        """
        with self._cycle().lock:
            self._supervisor.arm(time.monotonic())
        return self._wait(ArmState.ARMING, ArmState.ARMED)

    def disarm(self) -> str:
        """Take the voltage from the motors."""
        with self._cycle().lock:
            self._supervisor.disarm()
        return self.state.value

    def quick_stop(self) -> str:
        """Stop as after a fault."""
        with self._cycle().lock:
            self._supervisor.quick_stop()
        return 'stopping; ~/recover and ~/enable let it move again'

    def recover(self) -> str:
        """
        Reset faults, and configure again whoever lost its configuration; ends disarmed.

        Raises
        ------
        BusError, ConfigurationError, Refused
            The fault is still there.
        """
        if self.state != ArmState.FAULT:
            return f'nothing to recover from: {self.state.value}'
        if self._loop is None or self._supervisor.to_configure:
            self.connect()
        with self._cycle().lock:
            self._cycle().forget()
            self._supervisor.recover()
        return self._wait(ArmState.RECOVERING, ArmState.DISARMED)

    def count_afresh(self) -> str:
        """Begin the statistics again."""
        with self._cycle().lock:
            self._cycle().count_afresh()
        return 'latencies, cycles and overruns from now on'

    def figures(self) -> Mapping[str, Any]:
        """Return the figures of the cycle for the diagnostics."""
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
                'bus_load': f'{loop.load.share:.4f}',
                'frames_per_s': f'{loop.load.frames_per_s:.1f}',
                'faults': len(self._supervisor.faults), 'error_frames': bus.error_frames,
                'send_failures': bus.send_failures, 'malformed_frames': bus.malformed,
                'foreign_frames': bus.foreign,
                'foreign_command_frames': bus.own.counts.total(), 'bus': f'{self.address}'}

    def _cycle(self) -> CycleLoop:
        if self._loop is None:
            raise Refused('the bus is closed: ~/recover opens it again')
        return self._loop

    def _wait(self, way: ArmState, goal: ArmState) -> str:
        """Return once the cycle has left `way`; the supervisor itself sets the limit."""
        loop = self._cycle()
        while self.state == way and loop.failure is None:
            time.sleep(LOOK_PERIOD)
        if self.state != goal:
            raise Refused('; '.join(self.faults) or f'the motors are {self.state.value}')
        return goal.value
