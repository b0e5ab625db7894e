# SPDX-License-Identifier: Apache-2.0
"""Delivery between nodes of one process: once each, in order, whatever the middleware returns."""


import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
from exchange_hall import Hall, Talker, TextWriter  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.node import Node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.channels import PATIENCE  # noqa: E402
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode  # noqa: E402
from c3p_ros.session import Session  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.wire import JointStateWriter  # noqa: E402


def test_one_subscription_is_read_and_decoded_for_all_nodes():
    """The others stay in the graph, unread."""
    hall, nodes = Hall(), []
    for _ in range(3):
        nodes.append(hall.node())
        hall.listen(nodes[-1], 'joints')
    assert [len(node._subscriptions) for node in nodes] == [1, 0, 0]
    hall.arrive('joints', b'1')
    assert [who for who, *_ in hall.heard] == [id(node) for node in nodes]
    assert hall.read == 1


def test_each_node_counts_a_message_that_cannot_be_read():
    """Decoding for all must not hide it from the diagnostics of some."""
    hall, nodes = Hall(), []
    for _ in range(2):
        nodes.append(hall.node())
        hall.listen(nodes[-1], 'joints')
    hall.arrive('joints', b'')
    assert [len(node.refused) for node in nodes] == [1, 1]
    assert not hall.heard


def test_a_cycle_passes_in_the_order_of_ranks_and_copies_are_dropped():
    """Torques reach the motors before what is not urgent; nothing is heard twice."""
    hall = Hall()
    odom, effort = hall.publisher('odom'), hall.publisher('effort')
    odometry, control, goals, motors = (hall.node() for _ in range(4))
    hall.listen(odometry, 'joints', lambda _: odom('o'))
    hall.listen(goals, 'odom', rank=2)
    hall.listen(control, 'joints')
    hall.listen(control, 'odom', lambda _: effort('e'))
    hall.listen(motors, 'effort', rank=0)
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints', 'joints', 'odom', 'effort', 'odom']
    hall.arrive('odom', b'o')
    hall.arrive('effort', b'e')
    assert len(hall.heard) == 5
    # those of another process are heard
    hall.arrive('odom', b'foreign')
    assert hall.topics()[5:].count('odom') == 2


def hall_with_lost_copies(*own):
    """Return a hall in which a node has published these, and the number of messages heard."""
    hall, data = Hall(), iter(own)
    odom = hall.publisher('odom')
    hall.listen(hall.node(), 'joints', lambda _: odom(next(data)))
    hall.listen(hall.node(), 'odom')
    for _ in own:
        hall.arrive('joints', b'j')
    return hall, len(hall.heard)


def test_copies_after_lost_ones_are_dropped():
    """A queue of one keeps the newest only."""
    hall, heard = hall_with_lost_copies('0', '1', '2')
    hall.arrive('odom', b'2')
    assert len(hall.heard) == heard == 6


def test_a_foreign_message_with_the_bytes_of_an_own_one_doubles_no_other(virtual_time):
    hall, heard = hall_with_lost_copies('1', '2')
    # of another process, before the copies; one of the three is heard, and nothing twice
    for data in (b'2', b'1', b'2'):
        hall.arrive('odom', data)
    assert [message for _, _, message in hall.heard[heard:]] == ['2']


def test_a_foreign_message_with_the_bytes_of_a_lost_copy_is_heard_later(virtual_time):
    hall, heard = hall_with_lost_copies('1', '2')
    hall.arrive('odom', b'2')
    virtual_time.sleep(PATIENCE)
    hall.arrive('odom', b'1')
    assert [message for _, _, message in hall.heard[heard:]] == ['1']


def test_a_topic_passes_once_in_a_turn():
    """In lockstep an effort causes the next joint states: timers must have their turn."""
    hall = Hall()
    joints, effort = hall.publisher('joints'), hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort('e'))
    hall.listen(hall.node(), 'effort', lambda _: joints('next'))
    hall.arrive('joints', b'first')
    assert hall.topics() == ['joints', 'effort']
    # they come by the middleware
    hall.arrive('joints', b'next')
    assert hall.topics()[2:] == ['joints', 'effort']


def test_a_message_does_not_overtake_one_that_was_left_to_the_middleware():
    """A timer brakes, and the next torque must come behind it."""
    hall = Hall()
    effort = hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort('drive'))
    hall.listen(hall.node(), 'effort')
    effort('brake')
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints']
    hall.arrive('effort', b'brake')
    hall.arrive('effort', b'drive')
    assert [message for *_, message in hall.heard[1:]] == ['brake', 'drive']
    # and now directly again
    hall.arrive('joints', b'j')
    assert hall.topics()[-1] == 'effort'


def test_another_node_reads_after_the_first_has_left():
    """A node that ends must not take the topic with it."""
    hall = Hall()
    first, second = hall.node(), hall.node()
    hall.listen(first, 'joints')
    hall.listen(second, 'joints')
    hall.exchange.leave(first)
    assert len(second._subscriptions) == 1
    hall.arrive('joints', b'j')
    assert [who for who, *_ in hall.heard] == [id(second)]


def test_an_unread_subscription_goes_with_its_node():
    """It returns to the node, which destroys it."""
    hall = Hall()
    first, second = hall.node(), hall.node()
    hall.listen(first, 'joints')
    hall.listen(second, 'joints')
    hall.exchange.leave(second)
    assert len(second._subscriptions) == 1


def test_a_fault_in_a_callback_ends_the_turn():
    """The next message begins a new one."""
    hall = Hall()

    def fail(_):
        raise ZeroDivisionError

    hall.listen(hall.node(), 'joints', fail)
    hall.listen(hall.node(), 'joints')
    with pytest.raises(ZeroDivisionError):
        hall.arrive('joints', b'1')
    with pytest.raises(ZeroDivisionError):
        hall.arrive('joints', b'2')
    assert [message for *_, message in hall.heard] == ['1', '2']


def test_what_can_wait_is_done_after_the_turn_in_order():
    """Also what later callbacks add, and after a callback that fails."""
    hall = Hall()
    exchange, done = hall.exchange, []
    odom = hall.publisher('odom')

    def first(message):
        exchange.afterwards(lambda: done.append(('first', len(hall.heard))))
        odom('o')
        if message == 'bad':
            raise ZeroDivisionError

    hall.listen(hall.node(), 'joints', first)
    hall.listen(hall.node(), 'joints', rank=2)
    hall.listen(hall.node(), 'odom',
                lambda _: exchange.afterwards(lambda: done.append(('second', len(hall.heard)))))
    hall.arrive('joints', b'1')
    assert done == [('first', 3), ('second', 3)]
    with pytest.raises(ZeroDivisionError):
        hall.arrive('joints', b'bad')
    assert done[2:] == [('first', 4)]
    # between turns nothing waits
    exchange.afterwards(lambda: done.append('now'))
    assert done[-1] == 'now'


def test_the_middleware_gets_messages_of_a_topic_after_the_turn_in_their_order():
    """Also one that is not delivered in this turn; others at once."""
    hall = Hall()
    effort, other = hall.publisher('effort'), hall.publisher('other')

    def cause(_):
        effort('drive')
        effort('brake')
        other('o')
        assert hall.sent == [b'o']

    hall.listen(hall.node(), 'joints', cause)
    hall.listen(hall.node(), 'effort')
    hall.arrive('joints', b'j')
    assert hall.sent == [b'o', b'drive', b'brake']
    effort('between turns')
    assert hall.sent[3:] == [b'between turns']


def test_the_middleware_gets_what_others_need_and_no_more():
    """Who subscribes elsewhere has it from the next message on."""
    hall = Hall(others=0)
    effort = hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort('e'))
    for _ in range(2):
        hall.listen(hall.node(), 'effort')
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints', 'effort', 'effort'] and not hall.sent
    hall.others = 1
    hall.arrive('joints', b'j')
    assert hall.sent == [b'e'] and len(hall.heard) == 6
    hall.arrive('effort', b'e')
    hall.others = 0
    hall.arrive('joints', b'j')
    assert hall.sent == [b'e'] and len(hall.heard) == 9
    # what this process cannot deliver at once goes that way, too
    effort('between turns')
    hall.arrive('joints', b'j')
    assert hall.sent[1:] == [b'between turns', b'e'] and len(hall.heard) == 10


def test_the_end_of_the_context_is_left_to_the_publication():
    """The count of subscriptions fails then."""
    class Ended(Talker):
        def get_subscription_count(self):
            raise RuntimeError("publisher's context is invalid")

    hall = Hall()
    effort = Ended(hall, 'effort', hall.node(), TextWriter())
    hall.listen(hall.node(), 'joints', lambda _: effort('e'))
    hall.listen(hall.node(), 'effort')
    hall.arrive('joints', b'j')
    assert hall.sent == [b'e']


class Odometer(SuiteNode):
    """Publishes an odometry for each joint state."""

    def __init__(self, **options):
        super().__init__('odometer', **options)
        self.heard = []
        self._write = OdometryWriter('odom', 'base_link', 'odom')
        self._odom = self.create_publisher(Odometry, 'odom', RELIABLE)
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)

    def _on_joints(self, message):
        self.heard.append(message.stamp)
        self.send(self._odom, self._write, message.stamp, [0.0] * 6 + [1.0], [0.0] * 6)


class Follower(SuiteNode):
    """Listens to both."""

    def __init__(self, **options):
        super().__init__('follower', **options)
        self.joints, self.odom = [], []
        self.listen(JointState, 'joint_states', lambda m: self.joints.append(m.stamp),
                    SENSOR_DATA)
        self.listen(Odometry, 'odom', lambda m: self.odom.append(m.stamp), RELIABLE)


def test_nodes_of_a_session_hear_each_message_of_the_middleware_once():
    """Real topics: own copies are dropped, messages of other nodes are heard by all."""
    with Session() as session:
        talker = session.add(Node, node_name='talker')
        odometer, follower = session.add(Odometer), session.add(Follower)
        joints = talker.create_publisher(JointState, 'joint_states', SENSOR_DATA)
        other = talker.create_publisher(Odometry, 'odom', RELIABLE)
        # both stand in the graph, although one is read
        session.until(lambda: joints.get_subscription_count() == 2
                      and other.get_subscription_count() == 1)
        write = JointStateWriter(['a'], ['position'])
        for stamp in range(1, 6):
            joints.publish(write(stamp, position=[0.0]))
            session.until(lambda stamp=stamp: len(follower.joints) == stamp)
        session.wait(0.2)
        expected = [1, 2, 3, 4, 5]
        assert (odometer.heard, follower.joints, follower.odom) == (expected,) * 3
        other.publish(OdometryWriter('odom', 'base_link')(9, [0.0] * 6 + [1.0], [0.0] * 6))
        session.until(lambda: follower.odom[-1] == 9)
