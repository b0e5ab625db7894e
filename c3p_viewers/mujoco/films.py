# SPDX-License-Identifier: Apache-2.0
"""Picture and film files: PNG, MP4 (H.264) and GIF."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from c3p_description.model import Array
from c3p_description.reading.how_to_install import how_to_install
from c3p_viewers.screen import PictureError

KINDS = ('mp4', 'gif')
# colours of a GIF, the same in all its pictures, and the number of pictures they are chosen from
COLOURS = 255
SAMPLES = 9


class FilmFormat(NamedTuple):
    """
    Format of a film.

    Attributes
    ----------
    speed : float
        Robot time per time of the film; 0.2 is slow motion.
    size : (2,) sequence of int
        Width and height, pixels; even.
    rate : float, 1/s
        Pictures per second of the film.
    """

    speed: float = 1.0
    size: Sequence[int] = (1280, 720)
    rate: float = 30.0


def check_film(kind: str) -> None:
    """
    Check that a kind of film can be written.

    Raises
    ------
    PictureError
        An unknown `kind`, or its writer is not installed.
    """
    if kind not in KINDS:
        raise PictureError(f'film {kind}: must be one of {", ".join(KINDS)}')
    if kind == 'mp4' and not all(importlib.util.find_spec(name)
                                 for name in ('imageio', 'imageio_ffmpeg')):
        raise PictureError('film mp4: needs imageio and its ffmpeg; install them with '
                           f'{how_to_install("film")}, or take gif, which needs neither')


class FilmWriter:
    """
    Writes pictures of one size as a film.

    Parameters
    ----------
    path : str or Path
        Ends in ``.mp4`` or ``.gif``; its directory is made.
    rate : float, 1/s
        Pictures per second of the film.

    Raises
    ------
    PictureError
        As `check_film`; also when ffmpeg does not start.
    """

    def __init__(self, path: str | Path, rate: float) -> None:
        """Open the file."""
        self._path = Path(path)
        self._rate = rate
        kind = self._path.suffix[1:].lower()
        check_film(kind)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # a GIF's, packed until its colours are known
        self._packed: list[io.BytesIO] = []
        self._writer: Any = None
        if kind == 'mp4':
            import imageio

            try:
                # H.264 as every browser shows it
                self._writer = imageio.get_writer(self._path, fps=rate, codec='libx264',
                                                  quality=8, macro_block_size=2)
            except (ImportError, ValueError, OSError) as error:
                raise PictureError(f'{path}: ffmpeg does not write ({error}); try gif') from None

    def add(self, pixels: Array) -> None:
        """Append a picture (height, width, 3) of uint8."""
        if self._writer is not None:
            self._writer.append_data(np.asarray(pixels))
        else:
            self._packed.append(io.BytesIO())
            Image.fromarray(np.ascontiguousarray(pixels)).save(self._packed[-1], 'png',
                                                               compress_level=1)

    def __enter__(self) -> FilmWriter:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Complete the file."""
        if self._writer is not None:
            self._writer.close()
        elif kind is None and self._packed:
            self._write_gif()

    def _write_gif(self) -> None:
        """Write the packed pictures with colours that all of them share."""
        count = len(self._packed)
        sample = np.vstack([np.asarray(Image.open(self._packed[k])) for k in np.unique(
            np.linspace(0, count - 1, SAMPLES).astype(int))])
        # keeps what is rare, as thin lines are
        palette = Image.fromarray(sample).quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1)
        first, *rest = (Image.open(packed).quantize(palette=palette, dither=Image.Dither.NONE)
                        for packed in self._packed)
        first.save(self._path, save_all=True, append_images=rest, loop=0, optimize=True,
                   duration=round(1000.0 / self._rate))


def write_png(path: str | Path, pixels: Array) -> Path:
    """Write a picture (height, width, 3) of uint8 and return its path; makes directories."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.ascontiguousarray(pixels)).save(path)
    return path
