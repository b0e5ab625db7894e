# SPDX-License-Identifier: Apache-2.0
"""What a robot looks like, as triangles with colours: the visuals of its URDF."""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from c3p_description.files import resolve_uri
from c3p_description.model import Array, ModelError
from c3p_simulation.recording.transforms import from_roll_pitch_yaw

# of what has no material, and pieces around a cylinder
GREY, AROUND = (0.7, 0.7, 0.7, 1.0), 32


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


def visuals(urdf: str) -> list[Visual]:
    """
    Return the visuals of a URDF.

    Parameters
    ----------
    urdf : str
        XML text. Meshes are those of this package and files; what only a ROS 2 installation
        finds, and what is no mesh, is left out.

    Raises
    ------
    ModelError
        trimesh is not installed, which reads the meshes.
    """
    robot = ElementTree.fromstring(urdf)
    colours = {material.get('name'): _rgba(material) for material in robot.findall('material')}
    found = []
    for link in robot.findall('link'):
        for k, element in enumerate(link.findall('visual')):
            mesh = _mesh(element.find('geometry'))
            if mesh is None:
                continue
            material = element.find('material')
            colour = GREY if material is None else (
                _rgba(material) or colours.get(material.get('name')) or GREY)
            turn, shift = _origin(element.find('origin'))
            corners = np.asarray(mesh.triangles, float).reshape(-1, 3) @ turn.T + shift
            faces = corners.reshape(-1, 3, 3)
            normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
            length = np.linalg.norm(normal, axis=1, keepdims=True)
            normal = normal / np.where(length > 0.0, length, 1.0)
            found.append(Visual(link.get('name', ''), f'visual_{k + 1}', corners,
                                np.repeat(normal, 3, axis=0), colour))
    return found


def _rgba(material: ElementTree.Element) -> tuple[float, ...] | None:
    colour = material.find('color')
    return None if colour is None else tuple(float(v) for v in colour.get('rgba', '').split())


def _numbers(element: ElementTree.Element | None, name: str, default: str) -> Array:
    return np.array([float(v) for v in (
        default if element is None else element.get(name, default)).split()])


def _origin(element: ElementTree.Element | None) -> tuple[Array, Array]:
    """Return the rotation (3, 3) and the shift (3,) of an ``<origin>``."""
    x, y, z, w = from_roll_pitch_yaw(*_numbers(element, 'rpy', '0 0 0'))
    turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    return turn, _numbers(element, 'xyz', '0 0 0')


def _mesh(geometry: ElementTree.Element | None) -> Any:
    """Return a geometry as a trimesh, or None where it cannot be had."""
    try:
        import trimesh
    except ImportError:
        raise ModelError('the shapes of a robot need trimesh; install it with '
                         '`pip install c3p[view]` or `pip install trimesh`') from None
    if geometry is None or not len(geometry):
        return None
    shape = geometry[0]
    if shape.tag == 'box':
        return trimesh.creation.box(_numbers(shape, 'size', '1 1 1'))
    if shape.tag == 'cylinder':
        return trimesh.creation.cylinder(float(shape.get('radius')), float(shape.get('length')),
                                         sections=AROUND)
    if shape.tag == 'sphere':
        return trimesh.creation.icosphere(3, float(shape.get('radius')))
    if shape.tag != 'mesh':
        return None
    try:
        mesh = trimesh.load(resolve_uri(shape.get('filename', '')), force='mesh')
    except (ValueError, OSError):
        return None
    mesh.apply_scale(_numbers(shape, 'scale', '1 1 1'))
    return mesh
