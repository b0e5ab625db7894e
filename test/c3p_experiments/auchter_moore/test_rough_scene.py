# SPDX-License-Identifier: Apache-2.0
"""Pictures of the tricycle on rough ground: places, wheels on the ground, captions, films."""

import importlib.util

import numpy as np
import pytest
from PIL import Image

pytest.importorskip('mujoco', reason='pip install .[sim]')
pytest.importorskip('xacro', reason='pip install .[sim]')

from c3p_description import load  # noqa: E402
from c3p_experiments.auchter_moore import film as rough_film  # noqa: E402
from c3p_experiments.auchter_moore.drawing import (  # noqa: E402
    RunStudio,
    contact_marks,
    piece,
    placement,
)
from c3p_experiments.auchter_moore.film import caption, contact_sheet, film  # noqa: E402
from c3p_experiments.auchter_moore.pages import MARGIN, stations  # noqa: E402
from c3p_rough_ground.closed_chain import place, simulate  # noqa: E402
from c3p_rough_ground.terrain import Hills
from c3p_rough_ground.vehicles import pvc_tricycle  # noqa: E402
from c3p_viewers.mujoco.opengl import import_mujoco  # noqa: E402
from c3p_viewers.mujoco.studio import WHITE, set_placement, studio_model  # noqa: E402
from c3p_viewers.mujoco.view import View  # noqa: E402

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

SIZE = (160, 90)
VEHICLE = pvc_tricycle(load('pvc_tricycle'))


@pytest.fixture(scope='module')
def run():
    hills = Hills.random(seed=1)
    return simulate(VEHICLE, hills, place(VEHICLE, hills, 0, 0, 0).require(),
                    [0, 1, 0, 1, 0, 1], 8.0)


def test_the_wheels_of_the_model_are_where_the_kinematics_has_them(run):
    """MuJoCo's forward kinematics of the URDF against the closed chains."""
    mj, model = import_mujoco(), studio_model('pvc_tricycle', SIZE)
    data = mj.MjData(model)
    for k in (0, 200, 400):
        set_placement(model, data, placement(VEHICLE, run.state(k)))
        mj.mj_kinematics(model, data)
        for i in range(3):
            np.testing.assert_allclose(data.body(f'wheel_link_{i + 1}').xpos,
                                       run.wheel_center[k, i], atol=1e-9)


def test_the_vehicle_is_seen_on_its_ground_below_the_sky(studio, run):
    with RunStudio(run, 'pvc_tricycle', (320, 180), MARGIN, WHITE, texel=0.05) as drawn:
        view = View(run.position[0], 6.0, np.radians(105), np.radians(27), np.radians(30))
        near = drawn.at([0], view)
        far = drawn.at([0], view._replace(distance=200.0))
        twice = drawn.at([0, len(run) - 1], view._replace(target=run.position[len(run) // 2],
                                                          distance=9.0))
    # black tyres in the middle, and nothing but the white sky far away
    dark = (near.max(axis=2) < 45)
    rows, columns = np.nonzero(dark)
    assert abs(columns.mean() - 160) < 40 and abs(rows.mean() - 90) < 30
    assert (far[0] == 255).all() and far[90, 160].max() < 250
    # two of them are apart
    occupied = (twice.max(axis=2) < 45).any(axis=0)
    assert np.ptp(np.nonzero(occupied)[0]) > 120


def test_marks_and_places_follow_the_run(run):
    for wheel in range(3):
        points, normals = contact_marks(run, wheel)
        np.testing.assert_allclose(points[:, 2], run.terrain.height(points[:, 0], points[:, 1]),
                                   atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
        assert len(contact_marks(run, wheel, 4.0)[0]) < len(points)
    (x0, x1), (y0, y1) = piece(run, MARGIN)
    places = run.contact_point.reshape(-1, 3)
    assert x0 < places[:, 0].min() and places[:, 0].max() < x1
    assert y0 < places[:, 1].min() and places[:, 1].max() < y1
    at = stations(run)
    assert at[0] == 0 and at[-1] == pytest.approx(len(run) - 1, abs=2)
    assert np.all(np.diff(run.position[at, 0]) > 1.8)


def test_films_and_stills_show_the_run(studio, run, tmp_path, monkeypatch):
    kinds = ['gif', *(['mp4'] if importlib.util.find_spec('imageio_ffmpeg') else [])]
    monkeypatch.setattr(rough_film, 'KINDS', {kind: (5.0, SIZE, 8.0) for kind in kinds})
    done = []
    path = film(run, 'pvc_tricycle', tmp_path / 'a.gif', done.append)
    with Image.open(path) as picture:
        # 8 s at eight times the speed, five a second
        assert (picture.n_frames, picture.size) == (6, SIZE)
        first = np.asarray(picture.convert('RGB'), int)
        picture.seek(5)
        assert np.abs(np.asarray(picture.convert('RGB'), int) - first).mean() > 5.0
    np.testing.assert_allclose(done, np.arange(1, 7) / 6)
    if 'mp4' in kinds:
        assert film(run, 'pvc_tricycle', tmp_path / 'a.mp4').read_bytes()[4:8] == b'ftyp'
    monkeypatch.setattr(rough_film, 'STILL_SIZE', SIZE)
    with Image.open(contact_sheet(run, 'pvc_tricycle', tmp_path / 's.png', stills=3)) as sheet:
        assert sheet.size[0] == 2400 and np.asarray(sheet.convert('L')).std() > 20.0


def test_a_caption_has_time_and_camber(run):
    assert caption(run, 4.0).startswith('t = 4.0 s    camber ')
    assert caption(run, 0.0).count('°') == 2
