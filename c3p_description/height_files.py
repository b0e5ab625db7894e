# SPDX-License-Identifier: Apache-2.0
"""Grids of heights from NumPy, PNG and TIFF files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from c3p_kinematics.terrain import TerrainError

IMAGES = ('.png', '.tif', '.tiff')
# GeoTIFF: width and height of a pixel in m; GDAL: the value that stands for a hole
PIXEL_SCALE_TAG, NO_DATA_TAG = 33550, 42113


class GriddedHeights(NamedTuple):
    """
    What a file of heights says.

    Attributes
    ----------
    heights : (m, n) array
        First index along x, second along y; in m, but of a PNG the share 0 … 1 of full white.
    spacing : (float, float) or None, m
        None where the file does not say.
    """

    heights: np.ndarray
    spacing: tuple[float, float] | None


def read_heights(path: str | Path) -> GriddedHeights:
    """
    Return the grid in a ``.npy``, ``.npz``, ``.png``, ``.tif`` or ``.tiff`` file.

    Parameters
    ----------
    path : str or Path
        An array file has the first index along x; an ``.npz`` has the arrays `heights` and, if
        it wants, `spacing`. An image has +y at the top and +x to the right. A TIFF has one band
        of numbers in m, a spacing where it has a ModelPixelScaleTag, and holes (nan) where it
        has the value of its GDAL no-data tag.

    Raises
    ------
    TerrainError
        A file that is not there or not readable, another suffix, a picture in colour.
    """
    path = Path(path)
    readers = {'.npy': _read_array, '.npz': _read_archive, **dict.fromkeys(IMAGES, _read_image)}
    if path.suffix.lower() not in readers:
        raise TerrainError(f'{path}: heights are read from {", ".join(readers)} files')
    try:
        return readers[path.suffix.lower()](path)
    except TerrainError:
        raise
    except (OSError, ValueError, SyntaxError) as error:
        raise TerrainError(f'{path}: cannot be read as a grid of heights: {error}') from error


def _read_array(path: Path) -> GriddedHeights:
    return GriddedHeights(np.asarray(np.load(path), float), None)


def _read_archive(path: Path) -> GriddedHeights:
    with np.load(path) as archive:
        if 'heights' not in archive:
            raise TerrainError(f'{path}: has {", ".join(archive) or "no arrays"}; it needs an '
                               'array named heights')
        spacing = None
        if 'spacing' in archive:
            spacing = tuple(float(s) for s in np.broadcast_to(archive['spacing'], 2))
        return GriddedHeights(np.asarray(archive['heights'], float), spacing)


def _read_image(path: Path) -> GriddedHeights:
    # comes with matplotlib, and is imported only by those who have pictures
    from PIL import Image

    with Image.open(path) as image:
        pixels, bands, mode = np.asarray(image), image.getbands(), image.mode
        tags = dict(getattr(image, 'tag_v2', {}))
    if len(bands) != 1 or mode == 'P':
        raise TerrainError(f'{path}: has the bands {", ".join(bands)} ({mode}); heights need one '
                           'grey band: convert the picture to greyscale')
    values = pixels.astype(float)
    if path.suffix.lower() == '.png':
        # what Pillow gives neither as bits nor as bytes had 16 bits
        values /= {np.bool_: 1.0, np.uint8: 255.0}.get(pixels.dtype.type, 65535.0)
    if NO_DATA_TAG in tags:
        hole = float(str(tags[NO_DATA_TAG]).strip(' \0'))
        # written with more digits than single precision keeps
        kind = pixels.dtype if pixels.dtype.kind == 'f' else float
        values[pixels == np.array(hole).astype(kind)] = np.nan
    spacing = tags.get(PIXEL_SCALE_TAG)
    # the top row has the largest y
    return GriddedHeights(np.ascontiguousarray(values[::-1].T),
                          spacing and tuple(float(s) for s in spacing[:2]))
