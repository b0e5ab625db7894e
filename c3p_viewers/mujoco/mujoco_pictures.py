# SPDX-License-Identifier: Apache-2.0
"""Pictures and films of simulated and of recorded runs (see `mujoco_studio`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.runs.run_log import RunLog
from c3p_description.model import Array
from c3p_simulation.plants.plant import Plant
from c3p_viewers.mujoco.mujoco_studio import SIZE, PictureError, Studio, View

# pictures of a film per second of film
FRAME_RATE = 30.0

# robots in one picture
MOST_PLACES = 12


def render(plant: Plant, path: str | Path, robot: str | Path = 'c3p',
           view: View | None = None, size: Sequence[int] = SIZE) -> Path:
    """
    Write a picture of a plant as it stands now.

    Parameters
    ----------
    plant : Plant
    path : str or Path
        PNG.
    robot : str or Path
        Description that tells how it looks.
    view : View, optional
    size : (2,) sequence of int, pixels

    Returns
    -------
    Path

    Raises
    ------
    PictureError
        As `Studio`.
    """
    sample = plant.sense()
    with Studio(robot, size) as studio:
        return write_png(path, studio.draw(plant.truth().pose, sample.steering,
                                           sample.wheel_angle, view=view))


def render_run(log: RunLog, path: str | Path, robot: str | Path = 'c3p',
               count: int | None = None, view: View | None = None,
               size: Sequence[int] = SIZE) -> Path:
    """
    Write one picture with the robot at several places of a run, and its way.

    Parameters
    ----------
    log : RunLog
    path : str or Path
        PNG.
    robot : str or Path
        Description that tells how it looks.
    count : int, optional
        Places, at equal distances along the way from the first to the last; else as many as have
        room beside each other.
    view : View, optional
    size : (2,) sequence of int, pixels

    Returns
    -------
    Path

    Raises
    ------
    PictureError
        As `Studio`; also when the log has neither true poses nor odometry.
    """
    run = _Run(log)
    with Studio(robot, size) as studio:
        times = run.apart(studio.breadth, count)
        return write_png(path, studio.draw(*run.at(times), path=run.poses[:, :2], view=view))


def film(log: RunLog, path: str | Path, robot: str | Path = 'c3p', *, speed: float = 1.0,
         view: View | None = None, size: Sequence[int] = SIZE,
         progress: Callable[[float], None] = lambda done: None) -> Path:
    """
    Write a film of a run.

    Parameters
    ----------
    log : RunLog
    path : str or Path
        MP4.
    robot : str or Path
        Description that tells how it looks.
    speed : float
        Robot time per time of the film; 0.2 is slow motion.
    view : View, optional
        Else one of the whole way.
    size : (2,) sequence of int, pixels
        Even numbers.
    progress : callable
        Takes the share that is done, 0 to 1.

    Returns
    -------
    Path

    Raises
    ------
    PictureError
        As `render_run`; also when imageio or its ffmpeg is missing.
    ValueError
        A speed that is not positive.
    """
    if not 0 < speed < np.inf:
        raise ValueError(f'speed = {speed}: must be a positive number')
    run, path = _Run(log), Path(path)
    times = np.arange(run.times[0], run.times[-1], speed / FRAME_RATE)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _writer(path) as writer, Studio(robot, size) as studio:
        view = view or studio.overview(run.poses, None)
        for k, time in enumerate(times):
            writer.append_data(studio.draw(
                *run.at(np.array([time])), path=run.poses[run.times <= time, :2], view=view))
            progress((k + 1) / len(times))
    return path


def _writer(path: Path) -> Any:
    """Return imageio's writer of an MP4."""
    remedy = 'install it with `pip install c3p[film]` or `pip install imageio[ffmpeg]`'
    try:
        import imageio
    except ImportError as error:
        raise PictureError(f'{path}: a film needs imageio ({error}); {remedy}') from None
    try:
        # H.264 as every browser shows it
        return imageio.get_writer(path, fps=FRAME_RATE, codec='libx264', quality=8,
                                  macro_block_size=2)
    except (ImportError, ValueError, OSError) as error:
        raise PictureError(f'{path}: a film needs ffmpeg ({error}); {remedy}') from None


class _Run:
    """Poses and angles of a run at any time."""

    def __init__(self, log: RunLog) -> None:
        motion = log.ground_truth or log.odom
        if motion is None or not len(motion.time) or not len(log.joints.time):
            raise PictureError(f'{log.path}: no true poses, no odometry or no joint states, so '
                               'nothing can be drawn')
        self.times, self.poses, self._joints = motion.time, motion.pose, log.joints

    def apart(self, distance: float, count: int | None) -> Array:
        """Return times of `count` places along the way, or of those `distance` m apart."""
        way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.poses[:, :2], axis=0).T))])
        if count is None:
            count = min(MOST_PLACES, 1 + int(way[-1] / distance))
        # the last place is where the run ends, also when it has long stood there
        marks = np.linspace(0.0, way[-1], count)
        times = self.times[np.searchsorted(way, marks)]
        times[-1] = self.times[-1]
        return times

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return poses (k, 3), steering and wheel angles (k, n) at `times` (k,)."""
        joints = self._joints
        return tuple(np.column_stack([np.interp(times, known, column) for column in values.T])
                     for known, values in ((self.times, self.poses),
                                           (joints.time, joints.steering),
                                           (joints.time, joints.wheel_angle)))


def write_png(path: str | Path, pixels: Array) -> Path:
    """Write a picture (height, width, 3) of uint8 and return where; makes directories."""
    from matplotlib.image import imsave

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    imsave(path, np.ascontiguousarray(pixels))
    return path
