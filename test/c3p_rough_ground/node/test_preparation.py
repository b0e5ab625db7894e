# SPDX-License-Identifier: Apache-2.0
"""The tricycle for viewers while its kernels are compiled: messages of a node without ROS."""

import math
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from c3p_description.pvc_model import JOINTS  # noqa: E402
from c3p_rough_ground.node import preparation  # noqa: E402
from c3p_rough_ground.node.preparation import Preparation  # noqa: E402

# height of the ground under every place, and radius of the wheels, m
GROUND, RADIUS = 0.5, 0.3


class Node:
    """Keeps what is published."""

    robot = SimpleNamespace(outer_radius=RADIUS)
    parameters = SimpleNamespace(value=SimpleNamespace(odom_frame='odom', base_frame='base_link'))

    def __init__(self):
        self.sent, self.placed, self.clock = [], [], 10
        self.placed_thrice = threading.Event()

    def create_publisher(self, kind, topic, quality):
        assert (kind, topic) == (MarkerArray, '~/notice')
        return topic

    def publish(self, publisher, message):
        self.sent.append((publisher, message))

    def now_ns(self):
        self.clock += 5
        return self.clock

    def send_spatial(self, stamp, pose, frame, child):
        self.placed.append((stamp, pose, frame, child))
        if len(self.placed) == 3:
            self.placed_thrice.set()


@pytest.fixture
def prepared(monkeypatch):
    """Return what starts a preparation of a node with a short period and waits for 3 places."""
    monkeypatch.setattr(preparation, 'PERIOD', 0.01)
    monkeypatch.setattr(preparation, 'QUICK', 0.01)

    def begin(follows, start=(1.0, -2.0, math.pi / 2)):
        node = Node()
        kept = Preparation(node, node, 100, follows)
        kept.begin('joint_states', SimpleNamespace(height=lambda x, y: GROUND), start)
        node.placed_thrice.wait(30.0)
        kept.stop()
        kept.check()
        return node

    return begin


def test_viewers_get_every_frame_of_the_standing_vehicle(prepared):
    node = prepared(follows=True)
    joints = [message for publisher, message in node.sent if publisher == 'joint_states']
    assert len(joints) >= 3 and all(isinstance(m, JointState) for m in joints)
    assert joints[0].name == list(JOINTS) and not any([*joints[0].position, *joints[0].velocity])
    _, pose, frame, child = node.placed[0]
    assert (frame, child) == ('odom', 'base_link')
    # a wheel's radius above the ground, yaw 90° as a quaternion x, y, z, w
    assert pose == pytest.approx([1.0, -2.0, GROUND + RADIUS, 0, 0, *[math.sqrt(0.5)] * 2])


def test_the_notice_is_shown_once_and_deleted_at_the_end(prepared):
    notices = [message.markers for publisher, message in prepared(follows=True).sent
               if publisher == '~/notice']
    (shown,), (deleted,) = notices
    assert 'compiling' in shown.text and shown.header.frame_id == 'base_link'
    assert shown.frame_locked and 0 < shown.scale.x < shown.scale.z
    assert deleted.action == Marker.DELETEALL


@pytest.mark.parametrize('follows, first, step', [(True, 15, 5), (False, 101, 1)])
def test_stamps_follow_the_clock_or_grow_by_a_nanosecond(prepared, follows, first, step):
    # tf2 rejects a second transform with the same stamp
    stamps = [stamp for stamp, *_ in prepared(follows).placed]
    assert stamps == list(range(first, first + step * len(stamps), step))


def test_kernels_from_the_cache_cause_no_messages():
    node = Node()
    kept = Preparation(node, node, 100, True)
    kept.begin('joint_states', SimpleNamespace(height=lambda x, y: GROUND), (0.0, 0.0, 0.0))
    kept.stop()
    assert not node.sent and not node.placed
