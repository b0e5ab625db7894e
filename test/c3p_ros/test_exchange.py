# SPDX-License-Identifier: Apache-2.0
"""Delivery between nodes of one process: once each, in order, whatever the middleware returns."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.node import Node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.cdr import MessageError  # noqa: E402
from c3p_ros.exchange import Exchange, Listener  # noqa: E402
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode  # noqa: E402
from c3p_ros.session import Session  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.wire import JointStateWriter  # noqa: E402

QOS = SimpleNamespace(reliability=1, durability=1, depth=1)


class Talker:
    """Publisher without ROS, which sends what it is called with from a node of a hall."""

    def __init__(self, hall, topic):
        self.hall, self.topic_name = hall, topic

    def __call__(self, text):
        self.hall.exchange.send(self, text, partial(self.hall.sent.append, text))

    def get_subscription_count(self):
        """Count those of the hall and of other processes."""
        channel = self.hall.channels.get(self.topic_name)
        return self.hall.others + (len(channel.listeners) if channel else 0)


class Hall:
    """
    Nodes without ROS on an exchange, and as many subscribers elsewhere to each topic as `others`.

    `heard` are (node, topic, message) in order, `sent` is what the middleware gets.
    """

    def __init__(self, others=1):
        self.exchange, self.heard, self.channels, self.read = Exchange(), [], {}, 0
        self.others, self.sent = others, []

    def node(self):
        """Return a node that refuses into `refused`."""
        node = SimpleNamespace(_subscriptions=[], refused=[], _wake_executor=lambda: None,
                               publishers=[])
        node.diagnostics = SimpleNamespace(refuse=lambda *what: node.refused.append(what))
        return node

    def listen(self, node, topic, then=lambda message: None, rank=1):
        """Let a node listen; `then` runs at each of its messages."""
        def callback(message):
            self.heard.append((id(node), topic, message))
            then(message)
        subscription = SimpleNamespace(topic_name=topic, msg_type=int, qos_profile=QOS)
        node._subscriptions.append(subscription)
        self.channels[topic] = self.exchange.join(
            Listener(node, topic, self.decode, callback, rank), subscription)

    def decode(self, data):
        """Count, and reject what is empty."""
        self.read += 1
        if not data:
            raise MessageError('empty')
        return data.decode()

    def publisher(self, topic):
        """Return a publisher of a topic."""
        return Talker(self, topic)

    def arrive(self, topic, data):
        """Let a message come from the middleware."""
        self.exchange.arrived(self.channels[topic], data)

    def topics(self):
        """Return the topics heard, in order."""
        return [topic for _, topic, _ in self.heard]


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
    hall.listen(odometry, 'joints', lambda _: odom(b'o'))
    hall.listen(goals, 'odom', rank=2)
    hall.listen(control, 'joints')
    hall.listen(control, 'odom', lambda _: effort(b'e'))
    hall.listen(motors, 'effort', rank=0)
    hall.arrive('joints', b'j')
    assert hall.topics() == ['joints', 'joints', 'odom', 'effort', 'odom']
    hall.arrive('odom', b'o')
    hall.arrive('effort', b'e')
    assert len(hall.heard) == 5
    # those of another process are heard
    hall.arrive('odom', b'foreign')
    assert hall.topics()[5:].count('odom') == 2


def test_copies_after_lost_ones_are_dropped():
    """A queue of one keeps the newest only."""
    hall, count = Hall(), iter(range(9))
    odom = hall.publisher('odom')
    hall.listen(hall.node(), 'joints', lambda _: odom(f'{next(count)}'.encode()))
    hall.listen(hall.node(), 'odom')
    for _ in range(3):
        hall.arrive('joints', b'j')
    heard = len(hall.heard)
    hall.arrive('odom', b'2')
    assert len(hall.heard) == heard == 6


def test_a_topic_passes_once_in_a_turn():
    """In lockstep an effort causes the next joint states: timers must have their turn."""
    hall = Hall()
    joints, effort = hall.publisher('joints'), hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort(b'e'))
    hall.listen(hall.node(), 'effort', lambda _: joints(b'next'))
    hall.arrive('joints', b'first')
    assert hall.topics() == ['joints', 'effort']
    # they come by the middleware
    hall.arrive('joints', b'next')
    assert hall.topics()[2:] == ['joints', 'effort']


def test_a_message_does_not_overtake_one_that_was_left_to_the_middleware():
    """A timer brakes, and the next torque must come behind it."""
    hall = Hall()
    effort = hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort(b'drive'))
    hall.listen(hall.node(), 'effort')
    effort(b'brake')
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
        odom(b'o')
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
        effort(b'drive')
        effort(b'brake')
        other(b'o')
        assert hall.sent == [b'o']

    hall.listen(hall.node(), 'joints', cause)
    hall.listen(hall.node(), 'effort')
    hall.arrive('joints', b'j')
    assert hall.sent == [b'o', b'drive', b'brake']
    effort(b'between turns')
    assert hall.sent[3:] == [b'between turns']


def test_the_middleware_gets_what_others_need_and_no_more():
    """Who subscribes elsewhere has it from the next message on."""
    hall = Hall(others=0)
    effort = hall.publisher('effort')
    hall.listen(hall.node(), 'joints', lambda _: effort(b'e'))
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
    effort(b'between turns')
    hall.arrive('joints', b'j')
    assert hall.sent[1:] == [b'between turns', b'e'] and len(hall.heard) == 10


def test_the_end_of_the_context_is_left_to_the_publication():
    """The count of subscriptions fails then."""
    class Ended(Talker):
        def get_subscription_count(self):
            raise RuntimeError("publisher's context is invalid")

    hall = Hall()
    effort = Ended(hall, 'effort')
    hall.listen(hall.node(), 'joints', lambda _: effort(b'e'))
    hall.listen(hall.node(), 'effort')
    hall.arrive('joints', b'j')
    assert hall.sent == [b'e']


def in_thread(call):
    """Return the result of a call in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(5.0)


class Spun(Hall):
    """A hall whose executor calls what is scheduled when `pass_on` is called."""

    def __init__(self, others=1):
        super().__init__(others)
        self.tasks = deque()

    def spin(self):
        """Let the exchange take this thread for that of the executor."""
        return self.exchange.spun(SimpleNamespace(
            create_task=lambda call, *args: self.tasks.append(partial(call, *args))))

    def hand(self, publisher, text):
        """Send a message from another thread; return whether it was handed to the executor's."""
        before = len(self.tasks)
        in_thread(lambda: publisher(text))
        return len(self.tasks) > before

    def pass_on(self):
        """Run what is scheduled."""
        while self.tasks:
            self.tasks.popleft()()


def test_a_message_of_another_thread_is_delivered_before_the_middleware_has_it():
    """Then it is published, before what it has caused; its copy is dropped."""
    hall = Spun()
    joints, effort = hall.publisher('joints'), hall.publisher('effort')

    def control(message):
        assert message.encode() not in hall.sent
        effort(b'e')

    hall.listen(hall.node(), 'joints', control)
    hall.listen(hall.node(), 'effort')
    with hall.spin():
        assert hall.hand(joints, b'1')
        assert not hall.heard and not hall.sent
        hall.pass_on()
        assert hall.topics() == ['joints', 'effort'] and hall.sent == [b'1', b'e']
        hall.arrive('joints', b'1')
        assert len(hall.heard) == 2
        # and the next one
        assert hall.hand(joints, b'2')
        hall.pass_on()
        assert hall.topics()[2:] == ['joints', 'effort']


def test_an_executor_that_is_behind_gets_the_next_message_by_the_middleware():
    """What waits is published first: other processes have all messages, in their order."""
    hall = Spun()
    joints = hall.publisher('joints')
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, b'1')
        assert not hall.hand(joints, b'2') and hall.sent == [b'1', b'2']
        # 1 is delivered after 2 was left to the middleware: by the middleware as well
        hall.pass_on()
        hall.arrive('joints', b'1')
        hall.arrive('joints', b'2')
        assert [message for *_, message in hall.heard] == ['1', '2']
        assert hall.sent == [b'1', b'2']


def test_nothing_is_handed_to_an_executor_that_does_not_spin():
    """What still waits at its end is published."""
    hall = Spun()
    joints = hall.publisher('joints')
    hall.listen(hall.node(), 'joints')
    assert not hall.hand(joints, b'0')
    with hall.spin():
        joints(b'1')  # its own thread
        assert not hall.tasks
        assert not hall.hand(hall.publisher('other'), b'2')  # nobody listens
        assert hall.hand(joints, b'3')
    assert hall.sent == [b'0', b'1', b'2', b'3']
    assert not hall.hand(joints, b'4')


def test_a_handed_message_that_nobody_else_needs_is_not_published():
    """Unless the next one has come before: then both are, and heard once."""
    hall = Spun(others=0)
    joints = hall.publisher('joints')
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, b'1')
        hall.pass_on()
        assert hall.topics() == ['joints'] and not hall.sent
        assert hall.hand(joints, b'2') and not hall.hand(joints, b'3')
        hall.pass_on()
        assert hall.sent == [b'2', b'3']
        hall.arrive('joints', b'2')
        hall.arrive('joints', b'3')
        assert [message for *_, message in hall.heard] == ['1', '2', '3']


def test_a_node_that_ends_leaves_no_message_behind():
    """What it has handed is published while its publisher lives, and reaches the others."""
    hall = Spun()
    joints, node = hall.publisher('joints'), hall.node()
    node.publishers.append(joints)
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, b'1')
        hall.exchange.leave(node)
        assert hall.sent == [b'1']
        hall.pass_on()
        assert hall.sent == [b'1'] and hall.topics() == ['joints']


def test_a_fault_in_a_callback_does_not_keep_the_message_from_other_processes():
    """It is published after the turn that failed."""
    hall = Spun()
    joints = hall.publisher('joints')

    def fail(_):
        raise ZeroDivisionError

    hall.listen(hall.node(), 'joints', fail)
    with hall.spin():
        hall.hand(joints, b'1')
        with pytest.raises(ZeroDivisionError):
            hall.pass_on()
        assert hall.sent == [b'1']
        assert hall.hand(joints, b'2')


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
