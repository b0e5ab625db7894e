# SPDX-License-Identifier: Apache-2.0
"""``c3p view`` of the tricycle, in Rerun: a bag, the live vehicle, a file, a picture."""

from __future__ import annotations

import time as clock
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.runs.ride_log import Ride, read_ride
from c3p_description.model import Array, ModelError
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load_tricycle
from c3p_viewers.rerun.rerun_layout import blueprint
from c3p_viewers.rerun.rerun_view import (
    MOST_MOMENTS,
    RATE,
    SAMPLES,
    spawn,
    write_recording,
)
from c3p_viewers.rerun.tricycle_log import (
    TITLES,
    TricycleLog,
    lines,
    platform_lines,
)
from c3p_viewers.sources.ride_reader import TOPICS, RideReader, ride_at

# where the camera is, in the frame of the vehicle, m
CAMERA = (-3.6, -3.4, 2.6)
# points of the way that are nearer to each other cannot be told apart, m
SPACING = 0.02


def view(arguments: Namespace) -> dict[str, Any]:
    """
    Do what ``c3p view`` asks of a tricycle; return what was shown, for JSON.

    Parameters
    ----------
    arguments : Namespace
        Of ``c3p view``.

    Raises
    ------
    ModelError
        Another viewer than Rerun is asked for.
    BagError, PictureError
        A bag that cannot be read; the viewer cannot draw here.
    """
    tricycle = load_tricycle(arguments.robot)
    # only Rerun draws it, so it needs not be asked for
    if arguments.viewer not in (None, 'rerun'):
        raise ModelError(f'--viewer {arguments.viewer} draws caster robots; for {tricycle.name} '
                         'choose --viewer rerun')
    figures = {'viewer': 'rerun', 'robot': tricycle.name,
               'bag': None if arguments.bag is None else str(arguments.bag), 'files': {}}
    if arguments.bag is None:
        _follow(arguments, tricycle)
        return figures
    ride = read_ride(arguments.bag, arguments.namespace)
    figures['duration_s'] = float(ride.time[-1])
    fill = partial(_fill, tricycle, arguments.robot, ride)
    if arguments.headless_screenshot is not None:
        from c3p_viewers.rerun.rerun_picture import rerun_picture

        figures['time_s'] = float(ride.time[-1] / 2 if arguments.time is None else np.clip(
            arguments.time, 0.0, ride.time[-1]))
        figures['files'] = {'picture': str(rerun_picture(
            lambda file: write_recording(file, _layout(), fill), arguments.headless_screenshot,
            figures['time_s']))}
    elif arguments.save is not None:
        figures['files'] = {'recording': str(write_recording(arguments.save, _layout(), fill))}
    else:
        recording = spawn(_layout())
        fill(recording)
        recording.flush()
    return figures


def _layout() -> Any:
    return blueprint(TITLES, CAMERA)


def _fill(tricycle: PvcTricycle, description: str | Path, ride: Ride, recording: Any) -> None:
    log_ride(TricycleLog(recording, tricycle, description), ride)


def log_ride(log: TricycleLog, ride: Ride) -> None:
    """
    Log a whole run.

    Parameters
    ----------
    log : TricycleLog
    ride : Ride
    """
    log.way(ride.pose[::1 + len(ride.pose) // SAMPLES, :3])
    for time, values in ((ride.time, lines(ride.joint, ride.rate)),
                         (ride.pose_time, platform_lines(ride.pose, ride.twist))):
        step = 1 + len(time) // SAMPLES
        for (plot, line), value in values.items():
            log.numbers(plot, line, time[::step], value[::step])
    grounds = list(ride.grounds)
    length = max(float(ride.time[-1]), 1.0 / RATE)
    for time in np.arange(0.0, length, max(1.0 / RATE, length / MOST_MOMENTS)):
        log.moment(ride_at(ride, float(time)))
        while grounds and grounds[0][0] <= time:
            log.ground(grounds.pop(0)[1])


def follow(log: TricycleLog, reader: RideReader, going: Callable[[], bool]) -> None:
    """
    Show a live tricycle.

    Parameters
    ----------
    log : TricycleLog
    reader : RideReader
    going : callable
        Returns whether to go on; may wait until the next moment.
    """
    way: list[Array] = []
    while going():
        moment = reader.moment(clock.monotonic())
        if moment is None:
            continue
        log.moment(moment)
        if (ground := reader.ground()) is not None:
            log.ground(ground)
        for (plot, line), value in {**lines(moment.joint, moment.rate),
                                    **platform_lines(moment.pose, moment.twist)}.items():
            log.number(plot, line, float(value))
        if not way or np.linalg.norm(moment.pose[:3] - way[-1]) > SPACING:
            way.append(moment.pose[:3])
            log.way(np.array(way), static=False)


def _follow(arguments: Namespace, tricycle: PvcTricycle) -> None:
    from c3p_viewers import windows
    from c3p_viewers.sources.live_source import Taps

    log = TricycleLog(spawn(_layout()), tricycle, arguments.robot)
    with windows.on_air(arguments.namespace) as (node, going):
        reader = RideReader()
        Taps(node, TOPICS, reader.put)
        follow(log, reader, lambda: going(clock.monotonic() + 1.0 / windows.RATE))
