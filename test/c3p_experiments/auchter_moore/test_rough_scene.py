# SPDX-License-Identifier: Apache-2.0
"""Pictures of vehicles on rough ground: what is where, what hides what, shadows, films."""

import importlib.util
import math
from functools import partial

import numpy as np
import pytest
from PIL import Image

from c3p_description import load
from c3p_experiments.auchter_moore import _scene_kernels as scene_kernels
from c3p_experiments.auchter_moore import film as rough_film
from c3p_experiments.auchter_moore import scene as rough_scene
from c3p_experiments.auchter_moore.film import FilmError, caption, check_film, contact_sheet, film
from c3p_experiments.auchter_moore.pages import marks, piece, stations
from c3p_experiments.auchter_moore.scene import SUN, WHITE, Scene, View, height_colours
from c3p_experiments.auchter_moore.scene_shapes import box, disc, ground, joined, rod, tyre
from c3p_experiments.auchter_moore.scene_vehicle import Figure
from c3p_kinematics.closed_chain_vehicle import place, simulate
from c3p_kinematics.terrain import Flat, Hills
from c3p_kinematics.vehicles import pvc_tricycle

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

SIZE = (160, 90)
MODEL = load('pvc_tricycle')
VEHICLE = pvc_tricycle(MODEL)
RED = (1.0, 0.0, 0.0)


@pytest.fixture(scope='module')
def run():
    hills = Hills.random(seed=1)
    return simulate(VEHICLE, hills, place(VEHICLE, hills, 0, 0, 0).require(),
                    [0, 1, 0, 1, 0, 1], 8.0)


@pytest.fixture(scope='module')
def plain():
    return Scene(Flat(), (-2.0, 2.0), (-2.0, 2.0), heights=(-1.0, 1.0), texel=0.02)


def pixel(view, point):
    """Return row and column of a point."""
    column, row, _ = view.project([point], SIZE)[0]
    return int(row), int(column)


def test_the_target_is_in_the_middle_and_nearness_is_one_by_distance():
    view = View((1.0, 2.0, 0.5), 4.0)
    np.testing.assert_allclose(view.project([view.target], SIZE), [[80.0, 45.0, 0.25]], rtol=1e-12)
    # the opening is that between the lower and the upper edge
    up = np.array([-math.sin(view.elevation) * math.cos(view.azimuth),
                   -math.sin(view.elevation) * math.sin(view.azimuth), math.cos(view.elevation)])
    edge = np.asarray(view.target) + 4.0 * math.tan(view.opening / 2) * up
    np.testing.assert_allclose(view.project([edge], SIZE)[0, :2], [80.0, 0.0], atol=1e-9)
    # what is behind the eye is not near
    assert view.project([2 * view.eye - view.target], SIZE)[0, 2] < 0.0


def test_a_fitted_view_just_holds_everything():
    points = np.array([(0, 0, 0), (7, 0, 0.3), (7, 3, 1.0), (0, 3, -0.5)], float)
    view = View((0, 0, 0), 3.0).fitted(points, SIZE, 0.05)
    at = view.project(points, SIZE)[:, :2] / SIZE
    low, high = at.min(axis=0), at.max(axis=0)
    # the longer way fills what the margin leaves; perspective makes the fit a little rough
    np.testing.assert_allclose(0.5 * (low + high), 0.5, atol=0.01)
    assert np.max(high - low) == pytest.approx(0.9, abs=0.01)


def test_what_is_nearer_hides_what_is_behind(plain):
    view = View((0, 0, 0.3), 9.0)
    toward = (view.eye - view.target) / np.linalg.norm(view.eye - view.target)
    far = box((0.6, 0.6, 0.6), view.target, (0.0, 0.0, 1.0))
    near = disc(np.asarray(view.target) + 1.2 * toward, toward, 0.15, RED)
    picture = plain.draw([far, near], view, SIZE).astype(int)
    red, _, blue = picture[pixel(view, view.target)]
    assert red > 150 > blue
    red, _, blue = picture[pixel(view, np.asarray(view.target) + (0, 0, 0.27))]
    assert blue > 60 > red


def test_the_sun_casts_the_shadow_where_it_falls(plain):
    view = View((0, 0, 0), 9.0)
    plate = disc((0, 0, 1.0), (0, 0, 1), 0.25, RED)
    shadow = pixel(view, np.array([0, 0, 1.0]) - SUN / SUN[2])
    lit, dark = (plain.draw(shapes, view, SIZE)[shadow].astype(int) for shapes in ([], [plate]))
    assert dark.sum() < 0.85 * lit.sum()
    # and nowhere else on the ground
    beside = pixel(view, (1.2, 1.2, 0.0))
    np.testing.assert_array_equal(*(plain.draw(shapes, view, SIZE)[beside]
                                    for shapes in ([], [plate])))


def test_sky_is_left_where_nothing_is(plain):
    picture = plain.draw([], View((0, 0, 0), 40.0), SIZE, WHITE)
    assert np.all(picture[0] == 255) and picture[45, 80].max() < 250


def test_heights_are_told_by_colour():
    low, high = height_colours([0.0, 2.0], (0.0, 2.0))
    np.testing.assert_allclose(low, (0.44, 0.55, 0.50))
    np.testing.assert_allclose(high, (0.95, 0.93, 0.89))


def test_plain_python_gives_the_pixels_of_the_compiled_kernel():
    rng = np.random.default_rng(5)
    corners = np.column_stack([rng.uniform(-5, 45, 60), rng.uniform(-5, 35, 60),
                               rng.uniform(-0.1, 1.0, 60)])
    triangles = np.arange(60, dtype=np.int32).reshape(20, 3)
    found = []
    for draw in (scene_kernels.rasterise, getattr(scene_kernels.rasterise, 'py_func',
                                                  scene_kernels.rasterise)):
        near, which = np.zeros((30, 40)), np.full((30, 40), -1, np.int32)
        draw(corners, triangles, near, which)
        found.append((near, which))
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-14)
    assert len(np.unique(found[0][1])) > 5


@pytest.mark.parametrize('shape', [
    box((1, 2, 3), (0, 0, 0), RED), rod((0, 0, 0), (1, 1, 1), 0.2, RED),
    tyre(0.25, 0.05, (RED, RED)), ground(Hills.random(0), (0, 2), (0, 1), 0.1, 0.2)[0]],
    ids=['box', 'rod', 'tyre', 'ground'])
def test_normals_are_unit_and_stand_on_their_triangles(shape):
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1.0, atol=1e-12)
    a, b, c = (shape.vertices[shape.triangles[:, i]] for i in range(3))
    flat = np.cross(b - a, c - a)
    size = np.linalg.norm(flat, axis=1)
    own = shape.normals[shape.triangles].mean(axis=1)
    # curved shapes turn by some 18° within a triangle at most
    aligned = np.abs(np.sum(flat * own, axis=1))[size > 1e-12] / size[size > 1e-12]
    assert aligned.min() > 0.95


def test_the_wheels_of_the_figure_touch_the_ground_at_their_contacts(run):
    figure = Figure(VEHICLE, MODEL)
    for k in (0, 400):
        points = figure.at(run.state(k)).vertices
        off = points[:, 2] - run.terrain.height(points[:, 0], points[:, 1])
        # 72 corners around, 20 around the tube: chords stay 0.6 mm inside the torus
        assert -1e-4 < off.min() < 1e-3
        for contact in run.contact_point[k]:
            assert np.linalg.norm(points - contact, axis=1).min() < 0.015


def test_marks_and_places_follow_the_run(run):
    points = joined(marks(run)).vertices
    assert np.abs(points[:, 2] - run.terrain.height(points[:, 0], points[:, 1])).max() < 0.02
    assert len(marks(run, 4.0)) < len(marks(run))
    (x0, x1), (y0, y1) = piece(run)
    places = run.contact_point.reshape(-1, 3)
    assert x0 < places[:, 0].min() and places[:, 0].max() < x1
    assert y0 < places[:, 1].min() and places[:, 1].max() < y1
    at = stations(run)
    assert at[0] == 0 and at[-1] == pytest.approx(len(run) - 1, abs=2)
    assert np.all(np.diff(run.position[at, 0]) > 1.8)


def test_films_and_stills_show_the_run(run, tmp_path, monkeypatch):
    # coarse, because what moves is looked at
    monkeypatch.setattr(rough_film, 'Scene', partial(Scene, texel=0.05))
    monkeypatch.setattr(rough_scene, 'SHADOW', 256)
    kinds = ['gif', *(['mp4'] if importlib.util.find_spec('imageio_ffmpeg') else [])]
    monkeypatch.setattr(rough_film, 'KINDS', {kind: (5.0, SIZE, 8.0) for kind in kinds})
    done = []
    path = film(run, MODEL, tmp_path / 'a.gif', done.append)
    with Image.open(path) as picture:
        # 8 s at eight times the speed, five a second
        assert (picture.n_frames, picture.size) == (6, SIZE)
        first = np.asarray(picture.convert('RGB'), int)
        picture.seek(5)
        assert np.abs(np.asarray(picture.convert('RGB'), int) - first).mean() > 5.0
    np.testing.assert_allclose(done, np.arange(1, 7) / 6)
    if 'mp4' in kinds:
        assert film(run, MODEL, tmp_path / 'a.mp4').read_bytes()[4:8] == b'ftyp'
    monkeypatch.setattr(rough_film, 'STILL_SIZE', SIZE)
    with Image.open(contact_sheet(run, MODEL, tmp_path / 's.png', stills=3)) as sheet:
        assert sheet.size[0] == 2400 and np.asarray(sheet.convert('L')).std() > 20.0


def test_a_caption_says_time_and_camber(run):
    assert caption(run, 4.0).startswith('t = 4.0 s    camber ')
    assert caption(run, 0.0).count('°') == 2


def test_films_that_cannot_be_written_say_what_is_missing(monkeypatch):
    with pytest.raises(FilmError, match='film webm: must be one of mp4, gif'):
        check_film('webm')
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    check_film('gif')
    with pytest.raises(FilmError, match=r'c3p\[film\].*gif, which needs neither'):
        check_film('mp4')
