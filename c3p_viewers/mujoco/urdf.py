# SPDX-License-Identifier: Apache-2.0
"""A description for MuJoCo's compiler, which opens whatever file its input names."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from c3p_description.model import ModelError
from c3p_description.reading.mesh_files import mesh_file
from c3p_description.reading.xml_files import parse_xml

# what a picture needs of a robot; ``<mujoco>`` could name directories and plugins
KEPT = ('link', 'joint', 'material')
# meshes that MuJoCo reads
READ = ('.stl', '.obj')


def mujoco_urdf(urdf: str, robot: str | Path = '') -> tuple[str, dict[str, bytes]]:
    """
    Return a description that names no files, and the meshes that it names, by name.

    Visuals and collisions with a mesh that `mesh_file` refuses, or MuJoCo does not read, and
    shapes without a size are left out.

    Parameters
    ----------
    urdf : str
        XML text.
    robot : str or Path, optional
        Name or path of the robot as the user gave it.

    Raises
    ------
    ModelError
        It is not the XML of a URDF.

    Examples
    --------
    >>> text, meshes = mujoco_urdf('<robot name="a"><link name="b"><visual><geometry><mesh '
    ...                            'filename="file:///etc/passwd"/></geometry></visual></link>'
    ...                            '<mujoco><compiler meshdir="/etc"/></mujoco></robot>')
    >>> 'passwd' in text, 'meshdir' in text, meshes
    (False, False, {})
    """
    root = parse_xml(urdf)
    if root.tag != 'robot':
        raise ModelError(f'the root element is <{root.tag}>: a URDF starts with <robot>')
    for element in [e for e in root if e.tag not in KEPT]:
        root.remove(element)
    assets: dict[str, bytes] = {}
    names: dict[Path, str] = {}
    for link in root.iterfind('link'):
        for part in [*link.findall('visual'), *link.findall('collision')]:
            meshes = list(part.iter('mesh'))
            try:
                for mesh in meshes:
                    path = mesh_file(mesh.get('filename', ''), robot)
                    if path.suffix.lower() not in READ:
                        raise ModelError(f'{path}: MuJoCo reads {", ".join(READ)}')
                    if path not in names:
                        names[path] = f'{path.stem}_{len(names) + 1}{path.suffix.lower()}'
                        assets[names[path]] = path.read_bytes()
                    mesh.set('filename', names[path])
            except (ModelError, OSError):
                link.remove(part)
                continue
            if any(not _drawable(shape) for shape in part.iterfind('geometry/*')):
                link.remove(part)
    # pictures on materials are files, too
    for texture in [m for m in root.iter('material') if m.find('texture') is not None]:
        for element in texture.findall('texture'):
            texture.remove(element)
    # without these MuJoCo takes collision shapes only, and welds the robot to the world
    made = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(made, 'compiler', fusestatic='false', discardvisual='false')
    return ElementTree.tostring(root, encoding='unicode'), assets


def _drawable(shape: ElementTree.Element) -> bool:
    """Return whether all sizes of a shape are greater than zero; a mesh has none."""
    sizes = [shape.get(name, '') for name in ('size', 'radius', 'length')]
    try:
        return all(float(number) > 0 for text in sizes for number in text.split())
    except ValueError:
        return False
