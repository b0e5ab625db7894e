# SPDX-License-Identifier: Apache-2.0
"""Rerun: its viewer on a run or on the live robot, and recordings for it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.run_log import Series
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_kinematics.singularity import singularity
from c3p_viewers.rerun.rerun_layout import blueprint, import_rerun
from c3p_viewers.rerun.rerun_log import RerunLog
from c3p_viewers.rerun.rerun_process import RerunProcess, ShownRecording
from c3p_viewers.screen import require_screen
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment

# moments a second of a bag and of a live robot; more samples of a line cannot be seen
RATE, SAMPLES = 20.0, 50_000
# moments of a whole run: long ones have fewer a second
MOST_MOMENTS = 3000
# name under which the viewer keeps what belongs together
APPLICATION = 'c3p'


def log_run(log: RerunLog, source: BagSource) -> None:
    """
    Log a whole run.

    Parameters
    ----------
    log : RerunLog
    source : BagSource
    """
    log.way('driven', source.path)
    if source.apart:
        log.way('truth', source.truth)
    run, n = source.log, source.log.joints.steering.shape[1]
    for ending, series in (('_asked', run.cmd_vel), ('', None if run.odom is None else Series(
            run.odom.time, run.odom.twist))):
        _columns(log, 'twist', [f'{axis}{ending}' for axis in ('vx', 'vy', 'omega')], series)
    joints = run.joints
    wheels = [f'wheel_{i + 1}' for i in range(n)]
    _columns(log, 'steering', [f'caster_{i + 1}' for i in range(n)],
             Series(joints.time, np.degrees(joints.steering)))
    _columns(log, 'torque', wheels, run.wheel_effort or Series(joints.time, joints.wheel_torque))
    if run.slip is not None:
        _columns(log, 'slip', wheels,
                 Series(run.slip.time, np.linalg.norm(run.slip.residual, axis=-1)))
    step = 1 + len(joints.time) // SAMPLES
    state = singularity(log.robot, joints.steering[::step])
    log.numbers('singularity', 'sigma_min', joints.time[::step], np.abs(state.sigma_min))
    length = max(source.end - source.start, 1.0 / RATE)
    for moment in source.moments(min(RATE, MOST_MOMENTS / length)):
        log.moment(moment)


def _columns(log: RerunLog, plot: str, lines: list[str], series: Series | None) -> None:
    """Log the columns of a series as lines of a plot."""
    if series is None:
        return
    step = 1 + len(series.time) // SAMPLES
    for k, line in enumerate(lines):
        log.numbers(plot, line, series.time[::step], np.asarray(series.value)[::step, k])


def write_recording(path: str | Path, layout: Any, fill: Callable[[Any], object]) -> Path:
    """
    Write a file for Rerun.

    Parameters
    ----------
    path : str or Path
        ``.rrd``.
    layout : rerun.blueprint.Blueprint
    fill : callable
        Logs into the recording that it is given.
    """
    recording = import_rerun().RecordingStream(APPLICATION)
    recording.save(path, default_blueprint=layout)
    fill(recording)
    recording.flush()
    # closes the file
    recording.disconnect()
    return Path(path)


def save_run(source: BagSource, robot: CasterRobot, description: str | Path, path: str | Path
             ) -> Path:
    """
    Write a run as a file for Rerun.

    Parameters
    ----------
    source : BagSource
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.
    path : str or Path
        ``.rrd``.
    """
    return write_recording(path, blueprint(), lambda recording: log_run(
        RerunLog(recording, robot, description), source))


def save(arguments: Namespace) -> dict[str, Any]:
    """Write the ``.rrd`` that ``c3p view --save`` asks for; return what is in it, for JSON."""
    robot = load_casters(arguments.robot)
    source = BagSource(read_run(arguments.bag, robot, arguments.namespace))
    path = save_run(source, robot, arguments.robot, arguments.save)
    return {'viewer': 'rerun', 'robot': robot.name, 'bag': str(arguments.bag),
            'duration_s': source.end - source.start, 'files': {'recording': str(path)}}


def open_run(source: BagSource, robot: CasterRobot, description: str | Path) -> None:
    """
    Open Rerun's viewer on a run; it stays open when this program ends.

    Parameters
    ----------
    source : BagSource
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.
    """
    recording = spawn(blueprint())
    log_run(RerunLog(recording, robot, description), source)
    recording.flush()


def spawn(layout: Any) -> Any:
    """
    Return a recording that goes to a viewer of its own, which only this computer reaches.

    Raises
    ------
    PictureError
        No screen, or the viewer does not start; the text says what is missing.
    """
    rr = import_rerun()
    require_screen()
    viewer = RerunProcess()
    recording = rr.RecordingStream(APPLICATION)
    recording.connect_grpc(viewer.url, default_blueprint=layout)
    shown = ShownRecording(recording, viewer)
    # a viewer that cannot open its window ends now, and not in the middle of a run
    shown.flush()
    return shown


def follow(robot: CasterRobot, description: str | Path, moments: Callable[[], Moment | None],
           going: Callable[[], bool]) -> None:
    """
    Show a live robot in Rerun's viewer.

    Parameters
    ----------
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.
    moments : callable
        Returns the newest moment, None while nothing is known.
    going : callable
        Returns whether to go on; may wait until the next moment.
    """
    log = RerunLog(spawn(blueprint()), robot, description)
    way: list[Array] = []
    while going():
        moment = moments()
        if moment is not None:
            log.moment(moment)
            live_numbers(log, moment)
            if not way or np.hypot(*(moment.place[:2] - way[-1])) > 0.02:
                way.append(np.array(moment.place[:2]))
                log.way('driven', np.array(way), static=False)


def live_numbers(log: RerunLog, moment: Moment) -> None:
    """Log the lines of all plots at a moment."""
    for ending, twist in (('_asked', moment.command), ('', moment.twist)):
        if twist is not None:
            for axis, value in zip(('vx', 'vy', 'omega'), twist, strict=True):
                log.number('twist', f'{axis}{ending}', float(value))
    slip = None if moment.residual is None else np.linalg.norm(moment.residual, axis=-1)
    for plot, word, values in (('steering', 'caster', np.degrees(moment.steering)),
                               ('torque', 'wheel', moment.torque), ('slip', 'wheel', slip)):
        if values is not None:
            for k, value in enumerate(values):
                log.number(plot, f'{word}_{k + 1}', float(value))
    log.number('singularity', 'sigma_min',
               abs(float(singularity(log.robot, moment.steering).sigma_min)))
