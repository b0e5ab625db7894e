# SPDX-License-Identifier: Apache-2.0
"""The tricycle in Rerun: a recorded run or the live vehicle, on its ground and with its camber."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_bags.runs.ride_log import Ride, RideGround, read_ride
from c3p_bags.storage.bag import Bag
from c3p_description.model import Array, ModelError
from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.reading.loader import load_tricycle, robot_description
from c3p_plots.style import caster_colour
from c3p_viewers.mujoco.caption import DRIVEN
from c3p_viewers.options import ViewOptions
from c3p_viewers.rerun.layout import blueprint
from c3p_viewers.rerun.robot_log import SAMPLES, RobotLog
from c3p_viewers.rerun.show import MOST_MOMENTS, RATE, show_run, spawn
from c3p_viewers.scene.camber_scene import camber_scene
from c3p_viewers.sources.ride_reader import TOPICS, RideMoment, RideReader, ride_at

# where the camera is, in the frame of the vehicle, m
CAMERA = (-3.6, -3.4, 2.6)
# moments a second of a live vehicle
LIVE_RATE = 30.0
# plots, and their lines: label and colour
PLOTS = {
    'camber': {f'wheel_{i}': (f'wheel {i} [deg]', caster_colour(i - 1)) for i in (2, 3)},
    'tilt': {'roll': ('roll [deg]', '#CC79A7'), 'pitch': ('pitch [deg]', '#56B4E9')},
    'speed': {'forward': ('forward [m/s]', '#0072B2'), 'turn': ('turn [rad/s]', '#56B4E9')},
    'steering': {'wheel_1': ('wheel 1 [deg]', caster_colour(0))},
    'drive': {f'wheel_{i}': (f'wheel {i} [rad/s]', caster_colour(i - 1)) for i in (1, 2, 3)},
}
TITLES = {'camber': 'camber of the rear wheels [deg]', 'tilt': 'tilt of the platform [deg]',
          'speed': 'speed by odometry', 'steering': 'steering [deg]',
          'drive': 'rates of the wheels [rad/s]'}


def roll_pitch(quaternion: Array) -> tuple[Array, Array]:
    """
    Return roll and pitch of unit quaternions (…, 4), x, y, z, w, rad.

    Examples
    --------
    >>> roll, pitch = roll_pitch(np.array([np.sin(0.1), 0.0, 0.0, np.cos(0.1)]))
    >>> round(float(roll), 6), round(float(pitch), 6)
    (0.2, 0.0)
    """
    x, y, z, w = np.moveaxis(np.asarray(quaternion, float), -1, 0)
    return (np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0)))


def lines(joint: Array, rate: Array) -> dict[tuple[str, str], Array]:
    """Return the values of the plots that come from joints and their rates (…, 6)."""
    def of(values: Array, kind: str, wheel: int) -> Array:
        return values[..., JOINTS.index(f'{kind}_joint_{wheel}')]

    return {**{('camber', f'wheel_{i}'): np.degrees(of(joint, 'camber', i)) for i in (2, 3)},
            ('steering', 'wheel_1'): np.degrees(of(joint, 'steering', 1)),
            **{('drive', f'wheel_{i}'): of(rate, 'wheel', i) for i in (1, 2, 3)}}


def platform_lines(pose: Array, twist: Array) -> dict[tuple[str, str], Array]:
    """Return the values of the plots that come from poses (…, 7) and twists (…, 6)."""
    roll, pitch = roll_pitch(pose[..., 3:])
    return {('tilt', 'roll'): np.degrees(roll), ('tilt', 'pitch'): np.degrees(pitch),
            ('speed', 'forward'): twist[..., 0], ('speed', 'turn'): twist[..., 5]}


class TricycleLog(RobotLog):
    """
    Logs one tricycle.

    Parameters
    ----------
    recording : rerun.RecordingStream
    tricycle : PvcTricycle
    description : str or Path
        Name or path of the description, as for `loader.load`.
    """

    BROAD = 0.02

    def __init__(self, recording: Any, tricycle: PvcTricycle, description: str | Path) -> None:
        """Log the static parts."""
        super().__init__(recording, robot_description(description), PLOTS, description)
        self._tricycle = tricycle

    def moment(self, moment: RideMoment) -> None:
        """Log pose, joints and camber."""
        x, y, z, *rotation = (float(v) for v in moment.pose)
        i, j, k, w = rotation
        self.place(moment.time, Transform((x, y, z), (i, j, k, w)),
                   dict(zip(JOINTS, moment.joint.tolist(), strict=True)))
        self.shapes(camber_scene(self._tricycle, moment.joint))

    def ground(self, ground: RideGround) -> None:
        """Log the ground, which replaces the one before."""
        self._recording.log('odom/ground', self._rr.Mesh3D(
            vertex_positions=ground.corners,
            triangle_indices=np.arange(len(ground.corners)).reshape(-1, 3),
            vertex_colors=np.round(255 * ground.colours).astype(np.uint8)
            if len(ground.colours) == len(ground.corners) else None))


def view_tricycle(options: ViewOptions, bag: Bag | None = None) -> dict[str, Any]:
    """
    Show a tricycle in Rerun, or write the requested file; return values for JSON.

    Parameters
    ----------
    options : ViewOptions
    bag : Bag, optional
        Open bag of the options; None for the live topics.

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
    shown: dict[str, Any] = {'viewer': 'rerun', 'robot': tricycle.name, 'files': {},
                             'bag': None if options.bag is None else str(options.bag)}
    if bag is None:
        _follow(options, tricycle)
        return shown
    ride = read_ride(bag, options.namespace)
    shown['duration_s'] = end = float(ride.time[-1])
    time = float(end / 2 if options.time is None else np.clip(options.time, 0.0, end))
    if options.picture is not None:
        shown['time_s'] = time
    shown['files'] = show_run(options, blueprint(TITLES, CAMERA), time, lambda recording: log_ride(
        TricycleLog(recording, tricycle, options.robot), ride))
    return shown


def log_ride(log: TricycleLog, ride: Ride) -> None:
    """Log a whole run."""
    log.line('driven', ride.pose[::1 + len(ride.pose) // SAMPLES, :3], DRIVEN, log.BROAD)
    log.columns(ride.time, lines(ride.joint, ride.rate))
    log.columns(ride.pose_time, platform_lines(ride.pose, ride.twist))
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
    while going():
        moment = reader.moment(clock.monotonic())
        if moment is None:
            continue
        log.moment(moment)
        if (ground := reader.ground()) is not None:
            log.ground(ground)
        log.live({**lines(moment.joint, moment.rate),
                  **platform_lines(moment.pose, moment.twist)}, moment.pose[:3])


def _follow(options: ViewOptions, tricycle: PvcTricycle) -> None:
    from c3p_viewers.sources.live import Taps, live_node

    log = TricycleLog(spawn(blueprint(TITLES, CAMERA)), tricycle, options.robot)
    with live_node(options.namespace) as (node, going):
        reader = RideReader()
        Taps(node, TOPICS, reader.put)
        follow(log, reader, lambda: going(clock.monotonic() + 1.0 / LIVE_RATE))
