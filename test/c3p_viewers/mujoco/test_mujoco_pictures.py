# SPDX-License-Identifier: Apache-2.0
"""Pictures and films: that they show the robot where it is, and say what is missing."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image

pytest.importorskip('mujoco', reason='pip install .[sim]')
pytest.importorskip('xacro', reason='pip install .[sim]')

from c3p_description.reading.loader import load, load_casters  # noqa: E402
from c3p_rough_ground.terrain import Plateau  # noqa: E402
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant  # noqa: E402
from c3p_simulation.plants.checks import PlantError  # noqa: E402
from c3p_viewers.mujoco.films import FilmWriter, check_film  # noqa: E402
from c3p_viewers.mujoco.opengl import gl_context, import_mujoco  # noqa: E402
from c3p_viewers.mujoco.pictures import CasterStudio, film, run_picture  # noqa: E402
from c3p_viewers.mujoco.studio import RobotPlacement, Studio, studio_model  # noqa: E402
from c3p_viewers.mujoco.terrain import HEIGHTS, GroundRectangle, height_colours  # noqa: E402
from c3p_viewers.mujoco.view import View  # noqa: E402
from c3p_viewers.mujoco.window import Window  # noqa: E402
from c3p_viewers.screen import PictureError  # noqa: E402

SMALL = (320, 180)
# straight from above, +X to the right and +Y up
ABOVE = View(target=(0.0, 0.0, 0.06), distance=4.0, azimuth=np.pi / 2, elevation=np.pi / 2 - 1e-3)


def blue(pixels):
    """Return where the blue plate is seen."""
    red, green, blue = pixels.astype(int).transpose(2, 0, 1)
    return (blue > red + 60) & (blue > green + 30)


def middle(mask):
    """Return the mean column and row of a mask, from the middle of the picture, in its heights."""
    rows, columns = np.nonzero(mask)
    height, width = mask.shape
    return (columns.mean() - width / 2) / height, (height / 2 - rows.mean()) / height


@pytest.mark.parametrize(('x', 'y'), [(0, 0), (1.0, 0), (0, 0.8), (-1.2, -0.7)])
def test_the_robot_is_seen_where_it_is(studio, x, y):
    seen = blue(studio.draw([(x, y, 0.0)], 0.0, view=ABOVE))
    # 45° of view from 4 m show 3.3 m of floor; the plate is 12 cm above it, lit unevenly
    shown = 2 * 4.0 * np.tan(np.radians(22.5))
    np.testing.assert_allclose(middle(seen), (x / shown, y / shown), atol=0.03)
    # a triangle of 0.343 m with round corners is some 0.3 m²
    assert seen.mean() == pytest.approx(0.3 / shown**2 * 9 / 16, rel=0.5)


def test_yaw_turns_it_and_a_third_of_a_turn_looks_alike(studio):
    straight, turned, third = (blue(studio.draw([(0, 0, yaw)], 0.0, view=ABOVE))
                               for yaw in (0.0, 0.6, 2 * np.pi / 3))
    overlap = [(straight & other).sum() / (straight | other).sum() for other in (turned, third)]
    # the box on the plate is no triangle
    assert overlap[0] < 0.75 < 0.85 < overlap[1]


def test_steering_and_wheels_are_seen(studio):
    low = View((0, 0, 0.06), 1.2, 0.3, 0.1)
    pictures = [studio.draw([(0, 0, 0)], steering, angle, view=low).astype(int)
                for steering, angle in ((0.0, 0.0), ([0, 0, 1.2], 0.0), (0.0, 0.0))]
    assert np.abs(pictures[1] - pictures[0]).max() > 60
    # equal states give equal pictures
    assert np.array_equal(pictures[0], pictures[2])


def test_several_robots_and_a_path_fit_into_one_picture(studio):
    path = np.column_stack([np.linspace(-1.2, 1.2, 500), np.full(500, -0.7)])
    one = studio.draw([(0, 0, 0)], 0.0, view=ABOVE)
    many = studio.draw([(-1, 0, 0), (0, 0, 0), (1, 0, 0)], 0.0, path=path, view=ABOVE)
    assert blue(many).sum() == pytest.approx(3 * blue(one).sum(), rel=0.2)
    red, green, _ = many.astype(int).transpose(2, 0, 1)
    line = red > green + 25
    # of the robots only marks and stops have that colour, further up
    below = line[int(SMALL[1] * 0.65):]
    assert below.any(axis=0).sum() > 0.3 * SMALL[0]


def test_a_robot_with_four_casters_is_drawn_from_its_own_file(studio, tmp_path):
    (tmp_path / 'four.yaml').write_text(
        'extends: c3p\nname: four\ncasters:\n'
        '  hip_position: [[0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3], [0.3, -0.3]]\n'
        "visual: {platform_mesh: ''}\n")
    with CasterStudio(tmp_path / 'four.yaml', SMALL) as four:
        seen = blue(four.draw([(0, 0, 0)], 0.0, view=ABOVE))
    # four arms: alike after a quarter of a turn, in a square around the middle
    side = SMALL[1]
    square = seen[:, (SMALL[0] - side) // 2:(SMALL[0] + side) // 2]
    assert (square & np.rot90(square)).sum() / (square | np.rot90(square)).sum() > 0.6


def run_log(**changed):
    """Return what the pictures take of a log: 2 s along +X, half a turn of the steering."""
    time = np.linspace(0, 2, 41)
    motion = SimpleNamespace(time=time, pose=np.column_stack([time, 0 * time, 0 * time]))
    angles = np.outer(time, np.ones(3))
    joints = SimpleNamespace(time=time, steering=angles, wheel_angle=25 * angles)
    return SimpleNamespace(**{'path': Path('bag'), 'joints': joints, 'odom': None,
                              'ground_truth': motion, **changed})


def test_a_run_is_one_picture_with_robots_beside_each_other(studio, tmp_path):
    path = run_picture(run_log(), tmp_path / 'run.png', size=SMALL)
    seen = blue((255 * imread(path)[..., :3]).astype(int))
    # three robots of some 0.85 m on 2 m
    assert seen.any(axis=0).sum() > 0.3 * SMALL[0]


def test_a_log_without_poses_cannot_be_drawn(studio, tmp_path):
    with pytest.raises(PictureError, match='no true poses, no odometry'):
        run_picture(run_log(ground_truth=None), tmp_path / 'run.png', size=SMALL)


def test_a_film_has_the_length_of_the_run(studio, tmp_path):
    imageio = pytest.importorskip('imageio', reason='pip install .[film]')
    pytest.importorskip('imageio_ffmpeg', reason='pip install .[film]')
    done = []
    path = film(run_log(), tmp_path / 'run.mp4', speed=4.0, size=SMALL, progress=done.append)
    with imageio.get_reader(path) as reader:
        # its length is told as infinite
        frames = [frame for frame in reader]
    # 2 s of robot time at four times the speed, 30 pictures a second
    assert len(frames) == 15 and frames[0].shape == (SMALL[1], SMALL[0], 3)
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 60 and done[-1] == 1.0


def test_the_command_draws_what_a_bag_holds(studio, tmp_path, capsys):
    pytest.importorskip('rosbags', reason='pip install rosbags')
    from synthetic import drive, write_bag

    from c3p_bringup.cli.main import main

    robot = load('c3p')
    write_bag(tmp_path / 'bag', robot, drive(robot, goal=(1.0, 0.0, 0.0), rate=20.0))
    arguments = ['film', str(tmp_path / 'bag'), '--robot', 'c3p', '--size', '320', '180', '--out']
    assert main([*arguments, str(tmp_path / 'run.png')]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / 'run.png')
    assert imread(tmp_path / 'run.png').shape[:2] == (180, 320)
    scene = [*arguments, str(tmp_path / 'run.gif'), '--scene', '--rate', '4', '--span', '0.5']
    assert main([*scene, '1.5']) == 0
    with Image.open(tmp_path / 'run.gif') as moving:
        assert moving.n_frames == 4 and moving.size == (320, 180)
    assert main([*scene, '900']) == 2
    assert 'span = 0.5 to 900 s: must be within the run' in capsys.readouterr().err
    assert main(['film', str(tmp_path / 'nothing')]) == 2
    assert 'nothing' in capsys.readouterr().err


def test_without_imageio_the_remedy_is_named(studio, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'imageio', None)
    with pytest.raises(PictureError, match=r'pip install .*\[film\]'):
        film(run_log(), tmp_path / 'run.mp4', size=SMALL)
    with pytest.raises(ValueError, match='speed'):
        film(run_log(), tmp_path / 'run.mp4', speed=0.0)


def test_without_opengl_the_remedy_is_named(monkeypatch):
    real = importlib.import_module

    def fail(name, *more):
        if name.startswith('mujoco.'):
            raise ImportError(f'{name} is not here')
        return real(name, *more)

    monkeypatch.setattr(importlib, 'import_module', fail)
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    with pytest.raises(PictureError, match=r'libegl1.*libosmesa6'):
        CasterStudio('c3p', SMALL)


def test_without_the_packages_that_draw_they_are_named(monkeypatch):
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(PictureError, match=r'pyopengl.*pip install .*\[film\]'):
        gl_context(*SMALL)
    monkeypatch.setenv('MUJOCO_GL', 'glfw')
    with pytest.raises(PictureError, match=r'glfw, .*pip install .*\[film\]'):
        gl_context(*SMALL)
    with pytest.raises(PictureError, match=r'glfw, .*pip install .*\[film\]'):
        Window(load_casters('c3p'), 'c3p')


@pytest.mark.parametrize('problem', [ImportError('libmujoco'), OSError('libmujoco'), None])
def test_two_versions_of_mujoco_in_one_folder_are_told_with_the_remedy(problem, monkeypatch):
    class Mixed:
        """What the import of the folder gives: an error, or a module without a file."""

        @property
        def __file__(self):
            if problem is not None:
                raise problem

    monkeypatch.setitem(sys.modules, 'mujoco', Mixed())
    with pytest.raises(PictureError, match='MuJoCo, which is damaged .*pip uninstall mujoco'):
        import_mujoco()
    with pytest.raises(PlantError, match='pip uninstall mujoco .*or choose the plant analytic'):
        MujocoPlant('c3p')


def test_films_that_cannot_be_written_name_the_remedy(monkeypatch, tmp_path):
    with pytest.raises(PictureError, match='film webm: must be one of mp4, gif'):
        check_film('webm')
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    check_film('gif')
    with pytest.raises(PictureError, match=r'\[film\].*gif, which needs neither'):
        check_film('mp4')
    with FilmWriter(tmp_path / 'new' / 'a.gif', 10.0) as writer:
        writer.add(np.zeros((9, 16, 3), np.uint8))
        writer.add(np.full((9, 16, 3), 255, np.uint8))
    assert (tmp_path / 'new' / 'a.gif').read_bytes().startswith(b'GIF8')


def test_a_fitted_view_just_contains_everything():
    points = np.array([(0, 0, 0), (7, 0, 0.3), (7, 3, 1.0), (0, 3, -0.5)], float)
    view = View((0, 0, 0), 3.0, 0.7, 0.5, 0.3).fitted(points, SMALL, 0.05)
    at = view.project(points, SMALL) / SMALL
    low, high = at.min(axis=0), at.max(axis=0)
    # the longer side fills what the margin leaves; perspective makes the fit a little rough
    np.testing.assert_allclose(0.5 * (low + high), 0.5, atol=0.01)
    assert np.max(high - low) == pytest.approx(0.9, abs=0.01)


def test_a_point_of_a_terrain_has_the_colour_of_its_height_where_the_view_projects_it(studio):
    """Heights, place and texture of the height field, against the projection."""
    terrain = Plateau()
    ground = GroundRectangle(terrain, (-1.0, 6.0), (-1.0, 1.0), texel=0.02)
    view = View((2.5, 0.0, 0.5), 12.0, np.radians(105), np.radians(40), np.radians(40))
    with Studio('pvc_tricycle', SMALL, ground) as drawn:
        pixels = drawn.picture([RobotPlacement((0.0, 0.0, 50.0), (1.0, 0.0, 0.0, 0.0), {})], view)
    hue = []
    for x in (-0.7, 5.7):
        height = float(terrain.height(x, -0.5))
        column, row = view.project([(x, -0.5, height)], SMALL)[0]
        red, green, blue = pixels[int(row), int(column)].astype(int)
        hue.append(red - green)
    # green below, sand above
    assert hue[0] < -5 and hue[1] > 0
    np.testing.assert_allclose(height_colours(ground.heights, ground.heights), HEIGHTS[[0, -1]])
    assert ground.corners.shape == (8, 3) and ground.corners[:, 2].min() < ground.heights[0]


@pytest.mark.parametrize('count', [2, 4, 6])
def test_robots_of_any_casters_can_be_drawn(count, tmp_path):
    angles = 2 * np.pi * (np.arange(count) + 0.5) / count
    hips = (0.3 * np.column_stack([np.cos(angles), np.sin(angles)])).round(4).tolist()
    # wheels so large that the pivots of the drawn forks have no length
    (tmp_path / 'mine.yaml').write_text(
        f'extends: c3p\nname: mine\ncasters: {{hip_position: {hips}, caster_offset: 0.05, '
        "wheel_radius: 0.05}\nvisual: {platform_mesh: ''}\n")
    assert studio_model(tmp_path / 'mine.yaml').njnt == 1 + 2 * count


def test_a_urdf_written_by_hand_can_be_drawn():
    cart = Path(__file__).parents[3] / 'docs/tutorials/cart.urdf.xacro'
    assert studio_model(cart).njnt == 9
