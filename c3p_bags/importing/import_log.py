# SPDX-License-Identifier: Apache-2.0
"""Logs of other robots written as a bag that every command on bags reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from heapq import merge
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.importing import ros1_log, wpilog
from c3p_bags.importing.csv_log import CsvLog
from c3p_bags.importing.imported_messages import ImportedMessages, ImportedSection
from c3p_bags.importing.mapping import (
    GyroMapping,
    LogMapping,
    MappingError,
    PoseMapping,
    TimeMapping,
    ValueMapping,
)
from c3p_bags.importing.ros1_log import COPIED, Ros1Log
from c3p_bags.importing.tables import LATEST, Log, LogTable, converted, leaps, usable
from c3p_bags.importing.wpilog import WpiLog
from c3p_bags.storage.bag_parameters import notes
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_bags.storage.mcap import MAGIC as MCAP
from c3p_bags.storage.opened_files import SQLITE
from c3p_description.model import Array, ModelError
from c3p_description.reading.loader import load_casters, robot_description
from c3p_description.reading.parameters import is_robot_name
from c3p_description.reading.urdf import from_urdf

DESCRIPTION = '/robot_description'
TEXT = 'std_msgs/msg/String'

# first stamp of a log whose times begin at zero or before, s: zero means "not set"
BEGIN = 1.0


# shortest and longest usual period of joint states, s
USUAL_PERIOD = (2e-4, 2.0)


class JointFacts(NamedTuple):
    """Path of a joint [rad], and the fraction of its samples in motion that repeat a value."""

    path: float
    repeated: float


class Imported(NamedTuple):
    """
    Result of `import_logs`.

    New bag, messages by topic, duration [s], usual period and longest gap of the joint states
    [s], facts of each joint, and what was left out, in words.
    """

    bag: Path
    messages: dict[str, int]
    duration: float
    period: float
    longest_gap: float
    joints: dict[str, JointFacts]
    remarks: list[str]


def open_log(path: Path) -> Log:
    """
    Return an open log by its first bytes.

    Raises
    ------
    BagError
        A bag of ROS 2, or not a log that can be imported.
    """
    if not path.is_file():
        raise BagError(f'{path}: is a directory; name its log files' if path.is_dir() else
                       f'{path}: no such file')
    with path.open('rb') as file:
        head = file.read(16)
    if head.startswith(ros1_log.MAGIC):
        return Ros1Log(path)
    if head.startswith(wpilog.MAGIC):
        return WpiLog(path)
    if head.startswith((MCAP, SQLITE)):
        raise BagError(f'{path}: is a bag of ROS 2, which every command reads as it is')
    return CsvLog(path)


def import_logs(paths: Sequence[Path], mapping: LogMapping | None, out: Path) -> Imported:
    """
    Write logs of a robot to a new bag.

    Parameters
    ----------
    paths : sequence of Path
        CSV (also packed by gzip), WPILOG or ROS 1 bags of one drive, on one clock.
    mapping : LogMapping, optional
        Bags of ROS 1 need none for joint states, odometry, IMU and commands.
    out : Path
        Directory of the new bag; must not exist.

    Raises
    ------
    BagError
        A log cannot be read, or does not have what the mapping names; `out` exists.
    ModelError
        The robot of the mapping cannot be loaded.
    """
    if out.exists():
        raise BagError(f'bag {out}: exists already; name another place')
    logs = [(path, open_log(path)) for path in paths]
    remarks: list[str] = []
    sections = [] if mapping is None else _sections(logs, mapping, remarks)
    bags = [log for _, log in logs if isinstance(log, Ros1Log)]
    remarks += [f'{bag.path.name}: {remark}' for bag in bags for remark in bag.remarks]
    if mapping is None and len(bags) < len(logs):
        raise BagError(f'{paths[0]}: --mapping FILE is needed: it names the columns of the joints')
    _shift(sections, 0.0 if bags else BEGIN, remarks)
    with BagWriter(out) as writer:
        make = ImportedMessages(writer.types.types)
        for section in sections:
            writer.add(section.topic, section.kind)
        taken = {section.topic for section in sections}
        rows = [make.rows(section) for section in sections]
        for bag in bags:
            topics = [t for t, kind in bag.kinds.items() if kind in COPIED
                      and _absolute(t) not in taken and kind in writer.types.fielddefs]
            for topic in topics:
                writer.add(_absolute(topic), bag.kinds[topic], topic.endswith('description'))
            taken |= {_absolute(topic) for topic in topics}
            rows.append(_copied(bag, topics, make.types))
        if not taken:
            raise BagError(f'{paths[0]}: no topic of the types {", ".join(COPIED)}; name others '
                           'by --mapping')
        if mapping is not None and mapping.robot:
            remarks += _describe(writer, mapping.robot, sections, DESCRIPTION in taken)
        writer.note({'c3p_imported': ', '.join(path.name for path in paths)})
        first, last = math.inf, -math.inf
        for time, topic, message in merge(*rows, key=lambda row: row[0]):
            writer.write_message(topic, time, message)
            first = min(first, time)
            last = max(last, time)
    if not writer.counts:
        raise BagError(f'{paths[0]}: no message')
    return _result(out, dict(writer.counts), 1e-9 * (last - first), sections, remarks)


def _absolute(topic: str) -> str:
    return f'/{topic.lstrip("/")}'


def _sections(logs: Sequence[tuple[Path, Log]], mapping: LogMapping, remarks: list[str]
              ) -> list[ImportedSection]:
    """Return joints, ground truth and gyro of a mapping."""
    found = []
    if mapping.joints:
        joints = mapping.joints
        values = [joint.angle for joint in joints]
        rates = [joint.rate for joint in joints if joint.rate is not None]
        if len(rates) not in (0, len(joints)):
            without = [joint.name for joint in joints if joint.rate is None]
            remarks.append(f'no rate of {", ".join(without)}: the rates of the others are left '
                           'out')
            rates = []
        time, columns = _columns(logs, [*values, *rates], mapping.time, mapping.file, remarks)
        count = len(joints)
        found.append(ImportedSection('joints', time, np.column_stack(columns[:count]),
                             np.column_stack(columns[count:]) if rates else None,
                             tuple(joint.name for joint in joints)))
    for part in (mapping.ground_truth, mapping.imu):
        if part is not None:
            found.append(_extra(logs, part, remarks))
    return found


def _extra(logs: Sequence[tuple[Path, Log]], part: PoseMapping | GyroMapping,
           remarks: list[str]) -> ImportedSection:
    """Return the section of a ground truth or a gyro."""
    if isinstance(part, PoseMapping):
        time, columns = _columns(logs, [part.x, part.y, part.yaw], part.time, part.file, remarks)
        return ImportedSection('pose', time, np.column_stack(columns), None, (part.frame,))
    value = part.yaw or part.yaw_rate
    if value is None:
        raise MappingError('imu: has neither yaw nor yaw_rate')
    time, columns = _columns(logs, [value], part.time, part.file, remarks)
    what = 'yaw' if part.yaw else 'yaw_rate'
    return ImportedSection(what, time, np.column_stack(columns), None, ())


def _columns(logs: Sequence[tuple[Path, Log]], values: Sequence[ValueMapping], time: TimeMapping,
             pattern: str, remarks: list[str]) -> tuple[Array, list[Array]]:
    """Return times, and columns in SI units, of the first log that has them."""
    some = [(path, log) for path, log in logs if fnmatch(path.name, pattern or '*')]
    if not some:
        raise MappingError(f'file = {pattern!r}: none of the logs has such a name: '
                           f'{", ".join(path.name for path, _ in logs)}')
    names = list(dict.fromkeys(value.column for value in values))
    errors: list[BagError] = []
    for path, log in some:
        try:
            table = log.table(names, time, [v.column for v in values if v.increments])
        except BagError as error:
            errors.append(error)
            continue
        found: LogTable = usable(table, path)
        remarks += [f'{path.name}: {remark}' for remark in found.remarks]
        remarks += [f'{path.name}: {remark}' for value in values
                    if (remark := leaps(found.values[value.column], value))]
        return found.time, [converted(found.values[value.column], value) for value in values]
    raise errors[0]


def _shift(sections: Sequence[ImportedSection], least: float, remarks: list[str]) -> None:
    """Shift all times so that stamps are positive; refuse those that ROS does not represent."""
    if not sections:
        return
    first = min(float(section.time[0]) for section in sections)
    last = max(float(section.time[-1]) for section in sections)
    if last >= LATEST:
        raise BagError(f'times up to {last:.4g} s: ROS has none from {LATEST:.4g} s on; check the '
                       'unit of the time')
    if first <= 0.0:
        by = max(least, BEGIN) - first
        remarks.append(f'the times begin at {first:.6g} s; they are shifted by {by:+.6g} s, '
                       'because a stamp of zero means "not set"')
        for section in sections:
            section.time += by


def _describe(writer: BagWriter, robot: str, sections: Sequence[ImportedSection], known: bool
              ) -> list[str]:
    """
    Write name or description of the robot, whose joints must be those of the mapping.

    Returns remarks.
    """
    model = load_casters(robot)
    joints = next((set(section.names) for section in sections if section.what == 'joints'), None)
    if joints is not None and (
            absent := [name for name in model.sensed_joints if name not in joints]):
        raise MappingError(f'joints of the robot {robot} that the mapping does not have: '
                           f'{", ".join(absent)}; it has {", ".join(sorted(joints))}')
    if is_robot_name(robot):
        writer.note(notes(robot))
        return []
    if known:
        return []
    try:
        text = robot_description(robot)
        from_urdf(text)
    except ModelError:
        return [f'the description of {robot} as a URDF cannot be read back, and is not in the '
                f'bag: name the robot, --robot {robot}']
    else:
        writer.add(DESCRIPTION, TEXT, latched=True)
        begin = min((int(1e9 * section.time[0]) for section in sections), default=1)
        writer.write_message(DESCRIPTION, begin, writer.types.types[TEXT](text))
    return []


def _copied(bag: Ros1Log, topics: Sequence[str], types: Mapping[str, type]
            ) -> Iterator[tuple[int, str, Any]]:
    for topic, time, message in bag.messages(topics):
        yield time, _absolute(topic), ros1_log.copied(message, types)


def _result(out: Path, messages: dict[str, int], duration: float,
            sections: Sequence[ImportedSection], remarks: list[str]) -> Imported:
    period = gap = 0.0
    joints = {}
    for section in sections:
        if section.what == 'joints':
            steps = np.diff(section.time)
            period = float(np.median(steps)) if len(steps) else 0.0
            gap = float(steps.max(initial=0.0))
            for name, angle in zip(section.names, section.value.T, strict=True):
                joints[name] = _facts(angle)
            remarks += _period_remark(period)
    return Imported(out, messages, duration, period, gap, joints, remarks)


def _period_remark(period: float) -> list[str]:
    """Return a remark on a period that joint states of a robot hardly have."""
    if not period or USUAL_PERIOD[0] <= period <= USUAL_PERIOD[1]:
        return []
    return [f'a sample every {period:.3g} s: check the unit of the time']


def _facts(angle: Array) -> JointFacts:
    """Return the facts of a joint."""
    steps = np.abs(np.diff(angle))
    moving = np.flatnonzero(steps > 0.0)
    # a sample without a step between two with one
    inside = len(steps[moving[0]:moving[-1] + 1]) if len(moving) else 0
    return JointFacts(float(steps.sum()), 1.0 - len(moving) / inside if inside else 0.0)
