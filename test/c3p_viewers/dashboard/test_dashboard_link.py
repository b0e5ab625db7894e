# SPDX-License-Identifier: Apache-2.0
"""The node of the live page: the receivers of its stop, and what it refuses afterwards."""

from functools import partial
from types import SimpleNamespace

import pytest
from robots import C3P

pytest.importorskip('rclpy', reason='ROS 2 is needed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from geometry_msgs.msg import PoseStamped, TwistStamped  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_viewers.dashboard.diagnostics_board import MOST  # noqa: E402
from c3p_viewers.dashboard.hand_drive import HOLD  # noqa: E402
from c3p_viewers.dashboard.link import CONFIRMED_WITHIN, DashboardLink  # noqa: E402
from c3p_viewers.dashboard.refusal import Refusal  # noqa: E402
from c3p_viewers.dashboard.samples import RATE, History  # noqa: E402
from c3p_viewers.dashboard.stop_receivers import OFFERED, receivers  # noqa: E402

GOAL = {'x': 1.0, 'y': 0.0, 'yaw': 0.0}


def run(bench, link, seconds):
    """Let time pass, with the steps of the page's node."""
    for _ in range(round(seconds * RATE)):
        bench.run(1.0 / RATE)
        link.step()


def until(bench, link, condition, what):
    """Let time pass until the status of the page fulfils a condition."""
    def holds():
        link.step()
        return condition(link.history.status)

    return bench.wait_for(holds, what)


@pytest.fixture
def link(bench):
    """The node of the page."""
    return bench.add(partial(DashboardLink, C3P, History()))


def test_a_stop_that_no_node_receives_says_so(bench, link):
    run(bench, link, 1.0)
    assert link.press() == 'stop pressed, but nothing receives it'
    status = link.history.status
    assert status['pressed'] and status['receivers'] == [] and status['confirmed'] is None
    run(bench, link, 3.0)
    # a second page, and a recorder, hear it and stop nothing
    bench.add(partial(DashboardLink, C3P, History()))
    assert link.history.status['receivers'] == []


@pytest.mark.parametrize(('topic', 'kind', 'profile', 'receives'), [
    ('e_stop', Bool, 10, True), ('e_stop', Bool, qos_profile_sensor_data, True),
    ('cmd_vel', TwistStamped, 10, True),
    # what DDS does not deliver
    ('e_stop', Bool, QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL), False),
    ('other/e_stop', Bool, 10, False)])
def test_receivers_are_subscriptions_that_match(bench, link, topic, kind, profile, receives):
    heard = bench.collect(kind, topic, profile)
    run(bench, link, 1.0)
    text = link.press()
    assert link.history.status['receivers'] == (['talker'] if receives else [])
    assert ('nothing receives it' in text) != receives
    run(bench, link, 1.0)
    assert bool(heard) == receives


def test_a_subscription_of_another_type_receives_nothing(bench, link):
    class Graph:
        """The graph with one subscription of a type that one process cannot have as well."""

        resolve_topic_name = link.resolve_topic_name

        def get_subscriptions_info_by_topic(self, topic):
            return [SimpleNamespace(node_name='talker', topic_type='std_msgs/msg/String',
                                    qos_profile=OFFERED)]

    assert receivers(Graph(), 'e_stop', 'std_msgs/msg/String') == ['talker']
    assert receivers(Graph(), 'e_stop', 'std_msgs/msg/Bool') == []


def test_a_stop_is_confirmed_by_the_mux(bench, link):
    bench.add(TwistMuxNode, **mux())
    until(bench, link, lambda s: s['mux'] and s['nodes'], 'the mux')
    assert link.press() == 'stop pressed'
    until(bench, link, lambda s: s['confirmed'], 'the confirmation')
    run(bench, link, 3.0)
    assert link.history.status['confirmed'] and link.history.status['receivers'] == ['twist_mux']
    link.release()
    until(bench, link, lambda s: not s['locked'], 'the release')


@pytest.mark.parametrize('locked', [False, True])
def test_a_mux_that_does_nothing_does_not_confirm_the_stop(bench, link, locked):
    # as after kill -9: the graph lists its endpoints for 20 s more, and its last state is known
    dead = bench.add(partial(Node, 'twist_mux'))
    dead.create_subscription(Bool, 'e_stop', lambda message: None, 10)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    dead.create_publisher(Bool, 'twist_mux/locked', latched).publish(Bool(data=locked))
    zeros = bench.collect(TwistStamped, 'cmd_vel')
    until(bench, link, lambda s: s['mux'], 'the mux')
    link.press()
    assert link.history.status['receivers'] == ['twist_mux']
    assert link.history.status['confirmed'] is None
    run(bench, link, CONFIRMED_WITHIN + 0.2)
    assert link.history.status['confirmed'] is False
    # what is left to do
    run(bench, link, 0.5)
    assert zeros and not any(message.twist.linear.x for message in zeros)


def mux():
    """Return the parameters of a mux with one source and the lock of the page."""
    return {'topics.other.topic': 'other', 'topics.other.timeout': 0.5,
            'topics.other.priority': 10, 'locks.e_stop.topic': 'e_stop',
            'locks.e_stop.timeout': 0.0, 'locks.e_stop.priority': 255,
            'locks.e_stop.start': 'open'}


def test_a_goal_after_a_stop_is_refused_at_once_and_never_published(
        bench, in_process_robot, link):
    until(bench, link, lambda s: s['alive'] and s['drivable'], 'the robot')
    goals = bench.collect(PoseStamped, 'goal_pose')
    for pause in (0.0, 0.001, 0.01, 0.1, 0.6):
        link.press()
        bench.run(pause)
        with pytest.raises(Refusal, match='stop is pressed'):
            link.drive_to(GOAL)
        link.release()
        run(bench, link, 0.2)
    assert goals == []
    # the same commands in the other order: the goal is published, and cancelled
    link.drive_to(GOAL)
    link.press()
    run(bench, link, 1.0)
    assert len(goals) == 1 and link.history.status['goal']['to_go'] is None
    link.release()
    run(bench, link, 3.0)
    assert abs(bench.truth[-1].pose.pose.position.x) < 0.02


def test_a_goal_while_another_program_presses_the_stop_is_refused(
        bench, in_process_robot, link):
    until(bench, link, lambda s: s['alive'] and s['drivable'], 'the robot')
    bench.publisher(Bool, 'e_stop').publish(Bool(data=True))
    bench.run(0.01)
    # before the next step of the page
    with pytest.raises(Refusal, match='stop is pressed'):
        link.drive_to(GOAL)


def test_a_release_that_crosses_a_press_of_another_page_is_refused(bench, link):
    link.press()
    shown = {'presses': link.history.status['presses']}
    link.press()
    with pytest.raises(Refusal, match='pressed again'):
        link.release(shown)
    assert link.pressed
    link.release({'presses': link.history.status['presses']})
    assert not link.pressed and not link.history.status['pressed']


def test_the_page_shows_the_present_drive(bench, in_process_robot, link):
    until(bench, link, lambda s: s['alive'] and s['drivable'], 'the robot')
    link.drive_to({'x': 0.3, 'y': 0.0, 'yaw': 0.0})
    until(bench, link, lambda s: s['goal']['to_go'], 'the drive')
    until(bench, link, lambda s: s['goal']['result'], 'the result')
    assert link.history.status['goal']['result']['reason'] == 'reached'
    run(bench, link, 2.0)
    assert link.history.status['goal']['result']['reason'] == 'reached'
    link.drive_to({'x': 0.0, 'y': 0.0, 'yaw': 0.0})
    until(bench, link, lambda s: s['goal']['to_go'], 'the next drive')
    assert link.history.status['goal']['result'] is None


def test_ever_new_names_of_diagnostics_are_bounded_in_the_status(bench, link):
    publisher = bench.publisher(DiagnosticArray, '/diagnostics')
    for k in range(20):
        publisher.publish(DiagnosticArray(status=[
            DiagnosticStatus(name=f'{k} {j} ' + 'x' * 1000, message='m' * 5000,
                             level=DiagnosticStatus.OK,
                             values=[KeyValue(key='sigma_min', value='9' * 5000)])
            for j in range(200)]))
        bench.run(0.01)
    publisher.publish(DiagnosticArray(status=[
        DiagnosticStatus(name='motor', level=DiagnosticStatus.ERROR)]))
    bench.run(0.05)
    link.step()
    status = link.history.status
    assert len(status['nodes']) == MOST and status['dropped'] > 0
    assert status['nodes'][0]['name'] == 'motor'
    assert max(len(f'{node}') for node in status['nodes']) < 1000


# -- driving by hand ------------------------------------------------------------------------------

def keyboard_mux():
    """Return the parameters of a mux with the sources of a hand and of goals."""
    return {**mux(), 'topics.keyboard.topic': 'cmd_vel_keyboard', 'topics.keyboard.timeout': 0.5,
            'topics.keyboard.priority': 90}


def hand(press='a', vx=0.1, vy=0.0, omega=0.0):
    return {'press': press, 'vx': vx, 'vy': vy, 'omega': omega}


def speeds(messages):
    """Return the commanded speeds along x."""
    return [message.twist.linear.x for message in messages]


@pytest.fixture
def driven(bench, in_process_robot, link):
    """The node of the page beside a robot with a mux; its commands to the mux, and the robot's."""
    bench.add(TwistMuxNode, **keyboard_mux())
    commands = bench.collect(TwistStamped, 'cmd_vel_keyboard')
    until(bench, link, lambda s: s['alive'] and s['mux'] and s['drives'], 'the robot')
    # the source of the mux waits for silence after its start
    run(bench, link, 4.0)
    return commands


def held(bench, link, seconds, **body):
    """Let time pass while a page repeats a command."""
    for _ in range(round(seconds / 0.1)):
        link.move(hand(**body))
        run(bench, link, 0.1)


def test_a_held_hand_drives_through_the_mux_and_letting_go_stops(bench, link, driven):
    passed = bench.collect(TwistStamped, 'cmd_vel')
    held(bench, link, 1.0)
    assert link.history.status['hand'] == 'a'
    # the mux requires a zero before a motion
    assert speeds(driven)[0] == 0.0 and speeds(driven)[-1] == 0.1
    assert speeds(passed)[-1] == 0.1
    link.halt({'press': 'a'})
    run(bench, link, 0.05)
    assert speeds(passed)[-1] == 0.0 and link.history.status['hand'] == ''
    # zeros, then silence
    run(bench, link, 1.0)
    count = len(driven)
    run(bench, link, 1.0)
    assert len(driven) == count and speeds(driven)[-1] == 0.0


def test_a_page_that_falls_silent_stops_the_robot_until_the_next_touch(bench, link, driven):
    held(bench, link, 0.5)
    run(bench, link, HOLD + 0.1)
    assert speeds(driven)[-1] == 0.0
    with pytest.raises(Refusal, match='let go, and press again'):
        link.move(hand())
    run(bench, link, 0.2)
    assert speeds(driven)[-1] == 0.0
    held(bench, link, 0.3, press='b')
    assert speeds(driven)[-1] == 0.1


def test_a_stop_ends_the_touch_and_its_release_does_not_resume_it(bench, link, driven):
    held(bench, link, 0.5)
    link.press()
    run(bench, link, 0.05)
    assert speeds(driven)[-1] == 0.0
    for press in ('a', 'b'):
        with pytest.raises(Refusal, match='the stop is pressed'):
            link.move(hand(press))
    until(bench, link, lambda s: s['confirmed'], 'the confirmation')
    link.release()
    until(bench, link, lambda s: not s['locked'], 'the release')
    # both are held since before the release
    for press in ('a', 'b'):
        with pytest.raises(Refusal, match='let go'):
            link.move(hand(press))
    run(bench, link, 0.3)
    assert not any(speeds(driven)[-3:])


def test_a_mux_without_the_source_is_never_passed_by(bench, in_process_robot, link):
    bench.add(TwistMuxNode, **mux())
    until(bench, link, lambda s: s['alive'] and s['mux'] and s['drives'], 'the robot')
    with pytest.raises(Refusal, match='cmd_vel_keyboard has no subscriber; add this source'):
        link.move(hand())
    run(bench, link, 0.5)
    assert link.history.status['hand'] == ''
    assert 'dashboard' not in {end.node_name
                               for end in link.get_publishers_info_by_topic('/cmd_vel')}


def test_without_a_mux_the_hand_commands_the_controller_itself(bench, in_process_robot, link):
    until(bench, link, lambda s: s['alive'] and s['drives'], 'the robot')
    commands = bench.collect(TwistStamped, 'cmd_vel')
    held(bench, link, 0.5)
    assert speeds(commands)[-1] == 0.1


def test_without_joint_states_nothing_is_driven(bench, link):
    run(bench, link, 1.0)
    with pytest.raises(Refusal, match='no joint states'):
        link.move(hand())
