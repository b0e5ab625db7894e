# SPDX-License-Identifier: Apache-2.0
"""Messages of the scene: markers, deletions and paths."""

import numpy as np
import pytest
from robots import C3P

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import (
    Path,  # noqa: E402
)
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from c3p_ros.cdr_arrays import path_bytes  # noqa: E402
from c3p_ros.messages import yaw_of  # noqa: E402
from c3p_viewers.scene.caster_scene import caster_scene  # noqa: E402
from c3p_viewers.scene.markers import MarkerScene  # noqa: E402
from c3p_viewers.scene.shapes import (  # noqa: E402
    Arc,
    Arrow,
    Ball,
    Label,
    Line,
)

RED = (1.0, 0.0, 0.0, 0.5)
SHAPES = (
    Line('rolling_line_1', 'base_link', RED, np.array([[0, 0, 0], [1, 2, 3.0]]), 0.02),
    Arrow('twist', 'base_link', RED, np.zeros(3), np.array([0.0, 1.0, 0.0]), 0.03),
    Ball('icr', 'base_link', RED, np.array([1.0, 2.0, 3.0]), 0.1),
    Label('icr_label', 'base_link', RED, np.array([1.0, 2.0, 4.0]), 'ICR', 0.2),
    Arc('turn', 'base_link', RED, np.array([1.0, 0.0, 0.5]), 2.0, 0.1, 1.5, 0.04),
    Line('planned', 'odom', RED, np.eye(3), 0.01))


def points_of(marker):
    return np.array([(p.x, p.y, p.z) for p in marker.points])


def sent(message):
    """Return the markers of a message after a way over the wire."""
    return deserialize_message(serialize_message(message), MarkerArray).markers


def test_every_shape_becomes_its_marker():
    first, *markers = sent(MarkerScene(1.25).message(SHAPES, 3_000_000_007))
    assert first.action == Marker.DELETEALL
    line, arrow, ball, label, arc, _ = markers
    for marker, shape in zip(markers, SHAPES, strict=True):
        assert (marker.action, marker.frame_locked) == (Marker.ADD, True)
        assert marker.header.frame_id == shape.frame
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (3, 7)
        assert (marker.lifetime.sec, marker.lifetime.nanosec) == (1, 250_000_000)
        assert (marker.color.r, marker.color.g, marker.color.b, marker.color.a) == RED
        assert marker.pose.orientation.w == 1.0
    assert [m.type for m in markers] == [
        Marker.LINE_STRIP, Marker.ARROW, Marker.SPHERE, Marker.TEXT_VIEW_FACING,
        Marker.LINE_STRIP, Marker.LINE_STRIP]
    np.testing.assert_array_equal(points_of(line), SHAPES[0].points)
    assert line.scale.x == 0.02 and arc.scale.x == 0.04
    np.testing.assert_array_equal(points_of(arrow), [[0, 0, 0], [0, 1, 0]])
    # a head that is broader than the shaft and shorter than the arrow
    assert arrow.scale.x == 0.03 and arrow.scale.y > 0.03 and 0 < arrow.scale.z < 1
    assert (ball.pose.position.x, ball.pose.position.z, ball.scale.y) == (1.0, 3.0, 0.2)
    assert (label.text, label.pose.position.z, label.scale.z) == ('ICR', 4.0, 0.2)
    # RViz takes scale.x as the width of a blank; without it words stand metres apart
    assert 0.2 < label.scale.x / label.scale.z < 0.5
    np.testing.assert_array_equal(points_of(arc), SHAPES[4].points)


def test_what_is_gone_is_deleted_once_and_keeps_its_number():
    scene = MarkerScene()
    first = sent(scene.message(SHAPES, 1))[1:]
    place = {(m.ns, m.id) for m in first}
    assert len(place) == len(SHAPES), 'RViz refuses messages with a marker twice'
    second = sent(scene.message(SHAPES[:4], 2))
    gone = [m for m in second if m.action == Marker.DELETE]
    assert {(m.ns, m.id) for m in gone} == {(m.ns, m.id) for m in first[4:]}
    assert len(second) == 6
    third = sent(scene.message(SHAPES, 3))
    assert {m.action for m in third} == {Marker.ADD}
    assert {(m.ns, m.id) for m in third} == place


def test_namespaces_are_layers():
    assert [m.ns for m in sent(MarkerScene().message(SHAPES, 1))[1:]] == [
        'rolling_lines', 'twist', 'instantaneous_centre', 'instantaneous_centre', 'twist',
        'planned']


def test_a_scene_after_all_was_forgotten_deletes_everything_first():
    scene = MarkerScene()
    scene.message(SHAPES, 1)
    scene.forget()
    markers = sent(scene.message(SHAPES[:1], 2))
    assert [m.action for m in markers] == [Marker.DELETEALL, Marker.ADD]


def test_markers_of_one_scene_do_not_show_in_the_next():
    scene, rng = MarkerScene(), np.random.default_rng(2)
    for _ in range(8):
        steering, twist = rng.uniform(-3, 3, 3), rng.uniform(-0.5, 0.5, 3)
        shapes = caster_scene(C3P, steering, twist=twist, wheel_torque=rng.uniform(-1, 1, 3))
        kept = sent(scene.message(shapes, 1))
        fresh = sent(MarkerScene().message(shapes, 1))
        said = {(m.ns, m.text, m.type): m for m in kept if m.action == Marker.ADD}
        for marker in fresh[1:]:
            if marker.type == Marker.TEXT_VIEW_FACING:
                twin = said[marker.ns, marker.text, marker.type]
                assert twin.pose == marker.pose and twin.color == marker.color
        added = [m for m in kept if m.action == Marker.ADD]
        for one, other in zip(added, fresh[1:], strict=True):
            one.id = other.id
            assert one == other


@pytest.mark.parametrize('frame', ['', 'o', 'od', 'odo', 'odom', 'odom1', 'odom12', 'odom123',
                                   'robot_1/odom'])
@pytest.mark.parametrize('count', [0, 1, 2, 7])
def test_a_path_is_what_rclpy_reads(frame, count):
    poses = np.random.default_rng(count).uniform(-3, 3, (count, 3))
    message = deserialize_message(path_bytes(poses, frame, 5_000_000_003), Path)
    assert message.header.frame_id == frame and len(message.poses) == count
    for stamped, (x, y, yaw) in zip(message.poses, poses, strict=True):
        assert stamped.header == message.header and message.header.stamp.nanosec == 3
        assert (stamped.pose.position.x, stamped.pose.position.y) == (x, y)
        assert yaw_of(stamped.pose.orientation, 'pose') == pytest.approx(yaw, abs=1e-12)
