# SPDX-License-Identifier: Apache-2.0
"""``c3p calibrate``: lengths and steering zeros of a robot from bags."""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    add_recorded_robot,
    add_results,
    finite,
    make_places,
    named_bag,
    not_negative,
    positive,
    rows,
    show,
)
from c3p_bringup.cli.excited_drive import (
    add_live,
    add_simulated,
    record_excitation,
    refuse_idle,
)

DESCRIPTION = """\
Estimate wheel radii, caster offsets, hip positions and steering zeros from the joint_states of one
or several bags, with intervals, and write a robot file that extends the description. Joints alone
leave the common scale and the heading as described; a taped distance or a mark determines them.
With --drive a drive that teaches enough is simulated and recorded first; with --live, too, it is
commanded to the robot on the topics of this network."""


# what of the prior can be set: name, unit, what it is of
PRIOR = (('radius', 'PERCENT', 'wheel radii (default: 0.3)'),
         ('offset', 'PERCENT', 'caster offsets (default: 2.0)'),
         ('hip', 'MM', 'hip positions in x and y (default: 1.7)'),
         ('zero', 'DEG', 'steering zeros (default: 0.3)'))

# units that may follow a number, which then is in this unit, and their ratio to the option's unit
WRITTEN = {'PERCENT': {'%': 1.0, 'percent': 1.0}, 'MM': {'mm': 1.0, 'cm': 10.0, 'm': 1000.0},
           'DEG': {'deg': 1.0, '°': 1.0, 'rad': math.degrees(1.0)}}

# the exit code of drives that no lengths explain
UNEXPLAINED = 1

REMEDY = ('nothing was written. If the description is known less precisely than by default, give '
          'its standard deviations (--prior-radius and its like); if wheels creep more, --creep')


def add_calibrate(commands: Any) -> None:
    """Add the command to the subparsers of ``c3p``."""
    command = commands.add_parser('calibrate', description=DESCRIPTION)
    command.add_argument('bags', type=Path, nargs='*', metavar='BAG',
                         help='directory of a bag, with curves in both directions; with --drive '
                              'where the new one goes (default then: DIR/bag)')
    add_recorded_robot(command)
    command.add_argument('--namespace', metavar='NS', help='of the robot in the bags (default: '
                         'the only one)')
    group = command.add_argument_group('outside references')
    group.add_argument('--distance', nargs=2, action='append', default=[], metavar=('N', 'M'),
                       help='taped distance from begin to end of bag N [m]; may be repeated')
    group.add_argument('--place', nargs='+', action='append', default=[], metavar='N X Y [DEG]',
                       help='end of bag N as seen from its begin [m, °], 0 0 for a loop that '
                            'ends on its mark; may be repeated')
    group.add_argument('--ground-truth', action='store_true',
                       help='use the topic ground_truth/odom of all bags')
    group.add_argument('--ground-truth-time', type=positive, metavar='S', help='standard '
                       'deviation of the times of the ground truth from those of the joints, '
                       'such as 0.3 for two clocks (default: 0)')
    group.add_argument('--imu', metavar='TOPIC', help='use the yaw of an IMU (sensor_msgs/Imu) '
                       'in all bags, which begin with 5 s of standstill')
    group.add_argument('--imu-axis', metavar='AXIS', help='vertical axis of the IMU: x, y or z if '
                       'it points up, else x-down, y-down or z-down (default: z, of messages in '
                       'base_link)')
    group.add_argument('--imu-scale-std', type=positive, metavar='PERCENT',
                       help='standard deviation of its scale error (default: 1)')
    group.add_argument('--imu-walk', type=positive, metavar='DEG',
                       help='its angle random walk, °/√s (default: 0.01)')
    _add_drive(command)
    errors = command.add_argument_group('errors')
    errors.add_argument('--counts', type=int, nargs=2, default=(2000, 4096),
                        metavar=('WHEEL', 'STEERING'),
                        help='encoder counts per turn (default: 2000 4096)')
    errors.add_argument('--creep', type=positive, default=0.2, metavar='PERCENT',
                        help='error of the path of a wheel contact, by scrub and tyre (default: '
                             '%(default)s)')
    errors.add_argument('--skew', type=not_negative, default=3.0, metavar='MS',
                        help='standard deviation of the age of each joint within a sample, which '
                             'is estimated; 0: all joints are of one instant (default: '
                             '%(default)s)')
    for name, unit, what in PRIOR:
        errors.add_argument(f'--prior-{name}', type=partial(_with_unit, unit), metavar=unit,
                            help=f'standard deviation of the described {what}; a unit may follow '
                                 'the number')
    add_results(command, 'out/calibrate', 'robot file and picture')
    command.set_defaults(run=run)


def _with_unit(unit: str, text: str) -> float:
    """
    Return a positive number in `unit`, which the text may name or replace by a related one.

    Examples
    --------
    >>> _with_unit('DEG', '3deg'), _with_unit('MM', '2cm'), _with_unit('PERCENT', '5')
    (3.0, 20.0, 5.0)
    """
    number = text.strip()
    # the longest first: mm ends with m
    for name in sorted(WRITTEN[unit], key=len, reverse=True):
        if number.endswith(name):
            return WRITTEN[unit][name] * positive(number[:-len(name)].strip())
    return positive(number)


def _add_drive(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group('drive')
    group.add_argument('--drive', action='store_true', help='drive the shortest pattern after '
                       'which the lengths are known as required, and record it')
    add_live(group, '--drive')
    group.add_argument('--required', type=positive, default=0.1, metavar='PERCENT',
                       help='half-width of the 95 %% intervals of the ratios of radii, and of '
                            'the differences of zeros in rad/100 (default: %(default)s)')
    add_simulated(group)


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out; return the exit code."""
    from c3p_experiments.calibration.calibrate import OutsideReferences, calibrate_bags
    from c3p_kinematics.calibration.parameters import CalibrationSettings
    from c3p_kinematics.calibration.recording import UnexplainedError

    if min(arguments.counts) < 1:
        raise ValueError(f'--counts {" ".join(map(str, arguments.counts))}: must be 1 or more')
    if not arguments.bags and not arguments.drive:
        raise ValueError('no bag given: name one, or drive and record one with --drive')
    if not arguments.drive:
        refuse_idle(arguments, '--drive')
    if arguments.drive and len(arguments.bags) > 1:
        raise ValueError(f'{len(arguments.bags)} bags with --drive: name only the one to record')
    if arguments.ground_truth_time and not arguments.ground_truth:
        raise ValueError('--ground-truth-time: has an effect with --ground-truth only; give both')
    source = _imu(arguments)
    make_places(arguments.out, arguments.json)
    settings = CalibrationSettings(
        _prior(arguments), wheel_resolution=2 * math.pi / arguments.counts[0],
        steering_resolution=2 * math.pi / arguments.counts[1], creep=0.01 * arguments.creep,
        reference_time=arguments.ground_truth_time or 0.0,
        skew=1e-3 * arguments.skew)
    if arguments.drive:
        arguments.robot = arguments.robot or 'c3p'
        arguments.bags = arguments.bags or [arguments.out / 'bag']
        _drive(arguments, arguments.bags[0], settings)
    with ExitStack() as stack:
        opened = []
        robot = arguments.robot
        for path in arguments.bags:
            bag, found = stack.enter_context(named_bag(path, arguments.robot,
                                                       arguments.namespace))
            opened.append(bag)
            # the description of the first bag holds for all
            robot = robot or found
        try:
            metrics = calibrate_bags(
                opened, robot, arguments.out, namespace=arguments.namespace,
                outside=OutsideReferences(_taped(arguments), arguments.ground_truth, source),
                settings=settings, recorded=not arguments.robot)
        except UnexplainedError as error:
            print(f'c3p calibrate: {error}; {REMEDY}', file=sys.stderr)
            return UNEXPLAINED
    show(metrics, arguments.json, table(metrics))
    return 0


def _prior(arguments: argparse.Namespace) -> Any:
    """Return the prior of the command line."""
    from c3p_kinematics.calibration.parameters import Prior

    given = {name: value * unit for name, value, unit in (
        ('radius', arguments.prior_radius, 0.01), ('offset', arguments.prior_offset, 0.01),
        ('hip', arguments.prior_hip, 1e-3), ('zero', arguments.prior_zero, math.radians(1.0)))
        if value is not None}
    return Prior(**given)


def _drive(arguments: argparse.Namespace, bag: Path, settings: Any) -> None:
    from c3p_description.reading.loader import load_casters
    from c3p_experiments.calibration.pattern import shortest
    from c3p_simulation.plants.sensors import SensorSettings

    required = 0.01 * arguments.required
    plan = shortest(load_casters(arguments.robot), required, required, arguments.speed, settings)
    excitation = plan.excitation
    print(f'{excitation.duration:.0f} s at up to {excitation.speed:g} m/s and '
          f'{excitation.yaw_rate:.2f} rad/s; expected: radii ± {100 * plan.radius:.3f} %, zeros ± '
          f'{math.degrees(plan.zero):.3f}° relative to each other'
          + ('' if plan.enough else ': less than required, the longest pattern'), file=sys.stderr)
    record_excitation(bag, excitation, arguments, sensors=SensorSettings(*arguments.counts))


def _taped(arguments: argparse.Namespace) -> list[Any]:
    from c3p_experiments.calibration.calibrate import Taped

    taped = []
    for number, metres in arguments.distance:
        taped.append(Taped(_bag('--distance', number, arguments),
                           distance=_number('--distance', metres, positive)))
    for number, *place in arguments.place:
        if len(place) not in (2, 3):
            raise ValueError(f'--place {" ".join([number, *place])}: must be N X Y, or N X Y DEG')
        x, y, *turn = (_number('--place', value, finite) for value in place)
        taped.append(Taped(_bag('--place', number, arguments),
                           place=(x, y, math.radians(turn[0]) if turn else math.nan)))
    return taped


def _imu(arguments: argparse.Namespace) -> Any:
    """Return the IMU of the command line, None without one."""
    from c3p_experiments.calibration.imu import ImuSource
    from c3p_kinematics.calibration.gyro import GyroSettings

    given = {name: value * unit for name, value, unit in (
        ('scale', arguments.imu_scale_std, 0.01),
        ('walk', arguments.imu_walk, math.radians(1.0))) if value is not None}
    if arguments.imu is None:
        if given or arguments.imu_axis:
            raise ValueError('--imu-axis, --imu-scale-std and --imu-walk: name the topic, --imu')
        return None
    return ImuSource(arguments.imu, arguments.imu_axis, GyroSettings(**given))


def _bag(option: str, text: str, arguments: argparse.Namespace) -> int:
    """Return the index of a bag from its number on the command line."""
    count = len(arguments.bags)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= count):
        raise ValueError(f'{option} {text}: must be the number of a bag, 1 to {count}')
    return int(text) - 1


def _number(option: str, text: str, kind: Any) -> float:
    try:
        return kind(text)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ValueError(f'{option} {text}: {error}') from None


def table(metrics: dict[str, Any]) -> str:
    """Return the result of `calibrate_bags` as text for a terminal."""
    from c3p_kinematics.calibration.words import INTERVAL

    windows = metrics['windows']
    residual = metrics['residual_rms']
    entries = list(metrics['text'].items())
    entries.append(('windows', f'{windows["used"]}, of which {windows["outliers"]} with slip; '
                    f'{metrics["path_m"]:.1f} m; residuals {residual["before"]:.2f} → '
                    f'{residual["after"]:.2f} of their noise'))
    entries += [('imu', f'{one["standstill_s"]:.1f} s of standstill, bias '
                 f'{math.degrees(one["bias_rad_s"]):.4f} ± '
                 f'{math.degrees(INTERVAL * one["bias_deviation_rad_s"]):.4f} °/s; {one["turns"]} '
                 f'turns, {math.degrees(one["turned_rad"]):.0f}° in all, '
                 f'{one["ratio_to_described"]:.4f} of the description')
                for one in metrics.get('imu', {}).get('bags', ())]
    entries += [('note', text) for text in metrics['notes']]
    return rows([*entries, *metrics['files'].items()], 24)
