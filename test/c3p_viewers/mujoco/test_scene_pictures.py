# SPDX-License-Identifier: Apache-2.0
"""Pictures with the scene: points appear where the camera sees them, texts say what is shown."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread

pytest.importorskip('mujoco', reason='pip install .[sim]')
pytest.importorskip('xacro', reason='pip install .[sim]')

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_viewers.mujoco.caption import Text, caption  # noqa: E402
from c3p_viewers.mujoco.opengl import import_mujoco  # noqa: E402
from c3p_viewers.mujoco.pictures import numbers  # noqa: E402
from c3p_viewers.mujoco.shapes import add_shapes  # noqa: E402
from c3p_viewers.mujoco.view import View  # noqa: E402
from c3p_viewers.scene.shapes import Ball, Label, Line  # noqa: E402
from c3p_viewers.screen import PictureError  # noqa: E402

SMALL = (320, 180)
RED = (1.0, 0.0, 0.0, 1.0)


def red(pixels):
    """Return the middle (column, row) of what is pure red, in pixels."""
    r, g, b = pixels.astype(int).transpose(2, 0, 1)
    rows, columns = np.nonzero((r > 2 * g + 40) & (r > 2 * b + 40))
    return columns.mean(), rows.mean()


@pytest.mark.parametrize('view', [View((0.5, -0.2, 0.06), 2.0, 0.4, 0.7),
                                  View((0, 0, 0.3), 3.0, -2.2, 1.2, 1.0)])
def test_a_ball_appears_where_the_projection_says(studio, view):
    """MuJoCo's camera against the pinhole equation, with the robot elsewhere."""
    # in the frame of a robot at (0.5, 0.4), turned by 0.8; high enough to hide nothing
    ball = Ball('ball', 'base_link', RED, np.array([0.2, 0.1, 0.4]), 0.06)
    pose = np.array([0.5, 0.4, 0.8])
    pixels = studio.draw([(9.0, 9.0, 0.0)], 0.0, view=view,
                         decorate=lambda scene: add_shapes(scene, [ball], pose))
    turn = np.array([[np.cos(0.8), -np.sin(0.8)], [np.sin(0.8), np.cos(0.8)]])
    point = [*(pose[:2] + turn @ [0.2, 0.1]), 0.4]
    # a pixel for the raster and one for the shaded side
    np.testing.assert_allclose(red(pixels), view.project([point], SMALL)[0], atol=2.0)


def test_what_is_behind_the_camera_appears_nowhere():
    view = View((0.0, 0.0, 0.06), 2.0, 0.0, 0.3)
    assert np.isnan(view.project([(-50.0, 0.0, 0.0)], SMALL)).all()
    np.testing.assert_allclose(view.project([(0.0, 0.0, 0.06)], SMALL), [[160, 90]])


def test_a_scene_that_is_full_takes_no_more(studio):
    scene = import_mujoco().MjvScene(studio.model, 20)
    line = Line('line', 'base_link', RED, np.arange(90.0).reshape(30, 3), 0.01)
    add_shapes(scene, [line, Label('l', 'base_link', RED, np.zeros(3), 'text', 0.1)], [0, 0, 0])
    assert scene.ngeom == 20


def test_the_caption_lists_what_is_shown_and_nothing_else():
    plain = np.full((360, 640, 3), 128, np.uint8)
    one = caption(plain, 'robot', [('speed', '1 m/s')], {'slip_2': RED})
    more = caption(plain, 'robot', [('speed', '1 m/s')], {
        'slip_2': RED, 'goal': (0, 0.6, 0.4, 1), 'nothing_known': RED})
    assert one.shape == plain.shape
    # boxes at the left, in the upper and lower corner; the list grows by a line
    boxes = [(picture[:, :200] != 128).any(axis=(1, 2)).sum() for picture in (one, more)]
    assert boxes[0] + 6 < boxes[1] < boxes[0] + 20
    assert (one[:, 450:] == 128).all()
    # a text of the scene, but not under the boxes or outside
    texts = [Text(np.array(place), 'ICR') for place in ((500, 100), (20, 20), (900, 10))]
    told = caption(plain, 'robot', [('speed', '1 m/s')], {'slip_2': RED}, texts)
    changed = np.argwhere((told != one).any(axis=2))
    np.testing.assert_allclose(changed.mean(axis=0), [100, 500], atol=2)


def test_numbers_tell_of_the_singularity(robot, source):
    told = dict(numbers(robot, source.at(0.0)))
    # all casters at zero: the lines are parallel
    assert told['σ_min'] == '0.00, lines parallel' and told['speed'].endswith('m/s')
    bare = source.at(2.0)._replace(twist=None, torque=None)
    assert set(dict(numbers(robot, bare))) == {'steering', 'σ_min'}


def test_the_command_writes_picture_and_figures(studio, source, viewed_bag, tmp_path, capsys):
    path = tmp_path / 'new' / 'f.png'
    arguments = ['view', str(viewed_bag), '--size', '320', '180', '--headless-screenshot',
                 str(path), '--time', '1.3', '--json', str(tmp_path / 'f.json')]
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip() == str(path)
    figures = json.loads((tmp_path / 'f.json').read_text())
    assert figures['time_s'] == pytest.approx(1.3) and figures['viewer'] == 'mujoco'
    np.testing.assert_allclose(figures['pose'], source.at(1.3).pose)
    assert 0 <= figures['sigma_min'] < 1
    # the translucent blue plate on grey floor, in the middle of the picture
    pixels = (255 * imread(path)[..., :3]).astype(int)
    assert pixels.shape == (180, 320, 3)
    rows, columns = np.nonzero(pixels[..., 2] - pixels[..., 0] > 55)
    assert abs(columns.mean() - 160) < 40 and abs(rows.mean() - 90) < 30


@pytest.mark.parametrize(('arguments', 'said'), [
    (['bag', '--headless-screenshot', 'f.jpg'], 'must end in .png'),
    (['--headless-screenshot', 'f.png'], 'needs a bag'),
    (['--save', 'f.rrd'], 'needs a bag'),
    (['bag', '--save', 'f.mcap'], 'must end in .rrd'),
    (['bag', '--save', 'f.rrd', '--headless-screenshot', 'f.png'], 'one of them'),
    (['bag', '--save', 'f.rrd', '--viewer', 'mujoco'], 'not for mujoco'),
    (['bag', '--viewer', 'foxglove', '--headless-screenshot', 'f.png'], 'cannot be pictured'),
    (['bag', '--time', '3'], 'belongs to'),
    (['nowhere', '--headless-screenshot', 'f.png'], 'no such file'),
])
def test_what_does_not_go_together_is_told_in_one_line(arguments, said, capsys, tmp_path,
                                                       monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(['view', *arguments]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told and '\n' not in told and told.startswith('c3p view: ')


def test_a_window_without_a_screen_names_what_works_without(robot, monkeypatch):
    from c3p_viewers.mujoco.window import Window

    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    with pytest.raises(PictureError, match='--headless-screenshot'):
        Window(robot, 'c3p')


def test_the_window_places_the_robot_and_keeps_its_way(robot, source, monkeypatch):
    """What is drawn into MuJoCo's window, without the window."""
    from c3p_viewers.mujoco.window import Window

    monkeypatch.setenv('WAYLAND_DISPLAY', 'any')
    mj, window = import_mujoco(), Window(robot, 'c3p')
    scene = mj.MjvScene(window._model, 2000)
    shown = SimpleNamespace(user_scn=scene, cam=mj.MjvCamera())
    for time in np.linspace(source.start, source.end, 30):
        window._draw(shown, source.at(time))
    moment = source.at(source.end)
    np.testing.assert_allclose(window._data.body('base_link').xpos[:2], moment.pose[:2],
                               atol=1e-9)
    np.testing.assert_allclose(shown.cam.lookat[:2], moment.pose[:2])
    assert 10 < len(window._way) < 30 and scene.ngeom > len(window._way)
    # played again from the start
    window._draw(shown, source.at(source.start))
    assert len(window._way) == 1
