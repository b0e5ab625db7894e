# SPDX-License-Identifier: Apache-2.0
"""Arcs, trails, ellipses and the lines of the camber against geometry derived another way."""

import math
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P
from scipy.stats import chi2

from c3p_description.pvc_model import JOINTS
from c3p_description.reading.loader import load_tricycle, robot_description
from c3p_viewers.scene.camber_scene import camber_scene
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.shapes import ARC_STEP, Arc, arc_head, raised
from c3p_viewers.scene.trail import ELLIPSE, JUMP, SECTOR, Trail, planned_line, uncertainty

ANGLES, TRICYCLE = st.floats(-6.0, 6.0), load_tricycle('pvc')


@given(st.floats(0.1, 5.0), ANGLES, ANGLES)
def test_arcs_keep_their_radius_and_end_where_their_head_begins(radius, start, sweep):
    arc = Arc('arc', 'base_link', (1, 1, 1, 1), np.array([1.0, -2.0, 0.3]), radius, start, sweep,
              0.01)
    points = arc.points
    np.testing.assert_allclose(np.hypot(*(points - arc.centre)[:, :2].T), radius, rtol=1e-12)
    assert (points[:, 2] == 0.3).all()
    # chord of the largest step
    steps = np.hypot(*np.diff(points, axis=0)[:, :2].T)
    assert steps.max() <= 2 * radius * math.sin(ARC_STEP / 2) + 1e-12
    head = arc_head(arc, 'head', 0.2)
    np.testing.assert_allclose(head.start, points[-1], atol=1e-12)
    way = head.end - head.start
    assert np.linalg.norm(way) == pytest.approx(0.2)
    # along the circle, onwards
    assert way @ (points[-1] - arc.centre) == pytest.approx(0.0, abs=1e-9)
    if abs(sweep) > 1e-6:
        assert way @ (points[-1] - points[-2]) > 0


def test_raised_takes_one_point_and_many():
    assert raised([1.0, 2.0], 3.0).tolist() == [1.0, 2.0, 3.0]
    assert raised([[1.0, 2.0], [4.0, 5.0]], 3.0).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 3.0]]


@given(st.integers(0, 2**32 - 1))
def test_the_ellipse_holds_95_percent_of_the_places(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3)) * [0.1, 0.3, 0.2]
    covariance, pose = root @ root.T, rng.uniform(-3, 3, 3)
    shapes = {s.name: s for s in uncertainty(C3P, pose, covariance, 'odom', SceneSettings())}
    ring = shapes['uncertainty_place'].points[:, :2] - pose[:2]
    # every point of the ring has the same Mahalanobis distance, whose square is χ² of two degrees
    squared = np.einsum('ki,ij,kj->k', ring, np.linalg.inv(covariance[:2, :2]), ring)
    np.testing.assert_allclose(squared, chi2.ppf(0.95, 2), rtol=1e-4)
    left, middle, right = shapes['uncertainty_heading'].points[:, :2]
    np.testing.assert_allclose(middle, pose[:2])
    width = math.remainder(np.subtract(*(math.atan2(*(e - middle)[::-1]) for e in (right, left))),
                           2 * math.pi)
    half = min(math.sqrt(chi2.ppf(0.95, 1) * covariance[2, 2]), math.pi)
    assert math.cos(width) == pytest.approx(math.cos(2 * half), abs=1e-3)


def test_constants_of_the_ellipse_are_quantiles():
    assert pytest.approx(math.sqrt(chi2.ppf(0.95, 2)), abs=1e-4) == ELLIPSE
    assert pytest.approx(math.sqrt(chi2.ppf(0.95, 1)), abs=1e-4) == SECTOR


def test_a_sure_place_is_not_drawn():
    assert uncertainty(C3P, [1, 2, 3], np.zeros((3, 3)), 'odom', SceneSettings()) == ()
    # rounding may leave variances below zero
    assert uncertainty(C3P, [1, 2, 3], -1e-18 * np.eye(3), 'odom', SceneSettings()) == ()


def test_the_way_ahead_is_a_line_in_the_frame_of_the_odometry():
    poses = [[0.0, 0.0, 0.1], [0.5, 0.1, 0.2], [1.0, 0.3, 0.2]]
    line, = planned_line(C3P, poses, 'odom', SceneSettings())
    assert (line.name, line.frame) == ('planned', 'odom')
    np.testing.assert_array_equal(line.points[:, :2], np.array(poses)[:, :2])
    # a robot that shall stand is no way
    assert planned_line(C3P, [[1.0, 1.0, 0.0]] * 5, 'odom', SceneSettings()) == ()
    assert planned_line(C3P, [[1.0, 1.0, 0.0]], 'odom', SceneSettings()) == ()


def test_a_trail_keeps_steps_turns_and_its_length_and_begins_anew_after_a_jump():
    trail = Trail(length=5, spacing=0.1, turn=0.2)
    assert sum(trail.add([0.02 * k, 0.0, 0.0]) for k in range(101)) >= 18
    assert len(trail.poses) == 5
    assert trail.poses[-1][0] == pytest.approx(2.0, abs=0.1)
    last = trail.poses[-1]
    assert not trail.add([last[0], 0.0, 0.15]) and trail.add([last[0], 0.0, 0.25])
    # an angle that has gone round is no turn
    assert not trail.add([last[0], 0.0, 0.25 - 2 * math.pi])
    assert trail.add([last[0] + JUMP + 0.1, 0.0, 0.0]) and len(trail.poses) == 1


@lru_cache
def tricycle_bodies(pin):
    """Return pinocchio's model of the description, and its workspace."""
    model = pin.buildModelFromXML(robot_description('pvc_tricycle'))
    return model, model.createData()


@given(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6))
def test_lines_of_the_camber_lie_in_the_wheels_of_the_description(left, right):
    pin = pytest.importorskip('pinocchio', reason='needs pin')
    model, data = tricycle_bodies(pin)
    joint = np.array([0.2, 0.5, left, -0.3, right, 0.9])
    pose = pin.neutral(model)
    for name, angle in zip(JOINTS, joint, strict=True):
        index = model.joints[model.getJointId(name)].idx_q
        if model.joints[model.getJointId(name)].nq == 2:
            pose[index:index + 2] = math.cos(angle), math.sin(angle)
        else:
            pose[index] = angle
    pin.framesForwardKinematics(model, data, pose)
    shapes = {s.name: s for s in camber_scene(TRICYCLE, joint)}
    for number, angle in ((2, left), (3, right)):
        wheel = data.oMf[model.getFrameId(f'wheel_link_{number}')]
        low, high = shapes[f'camber_{number}'].points
        way = (high - low) / np.linalg.norm(high - low)
        # in the plane of the wheel and through its centre; y is the axle
        assert way @ wheel.rotation[:, 1] == pytest.approx(0.0, abs=1e-9)
        off = wheel.translation - low
        np.testing.assert_allclose(off, (off @ way) * way, atol=1e-9)
        upright = np.diff(shapes[f'camber_upright_{number}'].points, axis=0)[0]
        between = math.acos(min(1.0, way @ upright / np.linalg.norm(upright)))
        assert between == pytest.approx(abs(angle), abs=1e-6)
        assert shapes[f'camber_label_{number}'].text == (
            f'camber {round(math.degrees(angle), 2) + 0.0:.2f} deg')
        assert (f'camber_arc_{number}' in shapes) == (abs(angle) >= math.radians(0.5))


@pytest.mark.parametrize('joint', [[0.0] * 5, [0.0, 0.0, math.nan, 0.0, 0.0, 0.0]])
def test_angles_of_the_tricycle_that_cannot_be_are_named(joint):
    with pytest.raises(ValueError, match='6 finite angles'):
        camber_scene(TRICYCLE, joint)
