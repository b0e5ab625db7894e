# SPDX-License-Identifier: Apache-2.0
"""Grids of heights from NumPy, PNG and TIFF files."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from c3p_rough_ground.terrain import MOST_POINTS, TerrainError

IMAGES = ('.png', '.tif', '.tiff')
# accepted formats of images, independent of the suffix
FORMATS = ('PNG', 'TIFF')
# GeoTIFF: width and height of a pixel in m; GDAL: value of missing data
PIXEL_SCALE_TAG = 33550
NO_DATA_TAG = 42113


class GriddedHeights(NamedTuple):
    """
    Contents of a file of heights.

    Attributes
    ----------
    heights : (m, n) array
        First index along x, second along y; in m, of a PNG 0 … 1 from black to white.
    spacing : (float, float) or None, m
        None where the file has none.
    """

    heights: np.ndarray
    spacing: tuple[float, float] | None


def read_heights(path: str | Path) -> GriddedHeights:
    """
    Return the grid in a ``.npy``, ``.npz``, ``.png``, ``.tif`` or ``.tiff`` file.

    Parameters
    ----------
    path : str or Path
        An array has the first index along x; an ``.npz`` has the arrays `heights` and, optionally,
        `spacing`. An image has +y at the top and +x to the right. A TIFF has one band of heights
        in m, the spacing of its ModelPixelScaleTag, and nan at the value of its GDAL no-data tag.

    Raises
    ------
    TerrainError
        A missing or unreadable file, another suffix, values that are not real numbers, a colour
        image, more than 4 million points.
    """
    path = Path(path)
    readers = {'.npy': _read_array, '.npz': _read_archive, **dict.fromkeys(IMAGES, _read_image)}
    if path.suffix.lower() not in readers:
        raise TerrainError(f'{path}: heights are read from {", ".join(readers)} files')
    try:
        found = readers[path.suffix.lower()](path)
    except TerrainError:
        raise
    # damaged files raise any exception
    except Exception as error:
        raise TerrainError(f'{path}: cannot be read as a grid of heights: '
                           f'{" ".join(f"{error}".split())[:200] or type(error).__name__}'
                           ) from error
    return found


def _read_array(path: Path) -> GriddedHeights:
    with path.open('rb') as file:
        return GriddedHeights(_array(path, file), None)


def _read_archive(path: Path) -> GriddedHeights:
    with zipfile.ZipFile(path) as archive:
        names = {name.removesuffix('.npy') for name in archive.namelist()}
        if 'heights' not in names:
            raise TerrainError(f'{path}: has {", ".join(sorted(names)[:9]) or "no arrays"}; it '
                               'needs an array named heights')
        spacing: tuple[float, float] | None = None
        if 'spacing' in names:
            with archive.open('spacing.npy') as file:
                along_x, along_y = np.broadcast_to(_array(path, file), 2)
                spacing = float(along_x), float(along_y)
        with archive.open('heights.npy') as file:
            return GriddedHeights(_array(path, file), spacing)


def _array(path: Path, file: IO[bytes]) -> np.ndarray:
    """Return the array of a NumPy file; its size is checked before reading."""
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0,
                   (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read_header is None:
        raise TerrainError(f'{path}: NumPy format {version}; save the array with numpy.save')
    shape, by_columns, kind = read_header(file)
    if kind.kind not in 'biuf':
        raise TerrainError(f'{path}: has values of the type {kind}; heights are real numbers')
    _check_count(path, shape)
    size = math.prod(shape) * kind.itemsize
    data = file.read(size)
    if len(data) < size:
        raise TerrainError(f'{path}: ends after {len(data)} of {size} bytes of its heights')
    values = np.frombuffer(data, kind).reshape(shape, order='F' if by_columns else 'C')
    return np.array(values, float)


def _check_count(path: Path, shape: tuple[int, ...]) -> None:
    """Reject a grid of more than MOST_POINTS."""
    if math.prod(shape) > MOST_POINTS:
        raise TerrainError(f'{path}: a grid of {" × ".join(map(str, shape))}, at most '
                           f'{MOST_POINTS} points are read; cut or thin it out')


def _read_image(path: Path) -> GriddedHeights:
    # a dependency of matplotlib, imported for images only
    from PIL import Image

    with warnings.catch_warnings():
        # the size is checked here; the limit of Pillow is gigabytes
        warnings.simplefilter('ignore')
        with Image.open(path, formats=FORMATS) as image:
            _check_count(path, image.size)
            pixels = np.asarray(image)
            bands = image.getbands()
            mode = image.mode
            tags = dict(getattr(image, 'tag_v2', {}))
    if len(bands) != 1 or mode == 'P':
        raise TerrainError(f'{path}: has the bands {", ".join(bands)} ({mode}); heights need one '
                           'grey band: convert the image to greyscale')
    values = pixels.astype(float)
    if path.suffix.lower() == '.png':
        # neither bool nor 8 bits: 16 bits
        values /= {np.bool_: 1.0, np.uint8: 255.0}.get(pixels.dtype.type, 65535.0)
    if NO_DATA_TAG in tags:
        hole = float(str(tags[NO_DATA_TAG]).strip(' \0'))
        # the tag is text with more digits than single precision
        kind = pixels.dtype if pixels.dtype.kind == 'f' else float
        values[pixels == np.array(hole).astype(kind)] = np.nan
    spacing = tags.get(PIXEL_SCALE_TAG)
    # the top row has the largest y
    return GriddedHeights(np.ascontiguousarray(values[::-1].T),
                          spacing and tuple(float(s) for s in spacing[:2]))
