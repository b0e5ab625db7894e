# SPDX-License-Identifier: Apache-2.0
"""
Cost, jitter and throughput of the CANopen cycle against emulated cards in another process.

One cycle is SYNC, six samples, three orders. The bus is a pseudo terminal, so that everything but
the wire is measured. Each line is a process of its own with cards of its own:

    interface   the cycle as the node runs it: sensing, supervisor, statistics; orders of zero
    frames      the bare exchange with our frames and FastSerialBus
    python-can  the same bare exchange with python-can's own SerialBus
    canopen     canopen's PDO objects and SYNC on FastSerialBus, read by its notifier thread

CPU is that of all threads of the process, per cycle. Late is how far behind its deadline a cycle
begins; answered is from SYNC until the last order is sent. The lines take turns, and the ratio is
the median of the ratios to `frames` in the same turn.

    python benchmarks/bench_can.py [--seconds 5] [--rates 200 400] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

KINDS = ('interface', 'frames', 'python-can', 'canopen')
HEADER = ('what', 'rate [Hz]', 'CPU [us/cycle]', 'ratio', 'late p50 [ms]', 'p99', 'max',
          'answered p50 [ms]', 'p99', 'max', 'incomplete', 'cycles/s', 'frames/s')

# before anything counts, s
WARM_UP = 1.0
# samples may take this part of a period, as in the node
SAMPLES_BY = 0.6


def cards(channel: str) -> None:
    """Be the cards of a robot until the end of standard input."""
    from c3p_description import load
    from c3p_hardware.emulator.cards import EmulatedCards
    from c3p_hardware.transport.serial_can import PtyBus
    from c3p_simulation.plants.plant import AnalyticPlant

    stop, bus = threading.Event(), PtyBus(channel)
    emulated = EmulatedCards(bus, AnalyticPlant(load('c3p')))
    thread = threading.Thread(target=emulated.run, args=(stop,))
    thread.start()
    print('ready', flush=True)
    sys.stdin.read()
    stop.set()
    thread.join()
    bus.shutdown()


def card_settings(rate: float):
    """Return the robot and its cards' settings; nobody is a fault because the machine is busy."""
    from c3p_description import load
    from c3p_hardware.canopen.process_data import DriveUnits
    from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings

    robot = load('c3p')
    units = DriveUnits(0.11, 14.0, 0.8, 2000, 1)
    return robot, CardSettings(
        tuple(DriveSettings(1 + i, name, units, 1.2) for i, name in enumerate(robot.wheel_joints)),
        tuple(EncoderSettings(11 + i, name) for i, name in enumerate(robot.steering_joints)),
        rate=rate, silence_timeout=5.0, heartbeat_timeout=10.0, heartbeat_period=0.1)


class Meter:
    """Times of cycles and CPU of this process since `begin`."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self.counting = False

    def begin(self) -> None:
        """Count from here on."""
        self.late, self.answered, self.cycles, self.incomplete, self.frames = [], [], 0, 0, 0
        self.time, self.cpu, self.counting = time.monotonic(), time.process_time(), True

    def result(self) -> dict[str, float]:
        """Return the figures since `begin`."""
        took, cpu = time.monotonic() - self.time, time.process_time() - self.cpu
        return {'cpu': 1e6 * cpu / self.cycles, **quantiles('late', self.late),
                **quantiles('answered', self.answered), 'incomplete': self.incomplete,
                'cycles': self.cycles / took, 'frames': self.frames / took}


def quantiles(name: str, values: list[float]) -> dict[str, float]:
    """Return p50, p99 and the largest of times, in ms."""
    values = sorted(values) or [float('nan')]
    at = {'p50': len(values) // 2, 'p99': min(len(values) - 1, int(0.99 * len(values))),
          'max': len(values) - 1}
    return {f'{name}_{key}': 1e3 * values[place] for key, place in at.items()}


def interface(channel: str, rate: float, seconds: float) -> dict[str, float]:
    """Measure the cycle of the node."""
    from c3p_hardware.transport.can_bus import BusAddress
    from c3p_hardware.transport.card_bus import CardBus
    from c3p_hardware.transport.card_link import CardLink

    robot, settings = card_settings(rate)
    asked, answered = [0.0], []
    sync, order = CardBus.sync, CardBus.order

    def timed_sync(bus):
        asked[0] = sync(bus)
        return asked[0]

    def timed_order(bus, orders):
        order(bus, orders)
        answered.append(time.monotonic() - asked[0])

    CardBus.sync, CardBus.order = timed_sync, timed_order
    link = CardLink(BusAddress('serial', channel), robot, settings,
                    # answers at once: the controllers' computing time is not part of the bus
                    lambda joints, stamp: link.command(0.0 * joints.wheel_rate, stamp),
                    time.time_ns)
    link.connect()
    time.sleep(WARM_UP)
    link.reset_statistics()
    answered.clear()
    loop = link._loop
    cycles, begin, cpu = loop.cycles, time.monotonic(), time.process_time()
    time.sleep(seconds)
    cycles, took, cpu = (loop.cycles - cycles, time.monotonic() - begin,
                         time.process_time() - cpu)
    late = {f'late_{key}': 1e3 * value for key, value in (
        ('p50', loop.lateness.quantile(0.5)), ('p99', loop.lateness.quantile(0.99)),
        ('max', loop.lateness.largest))}
    result = {'cpu': 1e6 * cpu / cycles, **late, **quantiles('answered', list(answered)),
              'incomplete': loop.incomplete, 'cycles': cycles / took,
              'frames': loop.frames_per_s}
    link.close()
    return result


def configured(bus, settings) -> None:
    """Configure the cards and let them exchange process data."""
    from c3p_hardware.transport.can_bus import conversation
    from c3p_hardware.transport.configure import configure, start

    with conversation(bus) as network:
        configure(network, settings)
        start(network, settings)


def paced(rate: float, seconds: float, meter: Meter, cycle) -> dict[str, float]:
    """Call ``cycle(deadline to receive)`` at `rate`; deadlines that passed are left out."""
    period, deadline = 1.0 / rate, time.monotonic()
    end = deadline + WARM_UP + seconds
    start = deadline + WARM_UP
    meter.begin()
    while (now := time.monotonic()) < end:
        if start is not None and now > start:
            meter.begin()
            start = None
        meter.late.append(now - deadline)
        deadline += period * int((now - deadline) / period)
        meter.cycles += 1
        complete = cycle(deadline + SAMPLES_BY * period)
        meter.answered.append(time.monotonic() - now)
        meter.incomplete += not complete
        deadline += period
        time.sleep(max(0.0, deadline - time.monotonic()))
    return meter.result()


def frames(channel: str, rate: float, seconds: float, own: bool) -> dict[str, float]:
    """Measure the bare exchange, on python-can's bus (`own`) or on FastSerialBus."""
    import can
    from can.interfaces.serial.serial_can import SerialBus

    from c3p_hardware.canopen.process_data import DRIVE_COMMAND, DRIVE_SAMPLE, ENCODER_SAMPLE
    from c3p_hardware.transport.serial_can import FastSerialBus

    _, settings = card_settings(rate)
    bus, meter = FastSerialBus(channel), Meter()
    configured(bus, settings)
    if own:
        bus.shutdown()
        bus = SerialBus(channel, timeout=0.0)

    def frame(number, data=b''):
        return can.Message(arbitration_id=number, data=data, is_extended_id=False)

    layouts = {0x180 + d.node_id: layout for devices, layout in (
        (settings.drives, DRIVE_SAMPLE), (settings.encoders, ENCODER_SAMPLE)) for d in devices}
    sync, beat, beaten = frame(0x80), frame(0x77F, b'\x05'), [0.0]

    def cycle(until: float) -> bool:
        if time.monotonic() - beaten[0] > settings.heartbeat_period:
            beaten[0] = time.monotonic()
            bus.send(beat)
        bus.send(sync)
        waiting = set(layouts)
        while waiting and (left := until - time.monotonic()) > 0:
            message = bus.recv(left)
            if message is None:
                continue
            meter.frames += 1
            if message.arbitration_id in waiting:
                layouts[message.arbitration_id].unpack(message.data)
                waiting.discard(message.arbitration_id)
        for drive in settings.drives:
            bus.send(frame(0x200 + drive.node_id, DRIVE_COMMAND.pack(0, 0)))
        meter.frames += 4
        return not waiting

    result = paced(rate, seconds, meter, cycle)
    bus.shutdown()
    return result


def canopen_pdos(channel: str, rate: float, seconds: float) -> dict[str, float]:
    """Measure the same exchange through canopen's PDO objects and its notifier thread."""
    import can
    import canopen

    from c3p_hardware.emulator.device import EDS
    from c3p_hardware.transport.serial_can import FastSerialBus

    _, settings = card_settings(rate)
    bus, meter = FastSerialBus(channel), Meter()
    configured(bus, settings)
    network = canopen.Network(bus)
    waiting, came, orders = set(), threading.Event(), []
    for devices, eds in ((settings.drives, 'motor_drive'), (settings.encoders,
                                                            'absolute_encoder')):
        for device in devices:
            node = network.add_node(canopen.RemoteNode(
                device.node_id, canopen.import_od(str(EDS / f'{eds}.eds'), device.node_id)))
            fill(node, eds == 'motor_drive')

            def take(message, number=device.node_id):
                for variable in message:
                    _ = variable.raw
                waiting.discard(number)
                if not waiting:
                    came.set()

            node.tpdo[1].add_callback(take)
            if eds == 'motor_drive':
                orders.append(node.rpdo[1])
    ids = {d.node_id for d in (*settings.drives, *settings.encoders)}
    network.notifier = can.Notifier(bus, network.listeners, 1.0)
    beaten = [0.0]

    def cycle(until: float) -> bool:
        if time.monotonic() - beaten[0] > settings.heartbeat_period:
            beaten[0] = time.monotonic()
            network.send_message(0x77F, b'\x05')
        waiting.update(ids)
        came.clear()
        network.sync.transmit()
        complete = came.wait(max(0.0, until - time.monotonic()))
        meter.frames += len(ids) - len(waiting) + 4
        for order in orders:
            order[0].raw, order[1].raw = 0, 0
            order.transmit()
        return complete

    result = paced(rate, seconds, meter, cycle)
    network.notifier.stop(2.0)
    network.notifier = None
    bus.shutdown()
    return result


def fill(node, drive: bool) -> None:
    """Tell canopen the mapping that the devices have by now."""
    sample = [(0x6041, 0), (0x6064, 0), (0x6077, 0)] if drive else [
        (0x6004, 0), (0x6503, 0), (0x6505, 0)]
    for pdo, number, entries in ((node.tpdo[1], 0x180, sample), *(
            ((node.rpdo[1], 0x200, [(0x6040, 0), (0x6071, 0)]),) if drive else ())):
        pdo.clear()
        for index, subindex in entries:
            pdo.add_variable(index, subindex)
        pdo.cob_id, pdo.enabled = number + node.id, True
        pdo.subscribe()


def child(kind: str, channel: str, rate: float, seconds: float) -> None:
    """Measure in this process and print the figures as JSON."""
    from c3p_ros.executor import steady_process

    steady_process()
    measured = {'interface': interface, 'canopen': canopen_pdos,
                'frames': lambda *a: frames(*a, own=False),
                'python-can': lambda *a: frames(*a, own=True)}[kind](channel, rate, seconds)
    print(json.dumps(measured))


def measure(kind: str, rate: float, seconds: float) -> dict[str, float]:
    """Return the figures of one run with cards of its own."""
    with tempfile.TemporaryDirectory(prefix='c3p_bench_') as place:
        channel = str(Path(place) / 'can')
        emulator = subprocess.Popen([sys.executable, __file__, '--cards', channel],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            emulator.stdout.readline()
            output = subprocess.run(
                [sys.executable, __file__, '--child', kind, '--channel', channel, '--rates',
                 str(rate), '--seconds', str(seconds)], check=True, stdout=subprocess.PIPE,
                text=True).stdout
        finally:
            emulator.stdin.close()
            emulator.wait(10.0)
    return json.loads(output.strip().splitlines()[-1])


def row(kind: str, rate: float, runs: list[dict[str, float]], bare: list[dict[str, float]]) -> str:
    """Return one line of the table: medians of the runs."""
    run = SimpleNamespace(**{key: statistics.median(r[key] for r in runs) for key in runs[0]})
    ratio = statistics.median(r['cpu'] / b['cpu'] for r, b in zip(runs, bare, strict=True))
    cells = [kind, f'{rate:.0f}', f'{run.cpu:.0f}', f'{ratio:.2f}', f'{run.late_p50:.2f}',
             f'{run.late_p99:.2f}', f'{run.late_max:.2f}', f'{run.answered_p50:.2f}',
             f'{run.answered_p99:.2f}', f'{run.answered_max:.2f}', f'{run.incomplete:.0f}',
             f'{run.cycles:.1f}', f'{run.frames:.0f}']
    return '| ' + ' | '.join(cells) + ' |'


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument('--rates', type=float, nargs='+', default=[200.0, 400.0])
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--child', help=argparse.SUPPRESS)
    parser.add_argument('--cards', help=argparse.SUPPRESS)
    parser.add_argument('--channel', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cards:
        cards(arguments.cards)
        return
    if arguments.child:
        child(arguments.child, arguments.channel, arguments.rates[0], arguments.seconds)
        return
    print('| ' + ' | '.join(HEADER) + ' |')
    print('|' + '---|' * len(HEADER))
    for rate in arguments.rates:
        runs = {kind: [] for kind in KINDS}
        for _ in range(arguments.repeats):
            for kind in KINDS:
                runs[kind].append(measure(kind, rate, arguments.seconds))
        for kind in KINDS:
            print(row(kind, rate, runs[kind], runs['frames']), flush=True)


if __name__ == '__main__':
    main()
