# SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from a bag: recording, choice of torques, and result files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.run_log import RunLog, Series
from c3p_bags.storage.bag import Bag
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_description.reading.written import write_robot
from c3p_dynamics.identification.identify import identify
from c3p_dynamics.identification.recording import IdentificationError, Recording, ShootingSettings
from c3p_dynamics.identification.result import Identification
from c3p_experiments.identification.report import identified_fields, metrics_of, robot_file
from c3p_experiments.kept_description import kept_description

TORQUES = ('auto', 'command', 'measured')

# relative rms difference of reported from commanded torques above which both are tried
DISOBEYED = 0.1

# delays for the comparison of commanded and reported torques, s
DELAYS = np.arange(0.0, 0.1, 1e-3)


class Read(NamedTuple):
    """A recording, and notes on omitted data."""

    recording: Recording
    left_out: list[str]


class Identified(NamedTuple):
    """A result, its recording, the source of its torques, and notes."""

    found: Identification
    recording: Recording
    torque: str
    notes: list[str]


def recording_of(log: RunLog, robot: CasterRobot, torque: str = 'command') -> Read:
    """
    Return the joints and torques of a run.

    Parameters
    ----------
    log : RunLog
    robot : CasterRobot
    torque : {'command', 'measured'}
        ``wheel_effort``, or the efforts in ``joint_states``: as reported by the drives for the
        time since the sample before.

    Raises
    ------
    IdentificationError
        The bag has no torques, or no finite ones.
    """
    later = _increasing(log.joints.time)
    commands = _commanded(log, robot) if torque == 'command' else _measured(log, robot, later)
    finite = np.asarray(np.isfinite(commands.value).all(axis=1))
    left_out = []
    if not later.all():
        left_out.append(f'{np.sum(~later)} joint states that are not later than the one before')
    if not finite.all():
        left_out.append(f'{np.sum(~finite)} of {len(finite)} torques, not finite')
    if not finite.any():
        raise IdentificationError(f'bag {log.path}: no torque in it is finite')
    when = commands.time[finite]
    value = commands.value[finite]
    in_order = _increasing(when)
    return Read(Recording(
        log.joints.time[later], np.unwrap(log.joints.steering[later], axis=0),
        np.unwrap(log.joints.wheel_angle[later], axis=0), when[in_order], value[in_order]),
        left_out)


def _increasing(time: Array) -> Array:
    """Return a mask of times later than all before."""
    return np.concatenate([[True], time[1:] > np.maximum.accumulate(time)[:-1]])


def _commanded(log: RunLog, robot: CasterRobot) -> Series:
    if log.wheel_effort is None:
        efforts = sorted(t for t in log.messages if t.endswith('wheel_effort'))
        found = (f'{efforts} has no message with efforts of the joints '
                 f'{list(robot.wheel_joints)}' if efforts else 'it has no topic wheel_effort')
        raise IdentificationError(f'bag {log.path}: {found}. Record wheel_effort, or use the '
                                  'torques reported by the drives, --torque measured')
    return log.wheel_effort


def _measured(log: RunLog, robot: CasterRobot, later: Array) -> Series:
    time = log.joints.time[later]
    torque = log.joints.wheel_torque[later]
    # without reports the efforts are zero
    if not np.nan_to_num(torque).any():
        raise IdentificationError(f'bag {log.path}: joint_states carry no efforts of '
                                  f'{list(robot.wheel_joints)}; use --torque command')
    # a sample reports the torque of the time before it
    return Series(time[:-1], torque[1:])


def disobedience(command: Recording, measured: Recording) -> float:
    """
    Return the rms difference of reported and commanded torques relative to the commanded rms.

    At the delay of best agreement.
    """
    # middle of the cycle of each reported torque
    middle = measured.torque_time[1:-1] + 0.5 * np.diff(measured.torque_time)[1:]
    reported = measured.torque[1:-1]
    errors = []
    for delay in DELAYS:
        row = np.searchsorted(command.torque_time, middle - delay, side='right') - 1
        errors.append(np.mean((reported - command.torque[np.clip(row, 0, None)])**2))
    return float(np.sqrt(min(errors) / max(np.mean(command.torque**2), np.finfo(float).tiny)))


def identify_run(log: RunLog, robot: CasterRobot, torque: str = 'auto', **options: Any
                 ) -> Identified:
    """
    Identify a robot from a run.

    Parameters
    ----------
    log : RunLog
    robot : CasterRobot
        The description.
    torque : {'auto', 'command', 'measured'}
        ``auto`` uses the commands; if reported torques differ, those with the smaller errors.
    **options
        Passed to `identification.identify`.

    Raises
    ------
    IdentificationError
        The motion identifies no parameter.
    ValueError
        An invalid option.
    """
    if torque not in TORQUES:
        raise ValueError(f'torque = {torque!r}: must be one of {", ".join(TORQUES)}')

    def found_with(source: str, read: Read) -> Identified:
        return Identified(identify(robot, read.recording, **options), read.recording, source,
                          [f'left out: {text}' for text in read.left_out])

    if torque != 'auto':
        return found_with(torque, recording_of(log, robot, torque))
    try:
        measured = recording_of(log, robot, 'measured')
    except IdentificationError:
        return found_with('command', recording_of(log, robot, 'command'))
    if log.wheel_effort is None:
        return found_with('measured', measured)
    command = recording_of(log, robot, 'command')
    limited = command.recording._replace(torque=np.clip(
        command.recording.torque, -robot.effort_limit, robot.effort_limit))
    part = disobedience(limited, measured.recording)
    if part < DISOBEYED:
        return found_with('command', command)
    return _better(found_with, command, measured, part)


def _better(found_with: Callable[[str, Read], Identified], command: Read, measured: Read,
            part: float) -> Identified:
    """Return the identification with smaller errors, of commanded and of reported torques."""
    both = []
    errors = []
    for source, read in (('command', command), ('measured', measured)):
        try:
            both.append(found_with(source, read))
            errors.append(float(np.sqrt(np.mean(both[-1].found.errors**2))))
        except IdentificationError as error:
            failed = error
    if not both:
        raise failed
    best = both[int(np.argmin(errors))]
    best.notes.append(
        f'reported torques differ from commanded torques by {part:.0%}: used {best.torque}, which '
        f'fits better; errors of '
        + ', '.join(f'{1e3 * e:.2g} mm ({b.torque})' for e, b in zip(errors, both, strict=True)))
    return best


def identify_bag(bag: Bag, robot: str = 'c3p', out: str | Path = 'out/identify', *,
                 namespace: str | None = None, torque: str = 'auto', segment: float = 0.5,
                 recorded: bool = False, **options: Any) -> dict[str, Any]:
    """
    Identify a robot from a bag; write robot file and page, return the metrics.

    Parameters
    ----------
    bag : Bag
    robot : str
        Name or path of the description.
    out : str or Path
        Directory for ``identified.yaml``, ``identify.png`` and ``identify.pdf``.
    namespace : str, optional
        Of the robot in the bag; default: the only one.
    torque : {'auto', 'command', 'measured'}
        As in `identify_run`.
    segment : float, s
        Longest segment of prediction.
    recorded : bool
        A URDF `robot` is the one in the bag, and kept as ``robot.urdf`` beside the robot file.
    **options
        `estimate`, `per_caster` and `confidence` of `identification.identify`.

    Returns
    -------
    dict
        For JSON, SI units; see docs/identification.md.

    Raises
    ------
    BagError, ModelError, IdentificationError
        No bag, no robot, or no identifiable parameter.
    ValueError
        An invalid option.
    """
    from c3p_experiments.identification.page import identification_figure

    model = load_casters(robot)
    result = identify_run(read_run(bag, model, namespace), model, torque,
                          settings=ShootingSettings(segment=segment), **options)
    metrics = {'robot': robot, 'bag': str(bag), 'torque': result.torque,
               **metrics_of(result.found)}
    metrics['notes'] += result.notes
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    file = out / 'identified.yaml'
    robot = metrics['robot'] = kept_description(robot, out, recorded)
    write_robot(file, robot_file(result.found, robot, file, str(bag)), result.found.robot,
                identified_fields(result.found))
    picture, document = identification_figure(result.found, model, result.recording,
                                              out / 'identify.png')
    metrics['files'] = {'picture': str(picture), 'picture_pdf': str(document), 'robot': str(file)}
    return metrics
