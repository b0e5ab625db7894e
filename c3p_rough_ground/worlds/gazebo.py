# SPDX-License-Identifier: Apache-2.0
"""
Terrains for Gazebo: models and worlds whose ground is where it is in {G}.

The collision is a height map, the visual a mesh through the same points. According to the sources
of gz-sim 8, gz-physics 7 and gz-common 5, and to runs on DART in gz-physics 5 (docs/gazebo.md):

- Physics ignore ``<pos>`` of a heightmap and use ``<pose>`` of the collision; rendering does the
  reverse. So the offset is in ``<pose>``, and the visual is a mesh.
- A heightmap of n samples has cells of size/n, not size/(n − 1): the written size is larger by
  n/(n − 1).
- All 16 bits are used if the brightest pixel is white.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from c3p_description.model import GRAVITY
from c3p_rough_ground.terrain import Terrain, TerrainError, height_grid
from c3p_rough_ground.worlds.terrain_export import LEAST_RELIEF, Range, write_mesh, xml_numbers

# a heightmap of Gazebo has 2^n + 1 samples along each side
GAZEBO_SIDES = tuple(2**n + 1 for n in range(4, 13))
WHITE = 65535
VERSION = '1.9'
# DART uses the smaller coefficient of two bodies, Bullet their product: at 1, tyres of at most 1
# keep their own
GROUND_FRICTION = 1.0
# step of the physics, s: that of MuJoCo's plant
STEP = 1e-3
# required systems of gz-sim
SYSTEMS = (('physics', 'Physics'), ('user-commands', 'UserCommands'),
           ('scene-broadcaster', 'SceneBroadcaster'), ('imu', 'Imu'))
# colours of the ground and of the light
GREY = '0.62 0.60 0.55 1'
LIGHT = '0.9 0.9 0.9 1'
# size of the visual of a level floor, m
PLANE_SIZE = 100.0


def write_gazebo(terrain: Terrain, folder: str | Path, x_range: Range, y_range: Range,
                 side: int = 129) -> Path:
    """
    Write a terrain as a model folder of Gazebo: model.config, model.sdf, a 16-bit PNG and a mesh.

    Parameters
    ----------
    terrain : Terrain
    folder : str or Path
        Created if missing; its name is the name of the model.
    x_range, y_range : (float, float), m
        From, to.
    side : int
        Samples along each side: 2^n + 1. The heights are in steps of 1/65535 of their range.

    Returns
    -------
    Path
        The ``model.sdf``.

    Raises
    ------
    TerrainError
        A side that is not 2^n + 1 from 17 to 4097; as `height_grid`.
    """
    folder = Path(folder)
    root = ElementTree.Element('sdf', version=VERSION)
    root.append(_rough_ground(terrain, folder, '', folder.name, (x_range, y_range), side))
    _write(root, folder / 'model.sdf')
    config = ElementTree.Element('model')
    attributes = {'sdf': {'version': VERSION}}
    for tag, text in (('name', folder.name), ('version', '1.0'), ('sdf', 'model.sdf'),
                      ('description', 'A terrain; heights in m, z up.')):
        ElementTree.SubElement(config, tag, attributes.get(tag, {})).text = text
    _write(config, folder / 'model.config')
    return folder / 'model.sdf'


def write_world(path: str | Path, terrain: Terrain | None = None, x_range: Range = (-6.4, 6.4),
                y_range: Range = (-6.4, 6.4), side: int = 65, comment: str = '') -> Path:
    """
    Write a world of Gazebo Harmonic or later with one ground, the sun and its systems.

    Parameters
    ----------
    path : str or Path
        An ``.sdf`` file named as the world. PNG and mesh of a terrain are in a folder of that name
        beside it.
    terrain : Terrain, optional
        Default: an infinite level floor.
    x_range, y_range, side
        As for `write_gazebo`.
    comment : str
        Comment in the first lines.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    TerrainError
        As `write_gazebo`.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    root = ElementTree.Element('sdf', version=VERSION)
    world = ElementTree.SubElement(root, 'world', name=path.stem)
    physics = ElementTree.SubElement(world, 'physics', name='step', type='dart')
    ElementTree.SubElement(physics, 'max_step_size').text = repr(STEP)
    ElementTree.SubElement(physics, 'real_time_factor').text = '1'
    for file, name in SYSTEMS:
        ElementTree.SubElement(world, 'plugin', filename=f'gz-sim-{file}-system',
                               name=f'gz::sim::systems::{name}')
    ElementTree.SubElement(world, 'gravity').text = f'0 0 {-GRAVITY}'
    sun = ElementTree.SubElement(world, 'light', name='sun', type='directional')
    for tag, text in (('pose', '0 0 10 0 0 0'), ('cast_shadows', 'true'), ('diffuse', LIGHT),
                      ('direction', '-0.5 0.2 -0.85')):
        ElementTree.SubElement(sun, tag).text = text
    world.append(_level_ground() if terrain is None else _rough_ground(
        terrain, path.with_suffix(''), f'{path.stem}/', 'ground', (x_range, y_range), side))
    _write(root, path, comment)
    return path


def _rough_ground(terrain: Terrain, folder: Path, uri: str, name: str,
                  ranges: tuple[Range, Range], side: int) -> ElementTree.Element:
    """Write image and mesh of a terrain into a folder; return its model."""
    from PIL import Image

    if side not in GAZEBO_SIDES:
        raise TerrainError(f'side = {side}: a heightmap of Gazebo has 2^n + 1 samples along each '
                           f'side, one of {", ".join(map(str, GAZEBO_SIDES))}')
    x, y, heights = height_grid(terrain, *ranges, (side, side))
    folder.mkdir(parents=True, exist_ok=True)
    relief = max(float(np.ptp(heights)), LEAST_RELIEF)
    # the highest point must be white
    low = float(heights.max()) - relief
    # the top row of the image is the largest y
    levels = np.round((heights - low) / relief * WHITE).astype(np.uint16).T[::-1]
    Image.fromarray(np.ascontiguousarray(levels)).save(folder / 'heights.png')
    lengths = x[-1] - x[0], y[-1] - y[0]
    write_mesh(terrain, folder / 'ground.stl', *ranges, max(lengths) / (side - 1))
    heightmap = ElementTree.Element('heightmap')
    mesh = ElementTree.Element('mesh')
    wide, deep = (length * side / (side - 1) for length in lengths)
    ElementTree.SubElement(heightmap, 'uri').text = f'{uri}heights.png'
    ElementTree.SubElement(heightmap, 'size').text = xml_numbers(wide, deep, relief)
    ElementTree.SubElement(mesh, 'uri').text = f'{uri}ground.stl'
    middle = xml_numbers(0.5 * (x[0] + x[-1]), 0.5 * (y[0] + y[-1]), low)
    return _ground(name, heightmap, mesh, f'{middle} 0 0 0')


def _level_ground() -> ElementTree.Element:
    """Return the model of a level floor."""
    shapes = []
    for _ in range(2):
        shapes.append(ElementTree.Element('plane'))
        ElementTree.SubElement(shapes[-1], 'normal').text = '0 0 1'
        ElementTree.SubElement(shapes[-1], 'size').text = xml_numbers(PLANE_SIZE, PLANE_SIZE)
    shape, visible = shapes
    return _ground('ground', shape, visible)


def _ground(name: str, shape: ElementTree.Element, visible: ElementTree.Element,
            pose: str = '0 0 0 0 0 0') -> ElementTree.Element:
    """Return a static model of a collision at `pose` and a visual at the origin."""
    model = ElementTree.Element('model', name=name)
    ElementTree.SubElement(model, 'static').text = 'true'
    link = ElementTree.SubElement(model, 'link', name='ground')
    collision = ElementTree.SubElement(link, 'collision', name='collision')
    ElementTree.SubElement(collision, 'pose').text = pose
    ElementTree.SubElement(collision, 'geometry').append(shape)
    surface = ElementTree.SubElement(collision, 'surface')
    friction = ElementTree.SubElement(ElementTree.SubElement(surface, 'friction'), 'ode')
    for tag in ('mu', 'mu2'):
        ElementTree.SubElement(friction, tag).text = xml_numbers(GROUND_FRICTION)
    visual = ElementTree.SubElement(link, 'visual', name='visual')
    ElementTree.SubElement(visual, 'geometry').append(visible)
    material = ElementTree.SubElement(visual, 'material')
    for tag in ('ambient', 'diffuse'):
        ElementTree.SubElement(material, tag).text = GREY
    return model


def _write(root: ElementTree.Element, path: Path, comment: str = '') -> None:
    """Write a file, with a comment before the first element."""
    ElementTree.indent(root)
    lines = ['<?xml version="1.0"?>', *([f'<!-- {comment} -->'] if comment else []),
             ElementTree.tostring(root, encoding='unicode'), '']
    path.write_text('\n'.join(lines), encoding='utf-8')
