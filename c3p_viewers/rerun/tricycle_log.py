# SPDX-License-Identifier: Apache-2.0
"""The tricycle in a recording of Rerun: on its ground, with its camber and its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.recorder.transforms import Transform
from c3p_bags.report.style import caster_colour
from c3p_bags.runs.ride_log import Ground
from c3p_description.model import Array
from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.reading.loader import robot_description
from c3p_viewers.mujoco.caption import DRIVEN
from c3p_viewers.rerun.robot_log import RobotLog
from c3p_viewers.scene.camber_scene import camber_scene
from c3p_viewers.sources.ride_reader import RideMoment

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

# width of the path, m
BROAD = 0.02


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

    def __init__(self, recording: Any, tricycle: PvcTricycle, description: str | Path) -> None:
        """Log the static parts."""
        super().__init__(recording, robot_description(description), PLOTS, description)
        self._tricycle = tricycle

    def moment(self, moment: RideMoment) -> None:
        """Log pose, joints and camber."""
        x, y, z, *rotation = (float(v) for v in moment.pose)
        self.place(moment.time, Transform((x, y, z), tuple(rotation)),
                   dict(zip(JOINTS, moment.joint.tolist(), strict=True)))
        self.shapes(camber_scene(self._tricycle, moment.joint))

    def ground(self, ground: Ground) -> None:
        """Log the ground, which replaces the one before."""
        self._recording.log('odom/ground', self._rr.Mesh3D(
            vertex_positions=ground.corners,
            triangle_indices=np.arange(len(ground.corners)).reshape(-1, 3),
            vertex_colors=np.round(255 * ground.colours).astype(np.uint8)
            if len(ground.colours) == len(ground.corners) else None))

    def path(self, points: Array, static: bool = True) -> None:
        """Log the path of the platform's origin, (k, 3), m."""
        self.line('driven', points, DRIVEN, BROAD, static)
