# SPDX-License-Identifier: Apache-2.0
"""Visuals of a URDF as triangles with colours; meshes that are unsafe to read are left out."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.how_to_install import how_to_install
from c3p_description.reading.mesh_files import mesh_file
from c3p_description.reading.urdf_xml import numbers, pose_of
from c3p_description.reading.xml_files import parse_xml
from c3p_description.texts import brief

# formats that are read; others are left out
READ = ('.stl', '.obj', '.dae')
# of all shapes of a robot together
MOST_TRIANGLES = 1_000_000
# colour without a material, and segments of a cylinder
GREY = (0.7, 0.7, 0.7, 1.0)
AROUND = 32
# of a coordinate, a size or a scale, m; some meshes are in mm
LARGEST = 1e6


class Visual(NamedTuple):
    """
    Triangles of one visual, in the frame of its link.

    Attributes
    ----------
    link : str
    name : str
        Different from that of the other visuals of the link.
    vertices, normals : (m, 3) arrays
        Three of each for every triangle, so that edges are sharp; m.
    colour : (4,) tuple of float
        Red, green, blue, opacity, 0 to 1.
    """

    link: str
    name: str
    vertices: Array
    normals: Array
    colour: tuple[float, ...]


def visuals(urdf: str, robot: str | Path = '') -> list[Visual]:
    """
    Return the visuals of a URDF.

    Parameters
    ----------
    urdf : str
        XML text. Meshes are those that `mesh_file` allows; the others, and files that are not
        meshes, are left out.
    robot : str or Path, optional
        Name or path of the robot as the user gave it.

    Raises
    ------
    ModelError
        A number that cannot be used, or more than a million triangles; trimesh is not installed,
        which reads the meshes.
    """
    root = parse_xml(urdf)
    colours = {material.get('name'): _rgba(material) for material in root.findall('material')}
    found = []
    triangles = 0
    for link in root.findall('link'):
        for k, element in enumerate(link.findall('visual')):
            what = f'link {brief(link.get("name", ""))} visual {k + 1}'
            mesh = _mesh(element.find('geometry'), what, robot)
            if mesh is None:
                continue
            triangles += len(mesh.faces)
            if triangles > MOST_TRIANGLES:
                raise ModelError(f'{what}: more than {MOST_TRIANGLES} triangles in all; give '
                                 'the robot simpler meshes')
            material = element.find('material')
            colour = GREY if material is None else (
                _rgba(material) or colours.get(material.get('name')) or GREY)
            pose = pose_of(element, what)
            if np.abs(pose).max() > LARGEST:
                raise ModelError(f'{what} origin = {brief(pose[:3, 3].tolist())}: at most '
                                 f'{LARGEST:.0f}')
            corners = np.asarray(mesh.triangles, float) @ pose[:3, :3].T + pose[:3, 3]
            faces = corners
            corners = corners.reshape(-1, 3)
            normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
            length = np.linalg.norm(normal, axis=1, keepdims=True)
            normal = normal / np.where(length > 0.0, length, 1.0)
            found.append(Visual(link.get('name', ''), f'visual_{k + 1}', corners,
                                np.repeat(normal, 3, axis=0), colour))
    return found


def _rgba(material: ElementTree.Element) -> tuple[float, ...] | None:
    """Return the colour of a material; None without a valid one."""
    colour = material.find('color')
    if colour is None:
        return None
    try:
        rgba = tuple(float(v) for v in colour.get('rgba', '').split())
    except ValueError:
        return None
    return rgba if len(rgba) == 4 and all(0.0 <= v <= 1.0 for v in rgba) else None


def _numbers(element: ElementTree.Element | None, name: str, count: int, what: str,
             default: str | None = None) -> Array:
    """Return `count` numbers of an attribute, each at most `LARGEST`."""
    values = numbers(None if element is None else element.get(name), count, f'{what} {name}',
                     default)
    if np.abs(values).max() > LARGEST:
        raise ModelError(f'{what} {name} = {brief(values.tolist())}: at most {LARGEST:.0f}')
    return values


def _mesh(geometry: ElementTree.Element | None, what: str, robot: str | Path) -> Any:
    """Return a geometry as a trimesh; None without a readable one."""
    trimesh = import_trimesh()
    if geometry is None or not len(geometry):
        return None
    shape = geometry[0]
    what = f'{what} {shape.tag}'
    if shape.tag == 'box':
        return trimesh.creation.box(_numbers(shape, 'size', 3, what, '1 1 1'))
    if shape.tag == 'cylinder':
        return trimesh.creation.cylinder(
            float(_numbers(shape, 'radius', 1, what)[0]),
            float(_numbers(shape, 'length', 1, what)[0]), sections=AROUND)
    if shape.tag == 'sphere':
        return trimesh.creation.icosphere(3, float(_numbers(shape, 'radius', 1, what)[0]))
    if shape.tag != 'mesh':
        return None
    mesh = read_mesh(shape.get('filename', ''), robot)
    if mesh is not None:
        mesh.apply_scale(_numbers(shape, 'scale', 3, what, '1 1 1'))
    return mesh


def import_trimesh() -> Any:
    """
    Return the module trimesh.

    Raises
    ------
    ModelError
        It is not installed; the text has the remedy.
    """
    try:
        import trimesh
    except ImportError:
        raise ModelError('the shapes of a robot need trimesh; install it with '
                         f'{how_to_install("view")}') from None
    return trimesh


def read_mesh(uri: str, robot: str | Path = '') -> Any:
    """
    Return a mesh as a trimesh, or None if it is missing or damaged.

    Only the named file is read, and none that it names itself, such as materials.

    Parameters
    ----------
    uri, robot
        As for `mesh_file`.
    """
    trimesh = import_trimesh()
    try:
        path = mesh_file(uri, robot)
        kind = path.suffix.lower()
        if kind not in READ:
            return None
        data = path.read_bytes()
        if kind == '.dae':
            _check_collada(data)
        mesh = trimesh.load(io.BytesIO(data), file_type=kind[1:], force='mesh', process=False)
        corners = np.asarray(mesh.triangles, float)
    # a damaged mesh shows itself by whatever its bytes happen to mean
    except Exception:
        return None
    fine = corners.shape[1:] == (3, 3) and len(corners) and np.isfinite(corners).all()
    return mesh if fine else None


def _check_collada(data: bytes) -> None:
    """Refuse entities, which can name other files, and parts that repeat parts."""
    def refuse(name: str, *_: Any) -> None:
        raise ValueError(f'COLLADA with {name}')

    def begin(name: str, _: Any) -> None:
        if name.endswith('instance_node'):
            refuse(name)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.Parse(data, True)
