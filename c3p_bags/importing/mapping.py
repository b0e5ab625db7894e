# SPDX-License-Identifier: Apache-2.0
"""
Mapping of the columns of a log to joints, ground truth and gyro: a YAML file, checked.

A column is one of a CSV file (its name, or its number from 1), an entry of a WPILOG file, or
``TOPIC#FIELD`` of a ROS 1 bag.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c3p_bags.storage.bag_writer import BagError
from c3p_description.reading.yaml_files import read_yaml
from c3p_description.texts import brief

TURN = 2.0 * math.pi

# units of time in s, of angles in rad, of rates in rad/s, of lengths in m
TIME_UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
ANGLE_UNITS = {'rad': 1.0, 'deg': math.radians(1.0), 'turns': TURN}
# with the counts of a turn, and the radius of the wheel
COUNTS = 'counts'
PATH = 'm'
LENGTH_UNITS = {'m': 1.0, 'cm': 0.01, 'mm': 0.001}
RATE_UNITS = {'rad/s': 1.0, 'deg/s': math.radians(1.0), 'turns/s': TURN, 'turns/min': TURN / 60.0}

# widths of counters: they wrap by this number of units of the column
WIDTHS = {'uint8': 2.0**8, 'int8': 2.0**8, 'uint16': 2.0**16, 'int16': 2.0**16,
          'uint32': 2.0**32, 'int32': 2.0**32}
# ranges of angles, which wrap by a turn of the sensor
TURNS = ('pi', '2pi', 'turn')


class MappingError(BagError):
    """A mapping that cannot be used; the text names file, key, value and remedy."""


@dataclass(frozen=True)
class TimeMapping:
    """
    Times of the samples.

    Column (``''``: those of the records, or of messages), its unit in s, `offset` [s] that is
    added, period by which the column wraps in its unit (0: never), and for logs without any time
    the rate of the samples [Hz].
    """

    column: str = ''
    unit: float = 1.0
    offset: float = 0.0
    wrap: float = 0.0
    rate: float = 0.0


@dataclass(frozen=True)
class ValueMapping:
    """
    A column as a number in SI units: value × `scale` × `sign`/`gear` + `zero`.

    `wrap` is the period of the column in its own unit (0: none). `increments`: the column has
    what was added since its record before; the log sums them.
    """

    column: str
    scale: float = 1.0
    sign: float = 1.0
    gear: float = 1.0
    zero: float = 0.0
    wrap: float = 0.0
    increments: bool = False


@dataclass(frozen=True)
class JointMapping:
    """A joint: angle, and rate if the log has one."""

    name: str
    angle: ValueMapping
    rate: ValueMapping | None = None


@dataclass(frozen=True)
class PoseMapping:
    """Reference pose: x, y, yaw, the frame that they are in, and its own times, if any."""

    x: ValueMapping
    y: ValueMapping
    yaw: ValueMapping
    frame: str
    time: TimeMapping
    file: str


@dataclass(frozen=True)
class GyroMapping:
    """A gyro: yaw or yaw rate (the other is None), and its own times, if any."""

    yaw: ValueMapping | None
    yaw_rate: ValueMapping | None
    time: TimeMapping
    file: str


@dataclass(frozen=True)
class LogMapping:
    """
    Content of a mapping file.

    Robot (name or path, ``''`` for none), times and file of the joints, joints in their order,
    ground truth and gyro. A `file` is a pattern of names, such as ``*_odo.csv``; ``''`` is any.
    """

    robot: str
    time: TimeMapping
    file: str
    joints: tuple[JointMapping, ...]
    ground_truth: PoseMapping | None
    imu: GyroMapping | None


class _Part:
    """A table of the file, with its name for errors."""

    def __init__(self, file: Path, name: str, content: Any, keys: Collection[str]) -> None:
        self._file = file
        self._name = name
        if not isinstance(content, Mapping):
            raise MappingError(f'mapping {file}: {name or "the file"} = {brief(content)}: must be '
                               f'a table with {", ".join(keys)}')
        self._content = content
        if unknown := [key for key in content if key not in keys]:
            raise MappingError(f'mapping {file}: {self._key(unknown[0])}: unknown key; known are '
                               f'{", ".join(keys)}')

    def _key(self, key: Any) -> str:
        return f'{self._name}.{key}' if self._name else f'{key}'

    def wrong(self, key: str, must: str) -> MappingError:
        return MappingError(f'mapping {self._file}: {self._key(key)} = '
                            f'{brief(self._content.get(key))}: must be {must}')

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def value(self, key: str) -> Any:
        return self._content.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        found = self._content.get(key, default)
        # columns without names have numbers
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            return f'{found}'
        if not isinstance(found, str) or (default is None and not found):
            raise self.wrong(key, 'a text' if default is not None else
                             'the name of a column, or its number from 1')
        return found

    def number(self, key: str, default: float, positive: bool = False) -> float:
        found = self._content.get(key, default)
        good = isinstance(found, (int, float)) and not isinstance(found, bool) and (
            math.isfinite(found))
        if not good or (positive and found <= 0):
            raise self.wrong(key, 'a positive number' if positive else 'a finite number')
        return float(found)

    def choice(self, key: str, choices: Collection[str], default: str) -> str:
        found = self._content.get(key, default)
        if found not in choices:
            raise self.wrong(key, f'one of {", ".join(choices)}')
        return f'{found}'

    def flag(self, key: str) -> bool:
        found = self._content.get(key, False)
        if not isinstance(found, bool):
            raise self.wrong(key, 'true or false')
        return found

    def part(self, key: str, keys: Collection[str]) -> _Part:
        return _Part(self._file, self._key(key), self._content[key], keys)


def read_mapping(path: str | Path) -> LogMapping:
    """
    Return the mapping in a YAML file.

    Raises
    ------
    MappingError
        The file is not a mapping; the text names key, value and remedy.
    OSError
        The file cannot be read.
    """
    file = Path(path)
    try:
        content = read_yaml(file)
    except ValueError as error:
        raise MappingError(f'mapping {file}: {error}') from None
    top = _Part(file, '', content, ('robot', 'file', 'time', 'joints', 'ground_truth', 'imu'))
    time = _time(top, TimeMapping())
    joints: tuple[JointMapping, ...] = ()
    if 'joints' in top:
        named = top.value('joints')
        known = top.part('joints', list(named) if isinstance(named, Mapping) else ('JOINT',))
        joints = tuple(_joint(known, name) for name in named)
    truth = _pose(top, time) if 'ground_truth' in top else None
    gyro = _gyro(top, time) if 'imu' in top else None
    if not joints and truth is None and gyro is None:
        raise MappingError(f'mapping {file}: has neither joints nor ground_truth nor imu')
    robot = top.text('robot', '')
    # a file beside the mapping
    if Path(robot).suffix and not Path(robot).is_absolute():
        robot = str(file.parent / robot)
    return LogMapping(robot, time, top.text('file', ''), joints, truth, gyro)


def _time(part: _Part, default: TimeMapping) -> TimeMapping:
    if 'time' not in part:
        return default
    time = part.part('time', ('column', 'unit', 'offset', 'wrap', 'rate'))
    unit = TIME_UNITS[time.choice('unit', TIME_UNITS, 's')]
    rate = time.number('rate', 1.0, positive=True) if 'rate' in time else 0.0
    return TimeMapping(time.text('column', ''), unit, time.number('offset', 0.0),
                       _wrap(time, 0.0), rate)


def _wrap(part: _Part, turn: float) -> float:
    """Return the period of a column in its unit, of which a turn of the sensor has `turn`."""
    found = part.value('wrap')
    if found is None:
        return 0.0
    if found in WIDTHS:
        return WIDTHS[found]
    if found in TURNS and turn:
        return turn
    if isinstance(found, (int, float)) and not isinstance(found, bool) and (
            math.isfinite(found) and found > 0):
        return float(found)
    ranges = f'{", ".join(TURNS)}, ' if turn else ''
    raise part.wrong('wrap', f'{ranges}{", ".join(WIDTHS)}, or the period in the unit of the '
                     'column')


ANGLE_KEYS = ('column', 'unit', 'counts_per_turn', 'wheel_radius', 'gear', 'sign', 'zero', 'wrap',
              'increments', 'rate')


def _joint(parts: _Part, name: Any) -> JointMapping:
    if not isinstance(name, str) or not name:
        raise parts.wrong(name, 'a table under the name of a joint')
    part = parts.part(name, ANGLE_KEYS)
    rate = None
    if 'rate' in part:
        of_rate = part.part('rate', ('column', 'unit', 'sign', 'gear', 'wheel_radius'))
        unit = of_rate.choice('unit', (*RATE_UNITS, 'm/s'), 'rad/s')
        scale = (1.0 / of_rate.number('wheel_radius', 0.0, positive=True) if unit == 'm/s'
                 else RATE_UNITS[unit])
        rate = ValueMapping(of_rate.text('column'), scale, _sign(of_rate),
                            of_rate.number('gear', 1.0, positive=True))
    return JointMapping(name, _angle(part), rate)


def _sign(part: _Part) -> float:
    sign = part.number('sign', 1.0)
    if sign not in (-1.0, 1.0):
        raise part.wrong('sign', '1 or -1')
    return sign


def _angle(part: _Part) -> ValueMapping:
    unit = part.choice('unit', (*ANGLE_UNITS, COUNTS, PATH), 'rad')
    if unit == COUNTS:
        turn = part.number('counts_per_turn', 0.0, positive=True)
        scale = TURN / turn
    elif unit == PATH:
        radius = part.number('wheel_radius', 0.0, positive=True)
        turn = TURN * radius
        scale = 1.0 / radius
    else:
        scale = ANGLE_UNITS[unit]
        turn = TURN / scale
    return ValueMapping(part.text('column'), scale, _sign(part),
                        part.number('gear', 1.0, positive=True), part.number('zero', 0.0),
                        _wrap(part, turn), part.flag('increments'))


POSE_KEYS = ('x', 'y', 'yaw', 'unit', 'yaw_unit', 'sign', 'frame', 'time', 'file')


def _pose(top: _Part, time: TimeMapping) -> PoseMapping:
    part = top.part('ground_truth', POSE_KEYS)
    scale = LENGTH_UNITS[part.choice('unit', LENGTH_UNITS, 'm')]
    yaw = ANGLE_UNITS[part.choice('yaw_unit', ANGLE_UNITS, 'rad')]
    return PoseMapping(
        ValueMapping(part.text('x'), scale), ValueMapping(part.text('y'), scale),
        ValueMapping(part.text('yaw'), yaw, _sign(part), wrap=TURN / yaw),
        part.text('frame', 'map'), _time(part, time), part.text('file', ''))


def _gyro(top: _Part, time: TimeMapping) -> GyroMapping:
    part = top.part('imu', ('yaw', 'yaw_rate', 'unit', 'sign', 'time', 'file'))
    if ('yaw' in part) == ('yaw_rate' in part):
        raise part.wrong('yaw', 'the column of the yaw, or yaw_rate that of its rate, and not '
                         'both')
    if 'yaw' in part:
        scale = ANGLE_UNITS[part.choice('unit', ANGLE_UNITS, 'rad')]
        yaw = ValueMapping(part.text('yaw'), scale, _sign(part), wrap=TURN / scale)
        return GyroMapping(yaw, None, _time(part, time), part.text('file', ''))
    scale = RATE_UNITS[part.choice('unit', RATE_UNITS, 'rad/s')]
    rate = ValueMapping(part.text('yaw_rate'), scale, _sign(part))
    return GyroMapping(None, rate, _time(part, time), part.text('file', ''))
