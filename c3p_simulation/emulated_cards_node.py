# SPDX-License-Identifier: Apache-2.0
"""
Node: the motor cards and encoders of a robot, emulated, with a simulated robot behind them.

Speaks CANopen on a bus, by default a pseudo terminal that the hardware interface opens as it would
open a CAN adapter. The bus and the robot live in a thread of their own; the executor publishes
``ground_truth/odom`` and diagnostics and takes faults.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import can
from nav_msgs.msg import Odometry
from std_msgs.msg import String

from c3p_hardware.emulator.absolute_encoder import EncoderCard
from c3p_hardware.emulator.cards import EmulatedCards, EmulatedDevices
from c3p_hardware.emulator.faults import FaultError
from c3p_hardware.emulator.motor_drive import DriveCard
from c3p_hardware.transport.can_bus import BusAddress, open_bus
from c3p_hardware.transport.serial_can import PtyBus
from c3p_ros.cdr import MOST_TEXT
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.messages import pose_numbers, twist_numbers
from c3p_ros.node import RECORDED, RELIABLE, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.session import run
from c3p_ros.wire import OdometryWriter
from c3p_simulation.make_plant import plant_of_parameters, start_of_parameters

HERE = Path(__file__).parent

# what the word pty means as an interface
PTY = 'pty'


class EmulatedCardsNode(SuiteNode):
    """Adapter between parameters, topics and the emulated cards; owns their thread."""

    def __init__(self, **options: Any) -> None:
        """Switch the cards on."""
        super().__init__('emulated_cards', HERE / 'plant_parameters.yaml',
                         HERE / 'emulated_cards_parameters.yaml', **options)
        values = self.parameters.value
        # the cards count and delay; the robot itself tells true angles
        plant = plant_of_parameters(values, self.robot, 'ideal')
        start_of_parameters(plant, values)
        self._bus = self._open_bus(values.bus)
        try:
            self.cards = EmulatedCards(self._bus, plant, _settings(values), values.faults)
        except ValueError:
            self._bus.shutdown()
            raise
        self._failure: Exception | None = None
        self._stop = threading.Event()
        self._write_truth = OdometryWriter('odom', 'base_link', 'ground_truth/odom')
        self._truth_pub = self.create_publisher(Odometry, 'ground_truth/odom', RECORDED)
        self.create_subscription(String, '~/inject', self._on_inject, RELIABLE)
        self.create_timer(1.0 / values.truth_rate, self._publish_truth)
        self.watch(self._on_watch)
        self._thread = threading.Thread(target=self._run, name='emulated cards', daemon=True)
        self._thread.start()

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
        drives = {drive.name: f'{drive.state.name}, {drive.drive.state.value}, '
                              f'{drive.drive.torque_actual} permille' for drive in cards.drives}
        encoders = {encoder.name: f'{encoder.state.name}, {encoder.encoder.position} counts'
                    for encoder in cards.encoders}
        return {'time': f'{cards.time:.3f}', 'syncs': cards.syncs,
                'missed_syncs': cards.missed_syncs, 'dropped_frames': cards.dropped,
                'pauses': cards.pauses, 'lost_time': f'{cards.lost_time:.3f}', **drives,
                **encoders, 'faults': ' '.join(cards.present_faults) or 'none'}

    def destroy_node(self) -> None:
        """Stop the thread, close the bus, then the node."""
        self._stop.set()
        self._thread.join(timeout=2.0)
        self._bus.shutdown()
        super().destroy_node()

    def _run(self) -> None:
        try:
            self.cards.run(self._stop)
        except Exception as error:
            # raised again where the executor sees it: without this thread there are no cards
            self._failure = error

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
        truth = self.cards.truth
        self.send(self._truth_pub, self._write_truth, self.now_ns(), pose_numbers(truth.pose),
                  twist_numbers(truth.twist))

    def _on_watch(self) -> None:
        if self._failure is not None:
            raise self._failure
        faults = ' '.join(self.cards.present_faults)
        self.diagnostics.condition('faults', WARN if faults else OK,
                                   f'injected on purpose: {faults}' if faults else 'none')


def _settings(values: Any) -> EmulatedDevices:
    """Return the cards that the parameters describe."""
    numbered = {name: () if list(getattr(values, name)) == [0] else tuple(getattr(values, name))
                for name in ('drive_ids', 'encoder_ids', 'drive_serials', 'encoder_serials')}
    return EmulatedDevices(
        drive=DriveCard(values.rated_torque, values.gear_ratio, values.efficiency,
                        values.wheel_counts, bandwidth=values.current_bandwidth,
                        voltage=values.voltage),
        encoder=EncoderCard(values.steering_counts),
        **numbered,
        **{name: tuple(getattr(values, name)) for name in (
            'wheel_direction', 'steering_direction', 'steering_zero_counts')})


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(EmulatedCardsNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
