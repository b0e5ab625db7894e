# SPDX-License-Identifier: Apache-2.0
"""Enabling devices of the mux: a button of a joystick, a device with three positions, a Bool."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import TwistStamped  # noqa: E402
from sensor_msgs.msg import Joy  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from c3p_controller.ros.enable_inputs import Enable, EnableInput  # noqa: E402
from c3p_controller.ros.mux_inputs import enables_of  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_ros.messages import fill_twist  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402

GRIP = {'topics.joystick.topic': 'cmd_vel_joy', 'topics.joystick.timeout': 0.5,
        'topics.joystick.priority': 100, 'topics.plan.topic': 'cmd_vel_plan',
        'topics.plan.timeout': 0.5, 'topics.plan.priority': 10, 'enables.grip.topic': 'joy',
        'enables.grip.timeout': 0.3, 'enables.grip.source': 'joystick', 'enables.grip.button': 4,
        'enables.grip.panic': 5}


def test_a_released_button_stops_its_source_and_no_other(bench):
    bench.add(TwistMuxNode, start_silence=0.0, **GRIP)
    out = bench.collect(TwistStamped, 'cmd_vel')
    stick, plan = (bench.publisher(TwistStamped, f'cmd_vel_{name}') for name in ('joy', 'plan'))
    grip = bench.publisher(Joy, 'joy')

    def drive(held, speed, steps=8, source=stick):
        """Return the speeds that pass."""
        before = len(out)
        for _ in range(steps):
            if held is not None:
                grip.publish(Joy(buttons=[0, 0, 0, 0, *held]))
            message = TwistStamped()
            message.header.stamp = bench.now()
            fill_twist(message.twist, (speed, 0.0, 0.0))
            source.publish(message)
            bench.run(0.05)
        return {round(m.twist.linear.x, 3) for m in out[before:]}

    bench.wait_for(lambda: grip.get_subscription_count() and stick.get_subscription_count()
                   and bench.talker.count_subscribers('cmd_vel'), 'discovery')
    drive((1, 0), 0.0, steps=20)
    assert drive((1, 0), 0.2) == {0.2}
    # released: zeros for a moment, then nothing
    assert drive((0, 0), 0.2) <= {0.0}
    assert 'C3P-MX-0005' in bench.value('twist_mux', 'fault_codes')
    # held again: a zero first
    assert drive((1, 0), 0.2) == set()
    drive((1, 0), 0.0)
    assert drive((1, 0), 0.2) == {0.2}
    # pressed hard
    assert drive((1, 1), 0.2) <= {0.0}
    drive((1, 0), 0.0)
    assert drive((1, 0), 0.2) == {0.2}
    # the device is silent, and the last message is older than its timeout
    drive(None, 0.2, steps=7)
    assert drive(None, 0.2) <= {0.0}
    # another source needs no device
    drive(None, 0.0, source=plan)
    assert drive(None, 0.1, source=plan) == {0.1}


def taken(given, message):
    """Return whether a message releases a device."""
    class Node:
        def create_subscription(self, kind, topic, callback, profile):
            self.kind, self.receive = kind, callback

    node, found = Node(), []
    EnableInput(node, given, lambda name, released: found.append((name, released)))
    assert type(message) is node.kind
    node.receive(message)
    return found


def test_a_message_without_the_button_is_a_release():
    flag = Enable('pedal', 'pedal', 0.3, 'keyboard')
    assert taken(flag, Bool(data=True)) == [('pedal', False)]
    assert taken(flag, Bool(data=False)) == [('pedal', True)]
    grip = Enable('grip', 'joy', 0.3, 'joystick', 1)
    assert taken(grip, Joy(buttons=[0, 1])) == [('grip', False)]
    assert taken(grip, Joy(buttons=[1])) == [('grip', True)]
    # a contact that the message lacks may be closed
    assert taken(grip._replace(panic=2), Joy(buttons=[0, 1])) == [('grip', True)]


def test_entries_are_checked():
    with pytest.raises(ParameterError, match=r'enables\.grip: timeout, source missing'):
        enables_of({'grip.topic': 'joy'})
    with pytest.raises(ParameterError, match=r'enables\.grip\.priority: unknown'):
        enables_of({'grip.priority': 3})
