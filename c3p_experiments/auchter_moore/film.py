# SPDX-License-Identifier: Apache-2.0
"""Films and stills of runs over rough ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from c3p_experiments.auchter_moore.drawing import RunStudio
from c3p_plots import style
from c3p_rough_ground.closed_chain import Run
from c3p_viewers.mujoco.films import FilmWriter, check_film
from c3p_viewers.mujoco.view import View

# of each kind of film: pictures a second, size, robot time per time of the film
KINDS = {'mp4': (25.0, (1024, 576), 2.0), 'gif': (10.0, (512, 288), 2.0)}
# the camera: distance, m, azimuth from the first to the last picture, elevation, opening, rad
DISTANCE, AZIMUTH, ELEVATION, OPENING = 7.0, (math.radians(105), math.radians(145)), math.radians(
    22), math.radians(18)
# time over which it smooths the vehicle's path, s, and what it looks at, ahead of the vehicle, m
SMOOTH = 2.0
LOOK_AHEAD = (0.5, 0.0, 0.15)
# ground beyond the contact paths along x and y, m
MARGIN = (1.5, 2.4)
STILLS = 6
STILL_SIZE = (960, 600)


class Camera:
    """
    Draws a run at any of its times, from a camera that follows the vehicle.

    Parameters
    ----------
    run, robot, size
        As for `RunStudio`.
    """

    def __init__(self, run: Run, robot: str | Path, size: Sequence[int]) -> None:
        """Build ground and vehicle."""
        self._run, self._studio = run, RunStudio(run, robot, size, MARGIN)
        # mean position over ± SMOOTH
        width = max(1, round(SMOOTH / run.step))
        padded = np.pad(run.position, ((width, width), (0, 0)), mode='edge')
        total = np.cumsum(padded, axis=0)
        self._middle = ((total[2 * width:] - total[:-2 * width])
                        / (2 * width))[:len(run)] + LOOK_AHEAD

    def picture(self, time: float) -> NDArray[np.uint8]:
        """Return the picture (height, width, 3) at a `time`, s."""
        run = self._run
        k = record(self._run, time)
        azimuth = np.interp(run.time[k], run.time[[0, -1]], AZIMUTH)
        view = View(self._middle[k], DISTANCE, float(azimuth), ELEVATION, OPENING)
        return self._studio.at([k], view, run.time[k])

    def close(self) -> None:
        """Release the renderer."""
        self._studio.close()


def record(run: Run, time: float) -> int:
    """Return the record of a `run` at a `time`, s."""
    return min(int(np.searchsorted(run.time, time - 1e-9)), len(run) - 1)


def caption(run: Run, time: float) -> str:
    """Return the caption of the picture of a `run` at a `time`, s: time and camber angles."""
    k = record(run, time)
    camber = ', '.join(f'{np.degrees(run.joint[k, run.vehicle.index(name)]):+.2f}°'
                       for name in run.vehicle.camber)
    return f't = {run.time[k]:.1f} s    camber {camber}'.replace('-', '\N{MINUS SIGN}')


def film(run: Run, robot: str | Path, path: str | Path,
         progress: Callable[[float], None] = lambda done: None) -> Path:
    """
    Write a film of a run.

    Parameters
    ----------
    run, robot
        As for `RunStudio`.
    path : str or Path
        Ends in ``.mp4`` or ``.gif``.
    progress : callable
        Takes the fraction that is done.

    Raises
    ------
    PictureError
        As `check_film` and `RunStudio`.
    """
    path = Path(path)
    kind = path.suffix[1:].lower()
    check_film(kind)
    rate, size, speed = KINDS[kind]
    times = np.arange(0.0, run.time[-1] + 0.5 * run.step, speed / rate)
    font = ImageFont.truetype(f'{get_data_path()}/fonts/ttf/DejaVuSans.ttf', size[1] // 26)
    camera = Camera(run, robot, size)
    with FilmWriter(path, rate) as writer:
        for k, time in enumerate(times):
            picture = Image.fromarray(np.ascontiguousarray(camera.picture(time)))
            ImageDraw.Draw(picture).text((0.03 * size[0], 0.04 * size[1]), caption(run, time),
                                         fill=(30, 34, 40), font=font)
            writer.add(np.asarray(picture))
            progress((k + 1) / len(times))
    camera.close()
    return path


def contact_sheet(run: Run, robot: str | Path, path: str | Path, stills: int = STILLS) -> Path:
    """
    Write a number of `stills` of a run at equal times on one PNG, three beside each other.

    Arguments and errors are those of `film`.
    """
    path = Path(path)
    camera = Camera(run, robot, STILL_SIZE)
    rows = math.ceil(stills / 3)
    page = style.figure(12.0, 0.1 + rows * (12.0 / 3 * STILL_SIZE[1] / STILL_SIZE[0] + 0.15))
    grid = page.add_gridspec(rows, 3, left=0.005, right=0.995, top=0.965, bottom=0.005,
                             hspace=0.09, wspace=0.015)
    for i, time in enumerate(np.linspace(0.0, run.time[-1], stills)):
        axes = page.add_subplot(grid[divmod(i, 3)])
        axes.imshow(camera.picture(time))
        axes.set_axis_off()
        axes.set_title(caption(run, time), fontsize=style.TITLE, pad=3)
    camera.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    page.savefig(path, dpi=200)
    return path
