# SPDX-License-Identifier: Apache-2.0
"""Films and stills of runs over rough ground; drawn by `scene`, so that no OpenGL is needed."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from c3p_bags.report import style
from c3p_description.pvc_model import PvcTricycle
from c3p_experiments.auchter_moore.pages import marks, piece
from c3p_experiments.auchter_moore.scene import Scene, View
from c3p_experiments.auchter_moore.scene_vehicle import Figure
from c3p_kinematics.closed_chain_vehicle import Run

# what can be written: pictures a second, size, robot time per time of the film
KINDS = {'mp4': (25.0, (1024, 576), 2.0), 'gif': (10.0, (512, 288), 2.0)}
# the camera: distance, m, azimuth from the first to the last picture, elevation, rad
DISTANCE, AZIMUTH, ELEVATION = 7.0, (math.radians(-75), math.radians(-35)), math.radians(22)
# it follows the vehicle smoothed over so much time, s, and looks ahead of it, m
SMOOTH, LOOK_AHEAD = 2.0, (0.5, 0.0, 0.15)
# free ground around the way, ahead and aside, m; pictures drawn at the same time
MARGIN, AT_ONCE = (1.5, 2.4), 2
STILLS, STILL_SIZE = 6, (960, 600)


class FilmError(ValueError):
    """A film that cannot be written here; the text says what is missing."""


def check_film(kind: str) -> None:
    """
    Refuse a kind of film that cannot be written.

    Raises
    ------
    FilmError
        An unknown `kind`, or one whose writer is missing.
    """
    if kind not in KINDS:
        raise FilmError(f'film {kind}: must be one of {", ".join(KINDS)}')
    if kind == 'mp4' and not all(importlib.util.find_spec(name)
                                 for name in ('imageio', 'imageio_ffmpeg')):
        raise FilmError('film mp4: needs imageio and its ffmpeg; install them with '
                        '`pip install c3p[film]`, or take gif, which needs neither')


class Camera:
    """
    Draws a run at any of its times.

    Parameters
    ----------
    run : Run
    model : PvcTricycle
    size : (int, int)
        Width and height, pixels.
    """

    def __init__(self, run: Run, model: PvcTricycle, size: Sequence[int]) -> None:
        """Build ground and vehicle."""
        self._run, self._size = run, size
        self._scene = Scene(run.terrain, *piece(run, MARGIN))
        self._figure = Figure(run.vehicle, model)
        width = max(1, round(SMOOTH / run.step))
        padded = np.pad(run.position, ((width, width), (0, 0)), mode='edge')
        total = np.cumsum(padded, axis=0)
        self._middle = ((total[2 * width:] - total[:-2 * width])
                        / (2 * width))[:len(run)] + LOOK_AHEAD

    def picture(self, time: float) -> NDArray[np.uint8]:
        """Return the picture (height, width, 3) at a `time`, s."""
        run = self._run
        k = min(int(np.searchsorted(run.time, time - 1e-9)), len(run) - 1)
        share = run.time[k] / max(run.time[-1], run.step)
        view = View(self._middle[k], DISTANCE, (1 - share) * AZIMUTH[0] + share * AZIMUTH[1],
                    ELEVATION)
        return self._scene.draw([self._figure.at(run.state(k)), *marks(run, run.time[k])], view,
                                self._size)


def caption(run: Run, time: float) -> str:
    """Return what a picture of a `run` at a `time`, s, says."""
    k = min(int(np.searchsorted(run.time, time - 1e-9)), len(run) - 1)
    lean = ', '.join(f'{np.degrees(run.joint[k, run.vehicle.index(name)]):+.2f}°'
                     for name in run.vehicle.camber)
    return f't = {run.time[k]:.1f} s    camber {lean}'.replace('-', '\N{MINUS SIGN}')


def film(run: Run, model: PvcTricycle, path: str | Path,
         progress: Callable[[float], None] = lambda share: None) -> Path:
    """
    Write a film of a run.

    Parameters
    ----------
    run : Run
    model : PvcTricycle
        Of its vehicle.
    path : str or Path
        Ends in ``.mp4`` or ``.gif``.
    progress : callable
        Takes the share that is done.

    Returns
    -------
    Path

    Raises
    ------
    FilmError
        As `check_film`.
    """
    path = Path(path)
    kind = path.suffix[1:].lower()
    check_film(kind)
    rate, size, speed = KINDS[kind]
    times = np.arange(0.0, run.time[-1] + 0.5 * run.step, speed / rate)
    path.parent.mkdir(parents=True, exist_ok=True)
    camera, pictures = Camera(run, model, size), []
    font = ImageFont.truetype(f'{get_data_path()}/fonts/ttf/DejaVuSans.ttf', size[1] // 26)
    writer = _writer(path, rate) if kind == 'mp4' else None
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # the kernels let other threads run
        for k, pixels in enumerate(pool.map(camera.picture, times)):
            picture = Image.fromarray(pixels)
            ImageDraw.Draw(picture).text((0.03 * size[0], 0.04 * size[1]),
                                         caption(run, times[k]), fill=(30, 34, 40), font=font)
            if writer:
                writer.append_data(np.asarray(picture))
            else:
                pictures.append(picture.quantize(96))
            progress((k + 1) / len(times))
    if writer:
        writer.close()
    else:
        pictures[0].save(path, save_all=True, append_images=pictures[1:], loop=0,
                         duration=round(1000.0 / rate))
    return path


def _writer(path: Path, rate: float) -> Any:
    """Return imageio's writer of H.264 as every browser shows it."""
    import imageio

    try:
        return imageio.get_writer(path, fps=rate, codec='libx264', quality=8, macro_block_size=2)
    except (ImportError, ValueError, OSError) as error:
        raise FilmError(f'{path}: ffmpeg does not write ({error}); try gif') from None


def contact_sheet(run: Run, model: PvcTricycle, path: str | Path, stills: int = STILLS) -> Path:
    """
    Write stills of a run at equal times on one PNG, three beside each other.

    Parameters
    ----------
    run : Run
    model : PvcTricycle
    path : str or Path
    stills : int

    Returns
    -------
    Path
    """
    path, camera = Path(path), Camera(run, model, STILL_SIZE)
    rows = math.ceil(stills / 3)
    page = style.figure(12.0, 0.1 + rows * (12.0 / 3 * STILL_SIZE[1] / STILL_SIZE[0] + 0.15))
    grid = page.add_gridspec(rows, 3, left=0.005, right=0.995, top=0.965, bottom=0.005,
                             hspace=0.09, wspace=0.015)
    for i, time in enumerate(np.linspace(0.0, run.time[-1], stills)):
        axes = page.add_subplot(grid[divmod(i, 3)])
        axes.imshow(camera.picture(time))
        axes.set_axis_off()
        axes.set_title(caption(run, time), fontsize=style.TITLE, pad=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.savefig(path, dpi=200)
    return path
