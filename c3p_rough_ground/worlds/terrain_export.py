# SPDX-License-Identifier: Apache-2.0
"""
Terrains for other programs: meshes for RViz, height fields for MuJoCo.

`terrain_gazebo` writes them for Gazebo. Everything keeps its place: in the other program the
ground is where it is in {G}.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from c3p_rough_ground.terrain import Mesh, Terrain, TerrainError, grid_mesh, height_grid

Range = tuple[float, float]
# the ground's thickness below its lowest point, m: MuJoCo requires a solid
BASE = 0.5
# the least difference of heights, m: MuJoCo takes no field without any
LEAST_RELIEF = 1e-3
# significant digits of numbers in files: below a nanometre for a ground of 10 m
DIGITS = 10


def write_mesh(terrain: Terrain, path: str | Path, x_range: Range, y_range: Range,
               spacing: float) -> Mesh:
    """
    Write a rectangle of a terrain as an ``.obj`` (text) or ``.stl`` (binary) mesh.

    Parameters
    ----------
    terrain : Terrain
    path : str or Path
        The suffix selects the format; RViz and MuJoCo read both.
    x_range, y_range : (float, float), m
        From, to.
    spacing : float, m
        The cells are at most this long.

    Returns
    -------
    Mesh
        What was written.

    Raises
    ------
    TerrainError
        Another suffix; as `grid_mesh`.
    """
    path = Path(path)
    writers = {'.obj': _write_obj, '.stl': _write_stl}
    if path.suffix.lower() not in writers:
        raise TerrainError(f'{path}: meshes are written as {" or ".join(writers)}')
    mesh = grid_mesh(terrain, x_range, y_range, spacing)
    writers[path.suffix.lower()](mesh, path)
    return mesh


def _write_obj(mesh: Mesh, path: Path) -> None:
    lines = ['# z is up, lengths in m']
    lines += [f'v {x:.9g} {y:.9g} {z:.9g}' for x, y, z in mesh.vertices]
    lines += [f'vn {x:.6g} {y:.6g} {z:.6g}' for x, y, z in mesh.normals]
    # OBJ counts from 1
    lines += [f'f {a}//{a} {b}//{b} {c}//{c}' for a, b, c in mesh.triangles + 1]
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def _write_stl(mesh: Mesh, path: Path) -> None:
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    facets = np.zeros(len(corners), [('normal', '<f4', 3), ('corners', '<f4', (3, 3)),
                                     ('attributes', '<u2')])
    facets['normal'] = normals
    facets['corners'] = corners
    header = b'binary STL, z is up, lengths in m'.ljust(80)
    path.write_bytes(header + np.array(len(corners), '<u4').tobytes() + facets.tobytes())


class HeightField(NamedTuple):
    """
    A height field as MuJoCo takes it.

    Attributes
    ----------
    values : (rows, columns) array
        0 to 1, rows along y.
    size : (float, float, float, float), m
        Half lengths along x and y, relief, thickness below the lowest point.
    position : (float, float, float), m
        Of the geom in {G}.
    """

    values: NDArray[np.float64]
    size: tuple[float, float, float, float]
    position: tuple[float, float, float]

    @property
    def low(self) -> float:
        """Height of the lowest point, m."""
        return self.position[2]

    @property
    def relief(self) -> float:
        """Difference of heights, m."""
        return self.size[2]


def height_field(terrain: Terrain, x_range: Range, y_range: Range, shape: tuple[int, int],
                 base: float = BASE) -> HeightField:
    """
    Return a rectangle of a terrain as a height field.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
        From, to.
    shape : (int, int)
        Number of points along x and y.
    base : float, m
        Thickness below the lowest point.

    Raises
    ------
    TerrainError
        As `height_grid`.
    """
    x, y, heights = height_grid(terrain, x_range, y_range, shape)
    low = float(heights.min())
    relief = max(float(np.ptp(heights)), LEAST_RELIEF)
    half_x, half_y = 0.5 * (x[-1] - x[0]), 0.5 * (y[-1] - y[0])
    # MuJoCo scales the values to 0 … 1 itself
    return HeightField(((heights - low) / relief).T, (half_x, half_y, relief, base),
                       (x[0] + half_x, y[0] + half_y, low))


def write_mujoco(terrain: Terrain, path: str | Path, x_range: Range, y_range: Range,
                 shape: tuple[int, int]) -> Path:
    """
    Write a terrain as a MuJoCo model with one height field, to be loaded or included.

    MuJoCo puts two triangles into each cell, so between the points it cuts corners by up to
    cell²/(8·radius of curvature) along each axis.

    Parameters
    ----------
    terrain : Terrain
    path : str or Path
        The ``.xml`` file; the heights go into a ``.hfield`` file of the same name beside it.
    x_range, y_range : (float, float), m
        From, to.
    shape : (int, int)
        Number of points along x and y.

    Returns
    -------
    Path
        The file with the heights.

    Raises
    ------
    TerrainError
        As `height_grid`.
    """
    path = Path(path)
    field = height_field(terrain, x_range, y_range, shape)
    data = path.with_suffix('.hfield')
    data.write_bytes(np.array(field.values.shape, '<i4').tobytes()
                     + field.values.astype('<f4').tobytes())
    model = ElementTree.Element('mujoco', model=path.stem)
    ElementTree.SubElement(ElementTree.SubElement(model, 'asset'), 'hfield', name=path.stem,
                           file=data.name, size=xml_numbers(*field.size))
    ElementTree.SubElement(ElementTree.SubElement(model, 'worldbody'), 'geom', name=path.stem,
                           type='hfield', hfield=path.stem, pos=xml_numbers(*field.position))
    _write_xml(model, path)
    return data


def xml_numbers(*values: float) -> str:
    """Return numbers as XML text, rounded because sines differ in the last bits by processor."""
    return ' '.join(repr(float(f'{value:.{DIGITS}g}')) for value in values)


def _write_xml(root: ElementTree.Element, path: Path) -> None:
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding='utf-8', xml_declaration=True)
