# SPDX-License-Identifier: Apache-2.0
"""Markers arrive as they were meant: ground with normals upwards, paths of bounded length."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from std_msgs.msg import ColorRGBA  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from c3p_description import load  # noqa: E402
from c3p_rough_ground.closed_chain import place, simulate  # noqa: E402
from c3p_rough_ground.closed_chain.vehicle import quaternion  # noqa: E402
from c3p_rough_ground.terrain import Flat, Hills, grid_mesh  # noqa: E402
from c3p_rough_ground.vehicles import pvc_tricycle  # noqa: E402
from c3p_viewers.scene.terrain_markers import (  # noqa: E402
    LIFT,
    WheelPaths,
    filled,  # noqa: E402
    shades,
    terrain_message,
)
from c3p_viewers.scene.tricycle_markers import contacts  # noqa: E402


def points_of(marker):
    return np.array([(p.x, p.y, p.z) for p in marker.points])


def read(data):
    return deserialize_message(data, MarkerArray).markers


def test_ground_is_finite_faces_upwards_and_is_coloured_by_height():
    mesh = grid_mesh(Hills.random(3), (-2.0, 2.0), (-1.0, 3.0), 0.5)
    marker, = read(terrain_message(mesh, 'odom', 5_000_000_007))
    assert (marker.header.frame_id, marker.header.stamp.sec, marker.header.stamp.nanosec) == (
        'odom', 5, 7)
    assert (marker.type, marker.action) == (Marker.TRIANGLE_LIST, Marker.ADD)
    assert (marker.scale.x, marker.scale.y, marker.scale.z) == (1.0, 1.0, 1.0)
    assert marker.pose.orientation.w == 1.0 and not marker.frame_locked
    assert not marker.texture.data and not marker.text and not marker.mesh_resource
    corners = points_of(marker).reshape(-1, 3, 3)
    assert np.isfinite(corners).all() and len(corners) == len(mesh.triangles) == 2 * 8 * 8
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normal[:, 2] > 0).all()
    # the triangles cover the square seen from above
    assert normal[:, 2].sum() / 2 == pytest.approx(16.0, abs=1e-9)
    colours = np.array([(c.r, c.g, c.b, c.a) for c in marker.colors])
    assert colours.shape == (3 * len(corners), 4) and (colours[:, 3] == 1.0).all()
    assert (colours >= 0).all() and (colours <= 1).all()
    # messages hold single precision
    np.testing.assert_allclose(colours, shades(mesh)[mesh.triangles.ravel()], atol=1e-6)
    heights = corners.reshape(-1, 3)[:, 2]
    assert colours[heights.argmax(), 0] > colours[heights.argmin(), 0] + 0.1


def test_flat_ground_has_one_colour():
    mesh = grid_mesh(Flat(0.3), (0.0, 1.0), (0.0, 1.0), 0.5)
    assert len(np.unique(shades(mesh), axis=0)) == 1


def test_many_points_are_what_rclpy_would_have_written():
    rng = np.random.default_rng(1)
    places, colours = [rng.normal(size=(k, 3)) for k in (1, 4, 7)], rng.random((4, 4))

    def markers(names):
        return [Marker(ns=name, id=k, text=name) for k, name in enumerate(names)]

    # names of all lengths modulo 8: what follows them is aligned anew
    for names in (('a', 'bc', 'def'), ('abcd', 'abcde', 'abcdef'), ('abcdefg', '', 'abcdefgh')):
        long = MarkerArray(markers=markers(names))
        for marker, points in zip(long.markers, places, strict=True):
            for x, y, z in points.tolist():
                marker.points.append(type(marker.pose.position)(x=x, y=y, z=z))
        for r, g, b, a in colours.tolist():
            long.markers[1].colors.append(ColorRGBA(r=r, g=g, b=b, a=a))
        short = filled(MarkerArray(markers=markers(names)), places, [None, colours, None])
        # both as rclpy reads them; what follows a message in its buffer means nothing
        assert read(short) == read(serialize_message(long))


def test_paths_keep_the_newest_points_and_a_distance_between_them():
    paths = WheelPaths(length=10, spacing=0.1)
    assert not paths.changed
    wheels = np.arange(9.0).reshape(3, 3)
    for k in range(200):
        paths.add(wheels + [0.025 * k, 0, 0], wheels + [0.025 * k, 0, 0.3])
    assert paths.changed
    markers = read(paths.message('odom', 1))
    assert not paths.changed
    assert [(m.ns, m.id) for m in markers] == [
        *(('contact', i) for i in (1, 2, 3)), *(('wheel_center', i) for i in (1, 2, 3))]
    for i, marker in enumerate(markers):
        assert (marker.type, marker.action) == (Marker.LINE_STRIP, Marker.ADD)
        assert marker.scale.x > 0 and marker.color.a == 1.0
        assert marker.pose.position.z == (LIFT if i < 3 else 0.0)
        points = points_of(marker)
        # the first is doubled, so that a path of one point is a line
        assert len(points) == 11 and (points[0] == points[1]).all()
        steps = np.diff(points[1:, 0])
        assert (steps >= 0.1 - 1e-9).all() and (steps < 0.15).all()
        assert points[-1, 0] > wheels[i % 3, 0] + 0.025 * 195


def test_a_path_that_has_just_begun_is_a_line_too():
    paths = WheelPaths(length=10, spacing=0.1)
    paths.add(np.zeros((3, 3)), np.ones((3, 3)))
    assert [len(m.points) for m in read(paths.message('odom', 1))] == [2] * 6
    # a jump begins a new path
    paths.add(np.full((3, 3), 9.0), np.full((3, 3), 9.0))
    assert len(paths) == 1 and read(paths.message('odom', 1))[0].points[0].x == 9.0


@pytest.mark.timeout(400)
def test_contacts_found_from_pose_and_joints_are_those_of_the_run():
    """Newton's method on joint states and odometry against the contacts that rolled there."""
    hills, tricycle = Hills.random(seed=1), pvc_tricycle(load('pvc_tricycle'))
    run = simulate(tricycle, hills, place(tricycle, hills, 0, 0, 0.4).require(),
                   [0, 1, 0, 1, 0, 1], 8.0)
    for k in range(0, len(run), 100):
        state = run.state(k)
        w, *xyz = quaternion(state.rotation)
        contact, centre = contacts(tricycle, hills, [*state.position, *xyz, w], state.joint)
        # roll and pitch are solved one after the other, which turns the heading by microradians
        np.testing.assert_allclose(contact, run.contact_point[k], atol=1e-4)
        np.testing.assert_allclose(centre, run.wheel_center[k], atol=1e-4)
