# SPDX-License-Identifier: Apache-2.0
"""``c3p view`` of the tricycle, in Rerun: a bag, the live vehicle, a file, a picture."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from c3p_bags.runs.ride_log import Ride, read_ride
from c3p_description.model import Array, ModelError
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load_tricycle
from c3p_viewers.options import ViewOptions
from c3p_viewers.rerun.layout import blueprint
from c3p_viewers.rerun.show import MOST_MOMENTS, RATE, SAMPLES, show_run, spawn
from c3p_viewers.rerun.tricycle_log import (
    TITLES,
    TricycleLog,
    lines,
    platform_lines,
)
from c3p_viewers.sources.ride_reader import TOPICS, RideReader, ride_at

# where the camera is, in the frame of the vehicle, m
CAMERA = (-3.6, -3.4, 2.6)
# moments a second of a live vehicle
LIVE_RATE = 30.0
# points of the path that are nearer to each other cannot be told apart, m
SPACING = 0.02


def view_tricycle(options: ViewOptions) -> dict[str, Any]:
    """
    Show a tricycle in Rerun, or write the requested file; return values for JSON.

    Parameters
    ----------
    options : ViewOptions

    Raises
    ------
    ModelError
        Another viewer than Rerun is selected.
    BagError, PictureError
        A bag that cannot be read; the viewer cannot draw here.
    """
    tricycle = load_tricycle(options.robot)
    if options.viewer not in (None, 'rerun'):
        raise ModelError(f'--viewer {options.viewer} draws caster robots; for {tricycle.name} '
                         'choose --viewer rerun')
    shown = {'viewer': 'rerun', 'robot': tricycle.name,
             'bag': None if options.bag is None else str(options.bag), 'files': {}}
    if options.bag is None:
        _follow(options, tricycle)
        return shown
    ride = read_ride(options.bag, options.namespace)
    shown['duration_s'] = end = float(ride.time[-1])
    time = float(end / 2 if options.time is None else np.clip(options.time, 0.0, end))
    if options.picture is not None:
        shown['time_s'] = time
    shown['files'] = show_run(options, blueprint(TITLES, CAMERA), time, lambda recording: log_ride(
        TricycleLog(recording, tricycle, options.robot), ride))
    return shown


def log_ride(log: TricycleLog, ride: Ride) -> None:
    """
    Log a whole run.

    Parameters
    ----------
    log : TricycleLog
    ride : Ride
    """
    log.path(ride.pose[::1 + len(ride.pose) // SAMPLES, :3])
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
    path: list[Array] = []
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
        if not path or np.linalg.norm(moment.pose[:3] - path[-1]) > SPACING:
            path.append(moment.pose[:3])
            log.path(np.array(path), static=False)


def _follow(options: ViewOptions, tricycle: PvcTricycle) -> None:
    from c3p_viewers.sources.live import Taps, live_node

    log = TricycleLog(spawn(blueprint(TITLES, CAMERA)), tricycle, options.robot)
    with live_node(options.namespace) as (node, going):
        reader = RideReader()
        Taps(node, TOPICS, reader.put)
        follow(log, reader, lambda: going(clock.monotonic() + 1.0 / LIVE_RATE))
