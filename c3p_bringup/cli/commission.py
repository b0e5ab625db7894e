# SPDX-License-Identifier: Apache-2.0
"""``c3p commission``: the wiring of a robot, by hand or on its own, and what mends it."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    FAILED,
    MISSED,
    add_params_file,
    add_results,
    add_robot,
    count,
    make_places,
    positive,
    show,
)

DESCRIPTION = """\
Find how a robot is wired: which encoder and motor is which joint, signs, zeros and gears; write a
parameter file that makes it right, and a page. On its own it moves each motor by a few
centimetres, at 0.12 m/s at most, on one square metre of floor; with --by-hand its motors are off
and you turn each joint. Nothing is written that does not explain what was measured."""

# least free floor around the robot, m
FREE = 1.0

HARDWARE = ('can', 'topics', 'emulated')


def add_commission(commands: Any) -> None:
    """Add the command ``commission`` to the subparsers `commands`."""
    command = commands.add_parser('commission', description=DESCRIPTION)
    add_robot(command)
    command.add_argument('--hardware', choices=HARDWARE, default='can',
                         help='can: motor cards and encoders on a CANopen bus; topics: a robot '
                              'that publishes joint states and takes efforts; emulated: emulated '
                              'cards, wired as in the parameter file (default: %(default)s)')
    command.add_argument('--by-hand', action='store_true',
                         help='motors off: turn each joint and push the robot as prompted')
    command.add_argument('--free', type=positive, metavar='M',
                         help=f'side of the free square of floor around the robot, {FREE:g} m or '
                              'more: required before it moves on its own')
    command.add_argument('--measure', action='store_true',
                         help='after the motions also a slow drive of some five minutes along a '
                              'square of 0.4 m, which measures lengths, zeros, masses and '
                              'friction into a robot file')
    command.add_argument('--time', type=positive, metavar='S',
                         help='time limit of the motions (default: 120, with --measure 700)')
    command.add_argument('--key', action='store_true',
                         help='move only while the space bar is held, in a terminal')
    command.add_argument('--turn', type=positive, default=360.0, metavar='DEG',
                         help='by which joints are turned by hand (default: %(default)s)')
    command.add_argument('--no-push', action='store_true',
                         help='by hand: no pushes; the zeros stay undecided')
    bus = command.add_argument_group('motor cards')
    bus.add_argument('--interface', help='python-can interface (default: of the parameters)')
    bus.add_argument('--channel', help='such as can0 (default: of the parameters)')
    bus.add_argument('--bitrate', type=count, metavar='BIT/S',
                     help='bit rate, for interfaces that can set it')
    topics = command.add_argument_group('topics')
    topics.add_argument('--joint-states', default='joint_states', metavar='TOPIC',
                        help='of the angles (default: %(default)s)')
    topics.add_argument('--wheel-effort', default='wheel_effort', metavar='TOPIC',
                        help='of the torques (default: %(default)s)')
    command.add_argument('--confirm', action='store_true',
                         help='then drive 1 m and a turn with the written parameters, on emulated '
                              'cards')
    add_params_file(command, 'of hardware_interface (and emulated_cards); may be repeated')
    add_results(command, 'out/commission', 'the parameter file and the page')
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out; return the exit code."""
    from c3p_bringup.commission.results import figures, summary, write_page, write_results
    from c3p_description.reading.loader import load_casters

    robot = load_casters(arguments.robot)
    if not arguments.by_hand and (arguments.free is None or arguments.free < FREE):
        given = 'was not given' if arguments.free is None else f'{arguments.free:g}'
        raise ValueError(f'--free {given}: the robot moves on its own and needs a free square of '
                         f'{FREE:g} m on each side: look around it, and pass --free {FREE:g}; or '
                         'use --by-hand')
    if arguments.measure and not arguments.by_hand:
        _check_free(arguments, robot)
    if arguments.confirm and arguments.hardware != 'emulated':
        raise ValueError('--confirm: with --hardware emulated only; on a robot give the new '
                         'parameters to its nodes, and drive 1 m with them')
    make_places(arguments.out, arguments.json)
    try:
        found, records = _found(arguments, robot)
    except ValueError as error:
        print(f'c3p commission: {error}; nothing was written', file=sys.stderr)
        return MISSED
    result = write_results(robot, arguments.robot, found, arguments.params_file, arguments.out,
                           arguments.hardware != 'topics', records)
    code = MISSED if result.corrections.by_hand else 0
    drives: list[dict[str, Any]] = []
    if arguments.confirm and not code:
        drives = _confirm(arguments, result.files)
        write_page(result.report._replace(drives=[one['text'] for one in drives]), arguments.out)
        code = FAILED if any(one['missed'] for one in drives) else 0
    show(figures(robot, found, result) | {'drives': drives}, arguments.json,
         summary(found, result))
    if result.corrections.by_hand:
        again = f' with --params-file {file}' if (file := result.files.get('parameters')) else ''
        print(f'c3p commission: change that by hand, then run it again{again}', file=sys.stderr)
    elif not arguments.confirm:
        _next(arguments, result.files)
    return code


def _check_free(arguments: argparse.Namespace, robot: Any) -> None:
    """Raise ValueError where the drive along a square needs more floor."""
    from c3p_experiments.commissioning.small_drive import free_square

    needed = math.ceil(10.0 * free_square(robot)) / 10.0
    if arguments.free < needed:
        raise ValueError(f'--free {arguments.free:g}: with --measure {robot.name} drives along a '
                         f'square and needs {needed:g} m on each side: pass --free {needed:g}, or '
                         'leave --measure out')


def _found(arguments: argparse.Namespace, robot: Any) -> Any:
    """Return the wiring, and the records for a calibration."""
    if arguments.by_hand:
        from c3p_bringup.commission.by_hand import commission_by_hand

        with _by_hand(arguments, robot) as (source, enter):
            return commission_by_hand(robot, source, math.radians(arguments.turn), enter, _say,
                                      not arguments.no_push), []
    return _by_itself(arguments, robot)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _by_hand(arguments: argparse.Namespace, robot: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the source of angles, and what waits for the person."""
    from c3p_bringup.commission.angles import card_angles, topic_angles

    if arguments.hardware == 'emulated':
        from c3p_bringup.commission.emulated import emulated_bus
        from c3p_hardware.emulator.hand import HandMovedRobot

        hand = HandMovedRobot(robot, 0.7)
        _say('emulated cards: an emulated hand follows the prompts')
        with emulated_bus(robot, hand, arguments.params_file) as (address, _):
            _, settings = _cards(arguments, robot)
            with card_angles(robot, address, settings) as source:
                yield source, _emulated_hand(hand, math.radians(arguments.turn))
    elif arguments.hardware == 'topics':
        with topic_angles(robot, arguments.joint_states) as source:
            yield source, _person()
    else:
        address, settings = _cards(arguments, robot)
        with card_angles(robot, address, settings) as source:
            yield source, _person()


def _cards(arguments: argparse.Namespace, robot: Any) -> tuple[Any, Any]:
    """Return the address of the bus and the settings of the devices."""
    from c3p_hardware.axes import card_settings
    from c3p_hardware.transport.can_bus import BusAddress

    values = _values(arguments)
    bus = values.bus
    return BusAddress(bus.interface, bus.channel, bus.bitrate), card_settings(robot, values)


def _values(arguments: argparse.Namespace) -> Any:
    from c3p_bringup.options import PATIENCE
    from c3p_hardware.tools.parameter_file import hardware_values

    given = {'bus.interface': arguments.interface, 'bus.channel': arguments.channel,
             'bus.bitrate': arguments.bitrate}
    if arguments.hardware == 'emulated':
        given |= PATIENCE
    return hardware_values(arguments.params_file, **given)


def _person() -> Callable[[str, int], Callable[[], bool]]:
    """Return what waits for Enter."""
    from c3p_bringup.commission.angles import LineReader

    lines = LineReader(sys.stdin)
    return lambda kind, joint: lines.next()


def _emulated_hand(hand: Any, turn: float) -> Callable[[str, int], Callable[[], bool]]:
    """Return what moves the emulated hand, and waits for it."""
    pushes = {'ahead': ((0.0, 1.0, 0.0), 1.2), 'aside': ((1.0, 0.0, 0.0), 1.0),
              'turn': ((0.0, 0.0, 1.0), 2.0)}
    angles = {'straight': 0.0, 'quarter': math.pi / 2.0}

    def enter(kind: str, joint: int) -> Callable[[], bool]:
        if kind in pushes:
            hand.push(*pushes[kind])
        elif kind in angles:
            hand.set_wheels(angles[kind])
        else:
            hand.turn(joint, turn)
        # the cards have then sampled the end
        end: list[float] = []

        def over() -> bool:
            if hand.moving:
                return False
            end.append(time.monotonic())
            return end[-1] - end[0] > 0.1

        return over

    return enter


def _by_itself(arguments: argparse.Namespace, robot: Any) -> Any:
    from c3p_bringup.commission.angles import card_angles, topic_angles
    from c3p_bringup.commission.by_itself import (
        Motors,
        commission_by_itself,
        drive_by_itself,
        settle_by_pushes,
    )
    from c3p_bringup.commission.held_key import held_key
    from c3p_bringup.commission.motors import MotionLoop, move_by_cards, move_by_topics
    from c3p_kinematics.commissioning.motions import WiringMotions

    motions = WiringMotions(robot)
    begun = time.monotonic()
    label = ''

    def shown(text: str) -> None:
        nonlocal label
        if text and text != label:
            label = text
            _say(f'  {time.monotonic() - begun:5.1f} s  {text}')

    with held_key(arguments.key) as held:
        def moved(carry_out: Callable[[MotionLoop], None]) -> tuple[Any, Any]:
            """Return the wiring, and the records of motions and drive."""
            limit = arguments.time or (700.0 if arguments.measure else 120.0)
            motors = Motors(lambda going: carry_out(MotionLoop(
                robot, going, held, limit - (time.monotonic() - begun))), _say)
            found = commission_by_itself(robot, motions, motors)
            return found, drive_by_itself(robot, motions, found, motors) if (
                arguments.measure) else []

        if arguments.hardware == 'topics':
            topics = (arguments.joint_states, arguments.wheel_effort)
            found, records = moved(lambda loop: move_by_topics(robot, topics, loop, shown))
        else:
            with _bus(arguments, robot) as (address, plant):
                values = _values(arguments)
                found, records = moved(
                    lambda loop: move_by_cards(robot, address, values, loop, shown))
                if found.undecided:
                    enter = _person() if plant is None else _emulated_hand(plant.take_over(), 0.0)
                    with card_angles(robot, address, _cards(arguments, robot)[1]) as source:
                        return settle_by_pushes(robot, found, source, enter, _say), records
    if arguments.hardware == 'topics' and found.undecided:
        with topic_angles(robot, arguments.joint_states) as source:
            found = settle_by_pushes(robot, found, source, _person(), _say)
    return found, records


@contextmanager
def _bus(arguments: argparse.Namespace, robot: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the address of the bus, and the plant of emulated cards, None of a robot."""
    if arguments.hardware != 'emulated':
        yield _cards(arguments, robot)[0], None
        return
    from c3p_bringup.commission.emulated import emulated_bus, emulated_plant
    from c3p_hardware.emulator.hand import HandAfterMotors

    plant = HandAfterMotors(emulated_plant(robot, arguments.params_file))
    with emulated_bus(robot, plant, arguments.params_file) as (address, _):
        yield address, plant


def _files(arguments: argparse.Namespace, written: str | None) -> list[Path]:
    return [*arguments.params_file, *([Path(written)] if written else [])]


def _next(arguments: argparse.Namespace, written: dict[str, str]) -> None:
    """Print what comes next."""
    name = written.get('robot', arguments.robot)
    robot = '' if name == 'c3p' else f' --robot {name}'
    if arguments.hardware == 'topics':
        if 'robot' in written:
            _say(f'next: start the nodes with robot:={name}')
        return
    files = ' '.join(f'--params-file {file}'
                     for file in _files(arguments, written.get('parameters')))
    if arguments.hardware == 'emulated':
        _say(f'next: c3p drive 1 0 0{robot} --hardware emulated {files}')
    elif written:
        _say(f'next: c3p can scan {files}; then the nodes with these parameters{robot}')


def _confirm(arguments: argparse.Namespace, written: dict[str, str]) -> list[dict[str, Any]]:
    """Drive 1 m and a turn with the written files; return what came of it."""
    from c3p_bringup.drive import drive
    from c3p_bringup.options import DriveOptions

    drives = []
    for goal in ((0.0, 1.0, 0.0), (0.0, 0.0, math.pi / 2)):
        metrics = drive(DriveOptions(
            goal=goal, out=arguments.out / 'drive', robot=written.get('robot', arguments.robot),
            plant_robot=arguments.robot, hardware='emulated',
            parameters=_files(arguments, written.get('parameters'))), announce=_say)
        error = metrics.get('ground_truth_final_error_m')
        words = (f'drive to x {goal[0]:g} m, y {goal[1]:g} m, yaw {math.degrees(goal[2]):.0f}°: '
                 + (f'MISSED, {metrics["missed"]}' if metrics.get('missed') else 'reached')
                 + ('' if error is None else f', true error {100 * error:.2f} cm'))
        _say(f'  {words}')
        drives.append({'goal': list(goal), 'missed': metrics.get('missed'),
                       'true_error_m': error, 'text': words})
    return drives
