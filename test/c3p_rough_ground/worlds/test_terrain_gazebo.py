# SPDX-License-Identifier: Apache-2.0
"""Worlds of Gazebo: the ground is where it is, what is felt and what is seen are one."""

import re
import runpy
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from sdformat_tool import sdformat

from c3p_description import load
from c3p_description.model import GRAVITY
from c3p_description.reading.files import share_file
from c3p_rough_ground.terrain import Flat, TerrainError
from c3p_rough_ground.worlds.gazebo import write_gazebo, write_world
from c3p_rough_ground.worlds.terrain_files import load_height_map, load_terrain
from c3p_simulation.contact_plant.mujoco_plant import TIMESTEP

ROOT = Path(__file__).parents[3]
# not square and not around the origin, so that no axis can stand for another
X, Y = (-2.0, 5.0), (1.0, 5.0)
HILLS = load_terrain('hills')


def ground_of(sdf):
    """Return the model of the ground of a world or of a model's file."""
    return next(ElementTree.parse(sdf).getroot().iter('model'))


def felt(sdf):
    """
    Return x (n,), y (n,) and heights (n, n) of the ground as gz-physics builds it.

    From CustomHeightmapShape.cc and ImageHeightmap.hh: the middle is the collision's pose, cells
    are size/n, the first row is the far side, white is as high as the brightest pixel stretched to
    the size. A program with gz-physics 5 and DART found the same on every one of 24 places.
    """
    collision = ground_of(sdf).find('link/collision')
    pose = [float(text) for text in collision.findtext('pose').split()]
    heightmap = collision.find('geometry/heightmap')
    size = [float(text) for text in heightmap.findtext('size').split()]
    with Image.open(Path(sdf).parent / heightmap.findtext('uri')) as image:
        assert image.mode.startswith('I;16')
        levels = np.asarray(image, float)
    n = len(levels)
    steps = np.arange(n) - (n - 1) / 2
    assert pose[3:] == [0, 0, 0]
    return (pose[0] + steps * size[0] / n, pose[1] + steps * size[1] / n,
            pose[2] + levels[::-1].T / levels.max() * size[2])


def seen(sdf):
    """Return the corners (m, 3, 3) of the mesh that is drawn."""
    visual = ground_of(sdf).find('link/visual')
    assert visual.find('pose') is None
    data = (Path(sdf).parent / visual.findtext('geometry/mesh/uri')).read_bytes()
    facets = np.frombuffer(data[84:], [('normal', '<f4', 3), ('corners', '<f4', (3, 3)),
                                       ('attributes', '<u2')])
    return facets['corners'].astype(float)


def assert_is_terrain(sdf, terrain, x_range, y_range):
    x, y, heights = felt(sdf)
    np.testing.assert_allclose([x[0], x[-1], y[0], y[-1]], [*x_range, *y_range], atol=1e-12)
    # half a level of the picture
    np.testing.assert_allclose(heights, terrain.height(*np.meshgrid(x, y, indexing='ij')),
                               atol=0.51 * np.ptp(heights) / 65535)
    corners = seen(sdf).reshape(-1, 3)
    # single precision
    np.testing.assert_allclose(corners[:, 2], terrain.height(*corners[:, :2].T), atol=2e-6)
    np.testing.assert_allclose([corners.min(0)[:2], corners.max(0)[:2]],
                               np.transpose([x_range, y_range]), atol=1e-6)


def assert_same_text(made, kept):
    """Compare the words of two files: numbers to what a micrometre is of them, all else as is."""
    made, kept = (re.findall(r'[^\s<>"]+', text) for text in (made, kept))
    assert len(made) == len(kept), 'run scripts/write_worlds.py'
    for new, old in zip(made, kept, strict=True):
        assert new == old or float(new) == pytest.approx(float(old), rel=1e-6), (
            f'{new} instead of {old}: run scripts/write_worlds.py')


def test_a_models_ground_is_where_the_terrain_is(tmp_path):
    sdf = write_gazebo(HILLS, tmp_path / 'hills', X, Y, side=65)
    assert_is_terrain(sdf, HILLS, X, Y)
    model = ground_of(sdf)
    assert (model.get('name'), model.findtext('static')) == ('hills', 'true')
    # physics leave it out, and pictures do not
    assert not list(model.iter('pos'))


def test_a_worlds_ground_is_where_the_terrain_is_and_its_files_beside_it(tmp_path):
    sdf = write_world(tmp_path / 'hall.sdf', HILLS, X, Y, side=33)
    assert_is_terrain(sdf, HILLS, X, Y)
    assert {str(p.relative_to(tmp_path)) for p in tmp_path.rglob('*.*')} == {
        'hall.sdf', 'hall/heights.png', 'hall/ground.stl'}
    assert ElementTree.parse(sdf).getroot().find('world').get('name') == 'hall'


def test_the_brightest_pixel_is_white_and_a_level_ground_keeps_its_height(tmp_path):
    floor = write_gazebo(Flat(0.7), tmp_path / 'floor', X, Y, side=17)
    np.testing.assert_allclose(felt(floor)[2], 0.7, atol=1e-12)
    for sdf in (floor, write_gazebo(HILLS, tmp_path / 'hills', X, Y, side=65)):
        with Image.open(sdf.parent / 'heights.png') as image:
            assert np.asarray(image).max() == 65535


def test_the_picture_can_be_read_back(tmp_path):
    write_gazebo(HILLS, tmp_path / 'hills', X, Y, side=65)
    x, y = np.meshgrid(np.linspace(*X, 65), np.linspace(*Y, 65))
    heights = HILLS.height(x, y)
    back = load_height_map(tmp_path / 'hills' / 'heights.png', (7 / 64, 4 / 64), (X[0], Y[0]),
                           (heights.min(), heights.max()), degree=5)
    # half a level, which the spline may amplify near the edge
    for x, y in ((0.3, 2.2), (4.1, 4.4), (-1.7, 1.3)):
        assert float(back.height(x, y)) == pytest.approx(float(HILLS.height(x, y)), abs=1e-4)


def test_a_model_is_described(tmp_path):
    write_gazebo(Flat(), tmp_path / 'floor', X, Y, side=17)
    config = ElementTree.parse(tmp_path / 'floor' / 'model.config').getroot()
    assert (config.findtext('name'), config.findtext('sdf')) == ('floor', 'model.sdf')


def test_a_side_that_gazebo_does_not_take_is_refused(tmp_path):
    with pytest.raises(TerrainError, match=r'side = 100: .* 2\^n \+ 1 .* 129'):
        write_gazebo(HILLS, tmp_path / 'hills', X, Y, side=100)


def test_the_worlds_of_the_package_are_what_the_script_writes(tmp_path):
    script = runpy.run_path(str(ROOT / 'scripts/write_worlds.py'))
    kept = share_file('c3p_description/worlds')
    for made in script['write_all'](tmp_path):
        assert_same_text(made.read_text(), (kept / made.name).read_text())
    terrain, size, _ = script['ROUGH']
    level = script['Clearing'](load_terrain(terrain), script['CLEARING'])
    assert_is_terrain(kept / 'rough.sdf', level, *[(-size / 2, size / 2)] * 2)
    with Image.open(tmp_path / 'rough/heights.png') as made, \
            Image.open(kept / 'rough/heights.png') as image:
        # sines differ in the last bit between processors
        assert np.abs(np.asarray(made, int) - np.asarray(image, int)).max() <= 1


@pytest.mark.parametrize('level', [0.0, 1.5])
def test_the_script_writes_a_world_of_any_terrain(level, tmp_path, monkeypatch, capsys):
    script = runpy.run_path(str(ROOT / 'scripts/write_worlds.py'))
    monkeypatch.setattr('sys.argv', ['write_worlds.py', '--terrain', 'plateau', '--size', '8',
                                     '--side', '33', '--level', str(level),
                                     '--out', str(tmp_path / 'my/climb.sdf')])
    script['main']()
    sdf = Path(capsys.readouterr().out.strip())
    assert sdf == tmp_path / 'my/climb.sdf'
    terrain = load_terrain('plateau')
    assert_is_terrain(sdf, script['Clearing'](terrain, level) if level else terrain, (-4.0, 4.0),
                      (-4.0, 4.0))


@pytest.mark.parametrize('name', ['flat', 'rough'])
def test_worlds_have_the_step_the_gravity_and_the_systems_that_the_robot_needs(name):
    world = ElementTree.parse(share_file(f'c3p_description/worlds/{name}.sdf')).find('world')
    assert world.get('name') == name
    assert float(world.findtext('physics/max_step_size')) == TIMESTEP
    assert [float(g) for g in world.findtext('gravity').split()] == [0, 0, -GRAVITY]
    # names of gz-sim 8, src/systems
    assert {p.get('filename'): p.get('name') for p in world.findall('plugin')} == {
        'gz-sim-physics-system': 'gz::sim::systems::Physics',
        'gz-sim-user-commands-system': 'gz::sim::systems::UserCommands',
        'gz-sim-scene-broadcaster-system': 'gz::sim::systems::SceneBroadcaster',
        'gz-sim-imu-system': 'gz::sim::systems::Imu'}
    friction = ground_of(share_file(f'c3p_description/worlds/{name}.sdf')).find(
        'link/collision/surface/friction/ode')
    # leaves that of the tyres as it is, whether the lesser counts or the product
    assert [float(element.text) for element in friction] == [1, 1]


def test_a_robot_that_is_put_at_the_origin_stands_level_on_the_rough_ground():
    """On a slope it would roll away before the first command: friction holds 4 N of 18 N."""
    x, y, heights = felt(share_file('c3p_description/worlds/rough.sdf'))
    robot = load('c3p')
    # as far from the middle as a wheel can be, and the corners of the cells there
    reach = np.hypot(*robot.hip_position.T).max() + robot.caster_offset.max()
    below = np.hypot(*np.meshgrid(x, y, indexing='ij')) <= reach + np.hypot(x[1] - x[0],
                                                                            y[1] - y[0])
    assert np.count_nonzero(below) >= 9
    # one level of the image: no deeper in the ground, nor above it, than 2 µm
    level = np.ptp(heights) / 65535
    assert np.abs(heights[below]).max() <= level < 2e-6
    # the rest is as rough as the terrain is: 3°
    slope = np.hypot(*np.gradient(heights, x, y))
    assert np.radians(2.9) < slope.max() < np.radians(3.6)


@pytest.mark.parametrize('name', ['flat', 'rough'])
def test_sdformat_takes_the_worlds(name):
    command = sdformat()
    done = subprocess.run([*command, '-k', share_file(f'c3p_description/worlds/{name}.sdf')],
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'Valid.' in done.stdout, done.stderr

