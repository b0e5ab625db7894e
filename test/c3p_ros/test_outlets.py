# SPDX-License-Identifier: Apache-2.0
"""Publication for others: after the neighbours, in the order of sending, and nothing lost."""

import threading

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
from exchange_hall import Hall, TextWriter  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.node import Node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.channels import PATIENCE, Outlet, Parcel  # noqa: E402
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode  # noqa: E402
from c3p_ros.session import Session  # noqa: E402
from c3p_ros.wire import JointStateWriter, PlanarOdometryWriter  # noqa: E402

# nothing takes longer unless it is broken, s
SOON = 20.0


def test_bytes_are_written_after_the_neighbours_are_served():
    """Neither the torque nor what it causes waits for the copy of another process."""
    hall, writer = Hall(), TextWriter()
    odom, effort = hall.publisher('odom', writer=writer), hall.publisher('effort', writer=writer)
    served = []

    def serve(_):
        served.append(len(writer.serialized))

    hall.listen(hall.node(), 'joints', lambda _: odom('o'))
    hall.listen(hall.node(), 'odom', lambda _: effort('e'))
    hall.listen(hall.node(), 'effort', serve, rank=0)
    hall.listen(hall.node(), 'odom', serve, rank=2)
    hall.arrive('joints', b'j')
    assert served == [0, 0] and writer.serialized == ['o', 'e'] and hall.sent == [b'o', b'e']


def test_no_bytes_are_written_where_all_subscribers_have_the_value():
    hall, writer = Hall(others=0), TextWriter()
    odom = hall.publisher('odom', writer=writer)
    hall.listen(hall.node(), 'joints', lambda _: odom('o'))
    hall.listen(hall.node(), 'odom')
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints', 'odom'] and not writer.serialized and not hall.sent


def test_neighbours_get_the_object_that_was_sent():
    hall, value, heard = Hall(), object(), []
    odom = hall.publisher('odom', writer=TextWriter())
    hall.others = 0
    hall.listen(hall.node(), 'joints', lambda _: odom(value))
    hall.listen(hall.node(), 'odom', heard.append)
    hall.listen(hall.node(), 'odom', heard.append)
    hall.arrive('joints', b'j')
    assert len(heard) == 2 and heard[0] is value and heard[1] is value
    # nothing was read but what came from outside
    assert hall.read == 1


def test_a_message_beyond_a_limit_is_refused_by_every_neighbour_and_published():
    """Other processes refuse it by themselves."""
    hall, nodes = Hall(), []
    effort = hall.publisher('effort', writer=TextWriter('401 names: must be at most 400'))
    hall.listen(hall.node(), 'joints', lambda _: effort('e'))
    for _ in range(2):
        nodes.append(hall.node())
        hall.listen(nodes[-1], 'effort')
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints'] and hall.sent == [b'e']
    for node in nodes:
        (topic, error), = node.refused
        assert topic == 'effort' and f'{error}' == '401 names: must be at most 400'


def test_messages_that_differ_are_never_taken_for_copies(virtual_time):
    """Each of them is heard, whatever is expected; equal bytes of our own publisher once."""
    hall = Hall()
    odom = hall.publisher('odom')
    hall.listen(hall.node(), 'joints', lambda message: odom(message))
    hall.listen(hall.node(), 'odom')
    for text in ('1', '2', '3'):
        hall.arrive('joints', text.encode())
    own = len(hall.heard)
    # between the copies come others
    for data in (b'1', b'11', b'2', b'1 ', b'3', b'4'):
        hall.arrive('odom', data)
    assert [message for *_, message in hall.heard[own:]] == ['11', '1 ', '4']
    # all copies have come: the same bytes are those of another publisher
    for data in (b'1', b'2', b'3'):
        hall.arrive('odom', data)
    assert [message for *_, message in hall.heard[own + 3:]] == ['1', '2', '3']


def test_equal_bytes_are_heard_where_nothing_was_published():
    """Without subscribers elsewhere no copy can come: it is the message of another publisher."""
    hall = Hall(others=0)
    odom = hall.publisher('odom')
    hall.listen(hall.node(), 'joints', lambda _: odom('same'))
    hall.listen(hall.node(), 'odom')
    hall.arrive('joints', b'j')
    hall.arrive('odom', b'same')
    assert hall.topics() == ['joints', 'odom', 'odom']


class SlowNode:
    """Node whose publication of the first message lasts until it is let go."""

    def __init__(self):
        self.sent, self.begun, self.go = [], threading.Event(), threading.Event()

    def publish(self, _, data):
        if not self.begun.is_set():
            self.begun.set()
            assert self.go.wait(SOON)
        self.sent.append(data)


class Slow:
    """Publisher with a subscriber elsewhere."""

    topic_name = 'odom'

    def get_subscription_count(self):
        return 1


def test_a_thread_neither_waits_for_another_one_nor_overtakes_it():
    """The first thread publishes what the second leaves to it, in the order of sending."""
    node = SlowNode()
    outlet, writer = Outlet(node, Slow()), TextWriter()
    outlet.leave(Parcel(writer, '1'))
    first = threading.Thread(target=outlet.flush)
    first.start()
    assert node.begun.wait(SOON)
    outlet.leave(Parcel(writer, '2'))
    # returns at once, although the first is still being published
    outlet.flush()
    assert not node.sent
    node.go.set()
    first.join(SOON)
    assert node.sent == [b'1', b'2']


def test_a_failed_publication_keeps_the_next_ones():
    class Failing(SlowNode):
        def publish(self, _, data):
            if data == b'1':
                raise ZeroDivisionError
            self.sent.append(data)

    node = Failing()
    outlet, writer = Outlet(node, Slow()), TextWriter()
    for text in ('1', '2'):
        outlet.leave(Parcel(writer, text))
    with pytest.raises(ZeroDivisionError):
        outlet.flush()
    outlet.flush()
    assert node.sent == [b'2']


class Chain(SuiteNode):
    """Publishes an odometry for each joint state, and listens to both."""

    def __init__(self, **options):
        super().__init__(options.pop('called'), **options)
        self.heard = []
        self._write = PlanarOdometryWriter('odom', 'base_link', 'odom')
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.listen(Odometry, 'odom', self.heard.append, RELIABLE)
        self.odom = None

    def speak(self):
        """Publish from now on."""
        self.odom = self.create_publisher(Odometry, 'odom', RELIABLE)

    def _on_joints(self, message):
        if self.odom is not None:
            place = np.full(3, 1e-3 * message.stamp)
            self.send(self.odom, self._write, message.stamp, place, place)


def test_outside_and_inside_every_message_is_heard_once_and_in_order():
    """With real topics; what another process would get is what a reader of bytes gets."""
    with Session() as session:
        talker = session.add(Node, node_name='talker')
        outside = []
        talker.create_subscription(Odometry, 'odom', outside.append, 100)
        speaker = session.add(Chain, called='speaker')
        listener = session.add(Chain, called='listener')
        speaker.speak()
        joints = talker.create_publisher(JointState, 'joint_states', SENSOR_DATA)
        session.until(lambda: joints.get_subscription_count() == 2
                      and speaker.odom.get_subscription_count() == 3)
        write = JointStateWriter(['a'], ['position'])
        count = 40
        for stamp in range(1, count + 1):
            joints.publish(write(stamp, position=[0.0]))
            session.until(lambda stamp=stamp: len(listener.heard) == stamp)
        session.until(lambda: len(outside) == count)
        # copies had the time to come
        session.wait(2 * PATIENCE)
        assert [message.stamp for message in listener.heard] == list(range(1, count + 1))
        assert listener.heard == speaker.heard
        assert [(message.header.stamp.nanosec, message.pose.pose.position.x)
                for message in outside] == [(value.stamp, value.pose[0])
                                            for value in listener.heard]
