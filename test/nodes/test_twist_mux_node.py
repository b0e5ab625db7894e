# SPDX-License-Identifier: Apache-2.0
"""The mux as a node: its file, its messages, and a robot that stays where the e-stop left it."""

import math
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from std_msgs.msg import Bool, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_bringup.cli.teleop import default_limits  # noqa: E402
from c3p_bringup.teleop.robot_link import RobotLink  # noqa: E402
from c3p_bringup.teleop.screen import TeleopView  # noqa: E402
from c3p_controller.ros.drive_commands import DISCOVERY  # noqa: E402
from c3p_controller.ros.mux_inputs import locks_of, shipped, sources_of  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_description.reading.files import share_file  # noqa: E402
from c3p_description.reading.loader import load  # noqa: E402
from c3p_ros.messages import fill_twist, stamp_to_ns  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402

SPEED = 0.25


def stamped(bench, *twist):
    """Return a command of now."""
    message = TwistStamped()
    message.header.stamp, message.header.frame_id = bench.now(), 'somewhere'
    fill_twist(message.twist, twist)
    return message


def released_mux(bench, **parameters):
    """Start a mux without a silence and release its locks."""
    bench.add(TwistMuxNode, start_silence=0.0, **parameters)
    assert bench.call(Trigger, 'twist_mux/release').success


def test_messages_pass_as_they_are_and_a_lock_sends_zeros(bench):
    released_mux(bench)
    out = bench.collect(TwistStamped, 'cmd_vel')
    driving, locked = bench.collect(String, 'twist_mux/driving', LATCHED), bench.collect(
        Bool, 'twist_mux/locked', LATCHED)
    keys, lock = (bench.publisher(TwistStamped, 'cmd_vel_keyboard'),
                  bench.publisher(Bool, 'e_stop'))
    zero, ahead = stamped(bench, 0.0, 0.0, 0.0), stamped(bench, 0.1, 0.0, 0.2)
    bench.wait_for(lambda: bench.talker.count_subscribers('cmd_vel') and locked, 'discovery')
    # a zero first: silence needs time
    bench.publish_until(keys, zero, lambda: zero in out, 'the zero passes')
    bench.publish_until(keys, ahead, lambda: ahead in out, 'the command passes')
    assert driving[-1].data == 'keyboard' and not locked[-1].data
    # one that is no number does not count as heard
    bad = stamped(bench, 0.0, 0.0, 0.0)
    bad.twist.linear.x = math.nan
    bench.publish_until(keys, bad, lambda: bench.nodes['twist_mux'].diagnostics.refused(
        'cmd_vel_keyboard'), 'refusal')
    assert all(math.isfinite(message.twist.linear.x) for message in out)
    # the source has gone meanwhile; a lock stops who moved all the same
    before = len(out)
    lock.publish(Bool(data=True))
    bench.wait_for(lambda: locked[-1].data, 'the lock')
    bench.wait_for(lambda: len(out) > before and out[-1].twist == zero.twist, 'a zero')
    assert out[-1].header.frame_id == 'base_link'
    count = len(out)
    bench.publish_until(keys, ahead, lambda: bench.value('twist_mux', 'lock priority') == '255',
                        'diagnostics')
    assert all(message.twist == zero.twist for message in out[count:])


def test_whoever_listens_first_is_told_to_stand_before_commands_pass(bench):
    """A robot that starts with the mux has missed the zero with which the source began."""
    released_mux(bench)
    keys = bench.publisher(TwistStamped, 'cmd_vel_keyboard')
    zero, ahead = stamped(bench, 0.0, 0.0, 0.0), stamped(bench, 0.1, 0.0, 0.2)
    driving = bench.collect(String, 'twist_mux/driving', LATCHED)
    bench.publish_until(keys, zero, lambda: driving and driving[-1].data == 'keyboard', 'zero')
    bench.publish_until(keys, ahead, lambda: bench.value('twist_mux', 'driving') == 'keyboard',
                        'driving')
    assert bench.value('twist_mux', 'keyboard passed') == '0'
    out = bench.collect(TwistStamped, 'cmd_vel')
    bench.publish_until(keys, ahead, lambda: ahead in out, 'the command passes')
    first = out.index(ahead)
    assert first > 3 and all(message.twist == zero.twist for message in out[:first])
    assert all(message == ahead for message in out[first:])
    # the first may have been a recorder, which is not what has to stand
    robot = bench.collect(TwistStamped, 'cmd_vel')
    bench.publish_until(keys, ahead, lambda: ahead in robot, 'the command passes')
    assert robot.index(ahead) > 3
    # who comes later hears what passes: a robot that has lost its node does not go on by itself
    bench.nodes['twist_mux']._listeners._start -= DISCOVERY
    late = bench.collect(TwistStamped, 'cmd_vel')
    bench.publish_until(keys, ahead, lambda: late, 'a command')
    assert late[0] == ahead


def test_plain_twists_pass_and_the_file_says_who(bench):
    bench.add(TwistMuxNode, **{'use_stamped': False, 'start_silence': 0.0,
                               'topics.me.topic': 'from_me', 'topics.me.timeout': 1,
                               'topics.me.priority': 7})
    out, me = bench.collect(Twist, 'cmd_vel'), bench.publisher(Twist, 'from_me')
    bench.publish_until(me, Twist(), lambda: out, 'the command passes')
    assert bench.talker.count_subscribers('cmd_vel_keyboard') == 0
    answer = bench.set_parameter('twist_mux', 'topics.me.priority', 9)
    assert not answer.successful


def test_who_commands_past_the_mux_is_named(bench):
    bench.add(TwistMuxNode)
    bench.talker.create_publisher(TwistStamped, 'cmd_vel', 1)
    bench.wait_for(lambda: 'talker: publishes /cmd_vel past all' in ' '.join(
        bench.said.get('twist_mux', ())), 'a warning')


# a machine that stands still for a second must not be taken for a source that fell silent
PATIENT = {'topics.keyboard.topic': 'cmd_vel_keyboard',
           'topics.keyboard.timeout': 10.0, 'topics.keyboard.priority': 90,
           'locks.e_stop.topic': 'e_stop', 'locks.e_stop.timeout': 0.0,
           'locks.e_stop.priority': 255}


class Keyboard:
    """A source that commands a bench's robot through the mux."""

    def __init__(self, bench):
        self.bench, self.publisher = bench, bench.publisher(TwistStamped, 'cmd_vel_keyboard')

    def until(self, condition, what, *twist):
        """Command at 50 Hz until `condition` holds."""
        self.bench._repeat(lambda: self.publisher.publish(stamped(self.bench, *twist)), condition,
                           what, 20.0)

    def during(self, seconds, *twist):
        """Command for some seconds."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, 'time', *twist)

    def let_go_and_move(self):
        """Command zero, then SPEED, as Bench.let_go_and_move does."""
        end = time.monotonic() + 20.0
        while self.bench.speed() < 0.5 * SPEED:
            assert time.monotonic() < end, f'not moving; nodes said {self.bench.story()}'
            self.during(0.2, 0.0, 0.0, 0.0)
            begin = time.monotonic()
            self.until(lambda b=begin: self.bench.speed() > 0.5 * SPEED
                       or time.monotonic() > b + 3.0, 'moving', 0.0, SPEED, 0.0)


def teleop_of(bench):
    """Start the node of ``c3p teleop``."""
    link = RobotLink(load('c3p'), context=bench.context)
    bench.nodes['teleop_keyboard'] = link
    bench.executor.add_node(link)
    return link


def assert_it_shows_the_robot(bench, link):
    """See that a teleop that runs finds mux, lock, limits, odometry and steering."""
    view = TeleopView('', '')

    def known():
        link.show(view)
        return (link.muxed and link.locked and link.limits and link.connected
                and view.twist is not None and view.steering is not None and view.slip)
    bench.wait_for(known, 'a teleop that knows all')
    # the defaults of the velocity controller
    assert link.limits == default_limits() and view.place == 'cmd_vel_keyboard'
    assert view.sigma_min >= 0.0 and (abs(view.steering) <= math.pi).all()


def test_a_locked_robot_stops_and_does_not_go_on_by_itself(in_process_robot):
    bench = in_process_robot
    released_mux(bench, **PATIENT)
    keyboard, lock = Keyboard(bench), bench.publisher(Bool, 'e_stop')
    driving = bench.collect(String, 'twist_mux/driving', LATCHED)
    passed = bench.collect(TwistStamped, 'cmd_vel')
    link = teleop_of(bench)
    keyboard.let_go_and_move()
    lock.publish(Bool(data=True))
    keyboard.until(lambda: driving[-1].data == '', 'the lock', 0.0, SPEED, 0.0)
    closed = bench.talker.get_clock().now().nanoseconds
    assert_it_shows_the_robot(bench, link)
    keyboard.until(lambda: bench.speed() < 0.01, 'rest', 0.0, SPEED, 0.0)
    lock.publish(Bool(data=False))
    keyboard.until(lambda: bench.value('twist_mux', 'lock priority') == '0', 'the release',
                   0.0, SPEED, 0.0)
    # whoever held the key through it all holds it on
    keyboard.during(0.5, 0.0, SPEED, 0.0)
    assert driving[-1].data == ''
    assert all(message.twist.linear.y == 0.0 for message in passed
               if stamp_to_ns(message.header.stamp) > closed)
    keyboard.let_go_and_move()


def test_the_shipped_file_is_what_counts_without_one():
    groups = shipped()
    sources = sources_of(groups['topics'])
    assert [source.name for source in sorted(sources, key=lambda source: -source.priority)] == [
        'joystick', 'keyboard', 'navigation', 'position_controller']
    (lock,) = locks_of(groups['locks'])
    assert lock == ('e_stop', 'e_stop', 0.0, 255, 'closed', '')


def test_the_shipped_file_has_the_types_that_twist_mux_insists_on():
    # its get_value<double> throws for a whole number
    for group in shipped().values():
        for key, value in group.items():
            kind = {'topic': str, 'timeout': float, 'priority': int, 'start': str}[
                key.rpartition('.')[2]]
            assert type(value) is kind, key


@pytest.mark.parametrize('given, words', [
    ({'a.topic': 'x', 'a.timeout': 0.5}, 'topics.a: priority missing'),
    ({'a.topik': 'x'}, 'topics.a.topik: unknown'), ({'topic': 'x'}, 'topics.topic: unknown'),
    ({'a.topic': 3}, 'topics.a.topic = 3: must be of type str'),
    ({'a.priority': True}, 'topics.a.priority = True: must be of type int')])
def test_an_entry_that_cannot_be_meant_is_refused_with_its_place(given, words):
    with pytest.raises(ParameterError, match=words):
        sources_of(given)


def test_a_file_that_cannot_be_meant_is_refused(bench):
    for given, words in (
            ({'topics.a.topic': 'x', 'topics.a.timeout': 0.0, 'topics.a.priority': 1},
             'twist_mux: .*never expires'),
            ({'locks.a.topic': 'x', 'locks.a.timeout': 0.0, 'locks.a.priority': 1}, 'no topics'),
            ({'topic.a.topic': 'x'}, 'unknown parameter')):
        with pytest.raises(ParameterError, match=words):
            bench.add(TwistMuxNode, **given)


def test_the_shipped_file_is_read_by_rcl(bench):
    node = TwistMuxNode(context=bench.context, cli_args=[
        '--ros-args', '--params-file', str(share_file('config/twist_mux.yaml'))],
        parameter_overrides=[Parameter('start_silence', value=0.0)])
    bench.nodes['twist_mux'] = node
    bench.executor.add_node(node)
    assert node.get_parameter('topics.navigation.topic').value == 'cmd_vel_navigation'
    assert node.get_parameter('locks.e_stop.timeout').value == 0.0


def closed(bench):
    """Return a function that tells what the mux last said of being locked."""
    heard = bench.collect(Bool, 'twist_mux/locked', LATCHED)
    bench.wait_for(lambda: heard, 'the state of the mux')
    return lambda: heard[-1].data


def test_a_lock_counts_as_pressed_until_its_state_is_heard_or_it_is_released(bench):
    bench.add(TwistMuxNode)
    state = closed(bench)
    assert state()
    bench.wait_for(lambda: 'e_stop: unknown since the start' in ' '.join(
        bench.said.get('twist_mux', ())), 'the reason and the remedy')
    # a publisher that latches nothing: `ros2 topic pub`, a joystick
    button = bench.publisher(Bool, 'e_stop')
    bench.publish_until(button, Bool(data=False), lambda: not state(), 'open')
    bench.publish_until(button, Bool(data=True), state, 'pressed')
    answer = bench.call(Trigger, 'twist_mux/release')
    assert not answer.success and answer.message.startswith('e_stop: pressed') and state()
    # started again without its publisher: what is not known is not released
    bench.remove('twist_mux')
    bench.add(TwistMuxNode)
    again = closed(bench)
    bench.wait_for(lambda: bench.value('twist_mux', 'lock priority') == '255', 'locked')
    assert again()
    answer = bench.call(Trigger, 'twist_mux/release')
    assert answer.success and answer.message == 'e_stop: released'
    bench.wait_for(lambda: not again(), 'open')


@pytest.mark.parametrize('pressed, start', [(True, 'closed'), (False, 'latched')])
def test_a_latched_state_is_heard_after_the_start(bench, pressed, start):
    latched = bench.talker.create_publisher(Bool, 'e_stop', LATCHED)
    latched.publish(Bool(data=pressed))
    bench.add(TwistMuxNode, **PATIENT, **{'locks.e_stop.start': start})
    state = closed(bench)
    bench.wait_for(lambda: not bench.nodes['twist_mux']._mux.unknown(), 'the latched state')
    bench.wait_for(lambda: state() == pressed, f'{"closed" if pressed else "open"}')
    # and what the same publisher sends later counts once more, either way
    latched.publish(Bool(data=not pressed))
    bench.wait_for(lambda: state() == (not pressed), 'the change')
