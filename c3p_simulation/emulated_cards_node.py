# SPDX-License-Identifier: Apache-2.0
"""
Node: emulated motor cards and encoders with a simulated robot.

Communicates by CANopen on a bus, by default a pseudo terminal that the hardware interface opens
like a CAN adapter. Bus and robot run in a thread; the executor publishes ``ground_truth/odom`` and
diagnostics, and injects faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import can
from std_msgs.msg import String

from c3p_hardware.emulator.axes import DRIVE_VALUES, ENCODER_VALUES, EmulatedDevices
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.emulator.faults import FaultError
from c3p_hardware.emulator.motor_drive import DriveCard
from c3p_hardware.emulator.parameters import devices_of
from c3p_hardware.emulator.wiring import CardWiring, CardWiringError, wired
from c3p_hardware.transport.can_bus import BusAddress, open_bus
from c3p_hardware.transport.serial_can import PtyBus
from c3p_ros.cdr import MOST_TEXT
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.node import RELIABLE, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.session import run
from c3p_simulation.make_plant import plant_of_parameters, start_of_parameters
from c3p_simulation.publishers import GroundTruthPublisher
from c3p_simulation.worker import Worker

HERE = Path(__file__).parent

# value of bus.interface for a pseudo terminal
PTY = 'pty'


class EmulatedCardsNode(SuiteNode):
    """Adapter between parameters, topics and the emulated cards; runs their thread."""

    def __init__(self, **options: Any) -> None:
        """Switch the cards on."""
        super().__init__('emulated_cards', HERE / 'plant_parameters.yaml',
                         HERE / 'emulated_cards_parameters.yaml', **options)
        values = self.parameters.value
        # the cards count and delay; the robot itself publishes true angles
        plant = plant_of_parameters(values, self.robot, 'ideal')
        start_of_parameters(plant, values)
        devices = self._devices(values)
        self._bus = self._open_bus(values.bus)
        self.at_end(self._bus.shutdown)
        self.cards = EmulatedCards(self._bus, plant, devices, values.faults)
        self._truth_pub = GroundTruthPublisher(self)
        self.create_subscription(String, '~/inject', self._on_inject, RELIABLE)
        self.create_timer(1.0 / values.truth_rate, self._publish_truth)
        self.watch(self._on_watch)
        self._worker = Worker('emulated cards', self.cards.run)
        self.at_end(self._worker.stop)
        self._worker.start()

    def _devices(self, values: Any) -> EmulatedDevices:
        try:
            return wired(_settings(values), CardWiring.of(values.wiring), self.robot)
        except CardWiringError as error:
            raise ParameterError(f'emulated_cards: {error}') from error

    def _open_bus(self, bus: Any) -> can.BusABC:
        if bus.interface != PTY:
            return open_bus(BusAddress(bus.interface, bus.channel, bus.bitrate))
        try:
            opened = PtyBus(bus.channel)
        except can.CanInitializationError as error:
            raise ParameterError(f'emulated_cards: bus.{error}') from error
        self.get_logger().info(f'the cards are at bus.interface: serial, bus.channel: '
                               f'{opened.path}')
        return opened

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics: the state of each device, and of the bus."""
        cards = self.cards
        drives = {drive.name: ', '.join([drive.state.name, *(
            f'{axis.drive.state.value}, {axis.drive.torque_actual} permille'
            for axis in drive.axes)]) for drive in cards.drives}
        encoders = {encoder.name: f'{encoder.state.name}, {encoder.encoder.position} counts'
                    for encoder in cards.encoders}
        return {'time': f'{cards.time:.3f}', 'syncs': cards.syncs,
                'missed_syncs': cards.missed_syncs, 'dropped_frames': cards.dropped,
                'pauses': cards.pauses, 'lost_time': f'{cards.lost_time:.3f}', **drives,
                **encoders, 'faults': ' '.join(cards.present_faults) or 'none'}

    def _on_inject(self, message: String) -> None:
        try:
            if len(message.data) > MOST_TEXT:
                raise FaultError(f'{len(message.data)} letters: must be at most {MOST_TEXT}')
            self.cards.inject(message.data)
        except FaultError as error:
            self.diagnostics.refuse('~/inject', error)
        else:
            self.get_logger().warning(f'injected: {message.data}')

    def _publish_truth(self) -> None:
        self._truth_pub.publish(self.now_ns(), self.cards.truth)

    def _on_watch(self) -> None:
        self._worker.check()
        faults = ' '.join(self.cards.present_faults)
        self.diagnostics.condition('faults', WARN if faults else OK,
                                   f'injected on purpose: {faults}' if faults else 'none')


def _settings(values: Any) -> EmulatedDevices:
    """Return the settings of the cards from the parameters."""
    names = (*DRIVE_VALUES, *ENCODER_VALUES, 'drive_ids', 'encoder_ids', 'drive_serials',
             'encoder_serials', 'drive_joints', 'encoder_joints', 'drive_channels')
    return EmulatedDevices(
        drive=DriveCard(bandwidth=values.current_bandwidth, voltage=values.voltage),
        **devices_of({name: list(getattr(values, name)) for name in names}))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(EmulatedCardsNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
