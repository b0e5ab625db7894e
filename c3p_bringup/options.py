# SPDX-License-Identifier: Apache-2.0
"""Options of a drive and the node parameters derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from c3p_bringup.choices import AUTO_LAW, STRICT, SYNCHRONOUS, WAIT
from c3p_controller import CONTROLLERS, law_named
from c3p_description.reading.loader import load_casters
from c3p_hardware.axes import card_settings
from c3p_hardware.emulator.parameters import check_wiring, expected_cards
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_simulation.sensor_files import AUTO, read_sensors

# cycle at which lockstep waits for the goal: the nodes are ready by then, and two drives are
# identical bit for bit
HOLD_AT = 300

# from a sample to the effect of its torque, s: default latency of the plants
LATENCY = {'analytic': 0.0, 'mujoco': 0.010}

# from the sample at SYNC to the torque of the cards, s
BUS_LATENCY = 0.003

# emulated cards and their master run on one ordinary computer, which may delay either, s
PATIENCE = {'missed_cycles': 4, 'silence_timeout': 1.0, 'heartbeat_timeout': 2.0,
            'heartbeat_period': 0.1}


def known_latency(plant: str, hardware: str = 'none', controller: str = '', sensors: str = ''
                  ) -> dict[str, float]:
    """
    Return the latency parameters of the laws for a simulated robot.

    A `controller` of another package has one if its settings have a latency; the node declares it
    only where that law is chosen.

    Parameters
    ----------
    plant, hardware, controller : str
    sensors : str
        As of `read_sensors`; empty for those of the plant.
    """
    if hardware != 'none':
        latency = BUS_LATENCY
    elif sensors in ('', AUTO):
        latency = LATENCY[plant]
    else:
        latency = read_sensors(sensors).latency
    found = {'mpc.latency': latency, 'modules.latency': latency}
    if controller not in ('', AUTO_LAW, *CONTROLLERS) and law_named(controller).takes_latency():
        found[f'{controller}.latency'] = latency
    return found


def known_timing(sensors: str = '') -> dict[str, Any]:
    """
    Return the parameters of sensed_kinematics for a simulated robot with these `sensors`.

    Empty leaves its defaults, for sensors whose joints or stamps are not of one instant, and
    without a gyro.
    """
    if sensors in ('', AUTO):
        return dict(SYNCHRONOUS)
    found = read_sensors(sensors)
    gyro: dict[str, Any] = {'imu.enabled': True} if found.gyro.rate > 0 else {}
    return gyro | (SYNCHRONOUS if found.timing.synchronous else {})


def sensors_parameter(sensors: str) -> dict[str, str]:
    """Return the parameter ``sensors`` of the simulation; empty where none are chosen."""
    if not sensors:
        return {}
    # nodes may run in another directory
    return {'sensors': f'{Path(sensors).absolute()}' if Path(sensors).suffix else sensors}


@dataclass(frozen=True)
class DriveOptions:
    """
    Options of a drive.

    With `realtime` ``wait`` a simulated robot waits for its controllers while the computer is
    busy; with ``strict`` it does not wait; motor cards never do. With `hardware` ``emulated`` the
    plant is moved by emulated motor cards on a CANopen bus.
    """

    goal: Sequence[float]                       # x, y, yaw in the odometry frame, m and rad
    out: Path                                   # directory for pictures, numbers and the bag
    robot: str = 'c3p'                          # name or path of the description
    start_steering: Sequence[float] = (0.0,)    # one for all casters or one for each, rad
    plant: str = 'analytic'
    sensors: str = ''                           # as of read_sensors; empty: those of the plant
    hardware: str = 'none'
    controller: str = AUTO_LAW                  # of law_names(), in both controller nodes
    nodes: str = 'one-process'                  # or processes
    realtime_factor: float = 1.0                # robot time per real time; 0 is lockstep
    realtime: str = WAIT
    rate: float = 200.0                         # control cycles per second of robot time, Hz
    keep_bag: bool = False
    timeout: float = 60.0                       # robot time after which the goal is missed, s
    dwell: float = 1.0                          # robot time to hold the goal zone, s
    parameters: Sequence[Path] = ()             # files, in order; the options take precedence
    plant_robot: str = ''                       # true robot of emulated cards; empty: `robot`

    def __post_init__(self) -> None:
        """Reject options that exclude each other."""
        if self.hardware != 'none' and self.realtime_factor != 1.0:
            raise ValueError(f'--realtime-factor {self.realtime_factor} with --hardware '
                             f'{self.hardware}: a bus runs in real time, the factor must be 1')
        if self.hardware != 'none' and self.sensors:
            raise ValueError(f'--sensors {self.sensors} with --hardware {self.hardware}: motor '
                             'cards have encoders of their own; leave one of the two out')
        if self.sensors:
            read_sensors(self.sensors)

    @property
    def lockstep(self) -> bool:
        """True for a drive as fast as possible."""
        return self.realtime_factor == 0.0

    @property
    def waits(self) -> bool:
        """True if a simulated robot waits for its controllers."""
        return self.realtime == WAIT and self.hardware == 'none' and not self.lockstep

    @property
    def simulated_time(self) -> bool:
        """True if the nodes follow /clock."""
        return self.realtime_factor != 1.0 or self.waits


def parameter_files(options: DriveOptions, bag: Path, place: Path) -> list[Path]:
    """
    Return the parameter files of all nodes in their order; two are written to `place`.

    The first has defaults that the user's files may override; the last has the values of the
    `options` and the directory of the `bag`.
    """
    simulated = options.simulated_time
    # all commanding nodes start in this drive: a short silence suffices
    silence = 0.5 if options.lockstep or options.hardware != 'none' else 0.1
    first = _write(place / 'defaults.yaml', {'/**/velocity_controller': {
        'start_silence': silence,
        **known_latency(options.plant, options.hardware, options.controller, options.sensors)},
        '/**/sensed_kinematics': known_timing(options.sensors),
        '/**/hardware_interface': PATIENCE,
        **({} if options.hardware == 'none' else {
            '/**/emulated_cards': expected_cards(options.parameters)})})
    last = _write(place / 'options.yaml', {
        '/**': {'use_sim_time': simulated, 'robot': options.robot},
        'simulation': {
            'hold_at_cycle': HOLD_AT if options.lockstep else 0,
            'plant': options.plant, 'rate': float(options.rate), 'lockstep': options.lockstep,
            **sensors_parameter(options.sensors),
            'realtime_factor': 1.0 if options.lockstep else float(options.realtime_factor),
            'realtime': WAIT if options.waits else STRICT, 'publish_clock': simulated,
            'start_steering': [float(s) for s in options.start_steering],
            # the simulation publishes the clock and must not wait for it
            'use_sim_time': False},
        **_hardware(options, place),
        'velocity_controller': {'controller': options.controller},
        'position_controller': {'controller': options.controller},
        # the recorder uses the system clock where possible, so that latencies are real
        'recorder': {'bag': str(bag), 'use_sim_time': options.realtime_factor != 1.0}})
    return [first, *options.parameters, last]


def check_cards(robot: str, files: Sequence[Path]) -> None:
    """
    Reject motor cards, or a wiring of emulated ones, that do not fit the robot.

    It is called before any node starts.

    Parameters
    ----------
    robot : str
        Name or path of the description.
    files : sequence of Path
        Parameter files of the hardware interface, in order.

    Raises
    ------
    ValueError
        The text names parameter, value and remedy.
    """
    model = load_casters(robot)
    card_settings(model, hardware_values(files))
    check_wiring(model, files)


def bus_channel(place: Path) -> Path:
    """Return the channel of the bus between emulated cards and hardware interface."""
    return place / 'can'


def _hardware(options: DriveOptions, place: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of the hardware interface and of the cards, on a bus in `place`."""
    bus = {'bus.interface': 'serial', 'bus.channel': str(bus_channel(place))}
    return {
        'hardware_interface': {**bus, 'rate': float(options.rate), 'autostart': 'active'},
        'emulated_cards': {
            'bus.channel': bus['bus.channel'], 'plant': options.plant,
            'robot': options.plant_robot or options.robot,
            'start_steering': [float(s) for s in options.start_steering]}}


def _write(path: Path, nodes: Mapping[str, Mapping[str, Any]]) -> Path:
    path.write_text(yaml.safe_dump({
        name: {'ros__parameters': dict(values)} for name, values in nodes.items()}),
        encoding='utf-8')
    return path
