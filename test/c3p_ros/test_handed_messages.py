# SPDX-License-Identifier: Apache-2.0
"""Messages of another thread: delivered by that of the executor, and none lost or out of order."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
from exchange_hall import Hall  # noqa: E402


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
        effort('e')

    hall.listen(hall.node(), 'joints', control)
    hall.listen(hall.node(), 'effort')
    with hall.spin():
        assert hall.hand(joints, '1')
        assert not hall.heard and not hall.sent
        hall.pass_on()
        assert hall.topics() == ['joints', 'effort'] and hall.sent == [b'1', b'e']
        hall.arrive('joints', b'1')
        assert len(hall.heard) == 2
        # and the next one
        assert hall.hand(joints, '2')
        hall.pass_on()
        assert hall.topics()[2:] == ['joints', 'effort']


def test_an_executor_that_is_behind_gets_the_next_message_by_the_middleware():
    """What waits is published first: other processes have all messages, in their order."""
    hall = Spun()
    joints = hall.publisher('joints')
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, '1')
        assert not hall.hand(joints, '2') and hall.sent == [b'1', b'2']
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
    assert not hall.hand(joints, '0')
    with hall.spin():
        joints('1')  # its own thread
        assert not hall.tasks
        assert not hall.hand(hall.publisher('other'), '2')  # no node of this process subscribes
        assert hall.hand(joints, '3')
    assert hall.sent == [b'0', b'1', b'2', b'3']
    assert not hall.hand(joints, '4')


def test_a_handed_message_that_nobody_else_needs_is_not_published():
    """Unless the next one has come before: then both are, and heard once."""
    hall = Spun(others=0)
    joints = hall.publisher('joints')
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, '1')
        hall.pass_on()
        assert hall.topics() == ['joints'] and not hall.sent
        assert hall.hand(joints, '2') and not hall.hand(joints, '3')
        hall.pass_on()
        assert hall.sent == [b'2', b'3']
        hall.arrive('joints', b'2')
        hall.arrive('joints', b'3')
        assert [message for *_, message in hall.heard] == ['1', '2', '3']


def test_a_node_that_ends_leaves_no_message_behind():
    """What it has handed is published while its publisher lives, and reaches the others."""
    hall = Spun()
    node = hall.node()
    joints = hall.publisher('joints', node)
    hall.listen(hall.node(), 'joints')
    with hall.spin():
        assert hall.hand(joints, '1')
        hall.exchange.leave(node)
        assert hall.sent == [b'1']
        hall.pass_on()
        hall.arrive('joints', b'1')
        assert hall.sent == [b'1'] and hall.topics() == ['joints']


def test_a_fault_in_a_callback_does_not_keep_the_message_from_other_processes():
    """It is published after the turn that failed."""
    hall = Spun()
    joints = hall.publisher('joints')

    def fail(_):
        raise ZeroDivisionError

    hall.listen(hall.node(), 'joints', fail)
    with hall.spin():
        hall.hand(joints, '1')
        with pytest.raises(ZeroDivisionError):
            hall.pass_on()
        assert hall.sent == [b'1']
        assert hall.hand(joints, '2')
