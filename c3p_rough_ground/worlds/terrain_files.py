# SPDX-License-Identifier: Apache-2.0
"""
Terrains from files: YAML descriptions and height maps.

``load_terrain('plateau')`` reads ``terrains/plateau.yaml``. A file has a `kind` and the fields of
that kind; lengths are in m, angles in rad or written ``!degrees 20``:

==========  ======================================================================
kind        fields
==========  ======================================================================
flat        height
incline     slope, direction
plateau     height, width, start, direction
hills       seed, amplitude, wavelength, count; or waves ``[[amplitude, kx, ky, phase], …]``, mean
spline      seed, amplitude, shape, spacing, degree; or heights, spacing, origin, degree,
            continuation
height_map  file (beside the YAML), spacing, origin, height_range, degree, margin
==========  ======================================================================
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.reading.files import share_file
from c3p_description.reading.yaml_files import PLAIN, YamlFileError, read_yaml
from c3p_description.texts import brief
from c3p_rough_ground.terrain import (
    Flat,
    HeightMap,
    Hills,
    Incline,
    Plateau,
    SplineGround,
    Terrain,
    TerrainError,
)
from c3p_rough_ground.worlds.height_files import read_heights

TERRAINS = 'c3p_description/terrains'


class _TerrainLoader(PLAIN):
    """Plain YAML, and angles in degrees."""


_TerrainLoader.add_constructor('!degrees', lambda loader, node: math.radians(
    float(loader.construct_scalar(node))))


def load_height_map(path: str | Path, spacing: ArrayLike | None = None,
                    origin: tuple[float, float] = (0.0, 0.0),
                    height_range: tuple[float, float] | None = None, degree: int = 3,
                    margin: int = 10) -> HeightMap:
    """
    Return the terrain through the heights of a file.

    Parameters
    ----------
    path : str or Path
        As for `read_heights`.
    spacing : float or (float, float), m, optional
        Required unless the file has it.
    origin : (float, float), m
        Place of the first height; of an image the lower left pixel.
    height_range : (float, float), m, optional
        Heights of black and of white; needed for a PNG.
    degree, margin : int
        As for HeightMap.

    Raises
    ------
    TerrainError
        As `read_heights` and HeightMap, with the name of the file; a missing argument.
    """
    path = Path(path)
    heights, known = read_heights(path)
    spacing = known if spacing is None else spacing
    if spacing is None:
        raise TerrainError(f'{path}: the file has no spacing of its points; set spacing in m')
    if path.suffix.lower() == '.png':
        if height_range is None:
            raise TerrainError(f'{path}: a PNG has grey values; set height_range, the heights of '
                               'black and white in m')
        low, high = (float(height) for height in height_range)
        heights = low + (high - low) * heights
    elif height_range is not None:
        raise TerrainError(f'{path}: has heights in m; leave out height_range')
    try:
        return HeightMap(heights, spacing, tuple(origin), degree, margin)
    except TerrainError as error:
        raise TerrainError(f'{path}: {error}') from None


def load_terrain(name_or_path: str | Path) -> Terrain:
    """
    Return a terrain by name or from a YAML file.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a file in ``terrains/`` (``'flat'``, ``'plateau'``, ``'plateau_20deg'``,
        ``'hills'``, ``'random'``) or the path of a ``.yaml`` file (see the module).

    Raises
    ------
    TerrainError
        A missing file or unknown name, an unknown kind or field, an invalid value.

    Examples
    --------
    >>> load_terrain('plateau').rise
    1.0
    """
    path = _terrain_file(name_or_path)
    try:
        fields = read_yaml(path, _TerrainLoader)
    except (OSError, YamlFileError) as error:
        raise TerrainError(f'{path}: cannot be read as YAML: {error}') from error
    kind = fields.pop('kind', None) if isinstance(fields, dict) else fields
    if not isinstance(kind, str) or kind not in KINDS:
        raise TerrainError(f'{path}: kind = {brief(kind)}: it must be one of {", ".join(KINDS)}')
    # of two forms of a kind, the one with more of the given fields
    build, known = max(KINDS[kind], key=lambda form: len(set(fields) & set(form[1])))
    for field in fields:
        if field not in known:
            word = brief(field)[1:-1] if isinstance(field, str) else brief(field)
            near = difflib.get_close_matches(word, known, 1)
            hint = f' (did you mean {near[0]}?)' if near else ''
            raise TerrainError(f'{path}: unknown field {word}{hint}; the fields are '
                               f'{", ".join(known)}')
    try:
        return build(path, fields)
    except TerrainError as error:
        text = str(error)
        raise TerrainError(text if str(path) in text else f'{path}: {text}') from None
    # YAML values of any type where numbers are expected
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError,
            MemoryError) as error:
        text = ' '.join(f'{error}'.split())[:200]
        raise TerrainError(f'{path}: {text}; the fields are {", ".join(known)}') from error


def _terrain_file(name_or_path: str | Path) -> Path:
    """Return the YAML file of a terrain."""
    path = Path(name_or_path)
    if path.suffix in ('.yaml', '.yml'):
        if not path.is_file():
            raise TerrainError(f'{path}: no such file')
        return path
    try:
        return share_file(f'{TERRAINS}/{name_or_path}.yaml')
    except FileNotFoundError:
        names = sorted(file.stem for file in share_file(TERRAINS).glob('*.yaml'))
        raise TerrainError(f'terrain {str(name_or_path)!r}: it must be one of '
                           f'{", ".join(names)}, or the path of a .yaml file') from None


def _waves(path: Path, fields: dict[str, Any]) -> Hills:
    rows = np.array(fields['waves'], float)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise TerrainError(f'waves have the shape {rows.shape}: each is [amplitude, kx, ky, '
                           'phase]')
    return Hills(rows[:, 0], rows[:, 1:3], rows[:, 3], fields.get('mean', 0.0))


def _map(path: Path, fields: dict[str, Any]) -> HeightMap:
    file = fields.pop('file')
    if not isinstance(file, str):
        raise TerrainError(f'{path}: file = {brief(file)}: give the name of a file')
    return load_height_map(path.parent / file, **fields)


def _plateau(path: Path, fields: dict[str, Any]) -> Plateau:
    return Plateau(fields.pop('height', 1.0), **fields)


Builder = Callable[[Path, dict[str, Any]], Terrain]
# per kind and form: builder and fields
KINDS: dict[str, tuple[tuple[Builder, tuple[str, ...]], ...]] = {
    'flat': ((lambda path, fields: Flat(fields.get('height', 0.0)), ('height',)),),
    'incline': ((lambda path, fields: Incline(**fields), ('slope', 'direction')),),
    'plateau': ((_plateau, ('height', 'width', 'start', 'direction')),),
    'hills': ((lambda path, fields: Hills.random(**fields),
               ('seed', 'amplitude', 'wavelength', 'count')),
              (_waves, ('waves', 'mean'))),
    'spline': ((lambda path, fields: SplineGround.random(**fields),
                ('seed', 'amplitude', 'shape', 'spacing', 'degree')),
               (lambda path, fields: SplineGround(**fields),
                ('heights', 'spacing', 'origin', 'degree', 'continuation'))),
    'height_map': ((_map, ('file', 'spacing', 'origin', 'height_range', 'degree', 'margin')),),
}
