# SPDX-License-Identifier: Apache-2.0
"""What to drive and how, and the parameters of the nodes that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from c3p_controller import CONTROLLERS
from c3p_simulation.pacing import STRICT, WAIT

PLANTS = ('analytic', 'mujoco')
HARDWARE = ('none', 'emulated')
# what a simulated robot does while the computer is busy
REALTIME = (WAIT, STRICT)

# cycle at which lockstep waits for the goal: the nodes are ready by then, and every drive begins
# there, so that two drives are the same bit for bit
HOLD_AT = 300

# from a sample to the effect of the torque that answers it, s: what the plants have by default
LATENCY = {'analytic': 0.0, 'mujoco': 0.010}

# from the sample that SYNC asks for to the torque that the cards make of the answer, s
BUS_LATENCY = 0.003

# emulated cards and their master share an ordinary computer, which may let either wait, s
PATIENCE = {'missed_cycles': 4, 'silence_timeout': 1.0, 'heartbeat_timeout': 2.0,
            'heartbeat_period': 0.1}


def known_latency(plant: str, hardware: str = 'none') -> dict[str, float]:
    """Return the parameters that tell the laws the latency of a simulated robot."""
    latency = LATENCY[plant] if hardware == 'none' else BUS_LATENCY
    return {f'{law}.latency': latency for law in CONTROLLERS[1:]}


@dataclass(frozen=True)
class DriveOptions:
    """
    What to drive, and how.

    Attributes
    ----------
    goal : (3,) sequence, m and rad
        x, y and yaw in the odometry frame; the robot starts at its origin.
    out : Path
        Directory for pictures, numbers and the bag.
    robot : str
        Name or path of the description.
    start_steering : sequence of float, rad
        One for all casters or one for each.
    plant : str
    hardware : str
        ``emulated``: the plant is moved by emulated motor cards on a CANopen bus.
    controller : str
        ``paper``, ``closed_form`` or ``mpc``, in both controller nodes.
    nodes : str
        ``one-process`` or ``processes``.
    realtime_factor : float
        Robot time per real time; 0 is lockstep, as fast as possible.
    realtime : str
        ``wait``: a simulated robot waits for its controllers while the computer is busy.
        ``strict``: it does not, as a robot does not; motor cards never do.
    rate : float, Hz
        Control cycles per second of robot time.
    keep_bag : bool
    timeout : float, s
        Robot time after which the goal counts as missed.
    dwell : float, s
        Robot time that the goal zone must be held.
    parameters : sequence of Path
        Parameter files, applied in order; the options above count more.
    """

    goal: Sequence[float]
    out: Path
    robot: str = 'c3p'
    start_steering: Sequence[float] = (0.0,)
    plant: str = 'analytic'
    hardware: str = 'none'
    controller: str = 'mpc'
    nodes: str = 'one-process'
    realtime_factor: float = 1.0
    realtime: str = WAIT
    rate: float = 200.0
    keep_bag: bool = False
    timeout: float = 60.0
    dwell: float = 1.0
    parameters: Sequence[Path] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        """Refuse what cannot be had together."""
        if self.hardware != 'none' and self.realtime_factor != 1.0:
            raise ValueError(f'--realtime-factor {self.realtime_factor} with --hardware '
                             f'{self.hardware}: a bus runs in real time, the factor must be 1')

    @property
    def lockstep(self) -> bool:
        """True for as fast as possible."""
        return self.realtime_factor == 0.0

    @property
    def waits(self) -> bool:
        """True where a simulated robot waits for its controllers."""
        return self.realtime == WAIT and self.hardware == 'none' and not self.lockstep

    @property
    def simulated_time(self) -> bool:
        """True where the robot's clock is not the system's."""
        return self.realtime_factor != 1.0 or self.waits


def parameter_files(options: DriveOptions, bag: Path, place: Path) -> list[Path]:
    """
    Return the parameter files of all nodes in their order; two are written to `place`.

    The first has what a user's file may change, then come the user's own, and the last has what
    the `options` and the place of the `bag` say.
    """
    simulated = options.simulated_time
    # who commands here is started here, so nobody has to be waited for
    first = _write(place / 'defaults.yaml', {'/**/velocity_controller': {
        'start_silence': 0.5, **known_latency(options.plant, options.hardware)},
        '/**/hardware_interface': PATIENCE})
    last = _write(place / 'options.yaml', {
        '/**': {'use_sim_time': simulated, 'robot': options.robot},
        'simulation': {
            'hold_at_cycle': HOLD_AT if options.lockstep else 0,
            'plant': options.plant, 'rate': float(options.rate), 'lockstep': options.lockstep,
            'realtime_factor': 1.0 if options.lockstep else float(options.realtime_factor),
            'realtime': WAIT if options.waits else STRICT, 'publish_clock': simulated,
            'start_steering': [float(s) for s in options.start_steering],
            # the simulation makes the clock and must not wait for it
            'use_sim_time': False},
        **_hardware(options, place),
        'velocity_controller': {'controller': options.controller},
        'position_controller': {'controller': options.controller},
        # beside the clock the recorder keeps the system's: what the computer took stays visible
        'recorder': {'bag': str(bag), 'use_sim_time': options.realtime_factor != 1.0}})
    return [first, *options.parameters, last]


def bus_channel(place: Path) -> Path:
    """Return the channel on which emulated cards and the hardware interface meet."""
    return place / 'can'


def _hardware(options: DriveOptions, place: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of the hardware interface and of the cards, on a bus in `place`."""
    bus = {'bus.interface': 'serial', 'bus.channel': str(bus_channel(place))}
    return {
        'hardware_interface': {**bus, 'rate': float(options.rate), 'autostart': 'active'},
        'emulated_cards': {
            'bus.channel': bus['bus.channel'], 'plant': options.plant,
            'start_steering': [float(s) for s in options.start_steering]}}


def _write(path: Path, nodes: Mapping[str, Mapping[str, Any]]) -> Path:
    path.write_text(yaml.safe_dump({
        name: {'ros__parameters': dict(values)} for name, values in nodes.items()}),
        encoding='utf-8')
    return path
