# SPDX-License-Identifier: Apache-2.0
"""How the position controller tells the end of each goal; the odometry is the test's."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from goal_place import NODE, Place  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_controller.ros.drive_commands import DISCOVERY  # noqa: E402
from c3p_controller.ros.goal_interface import RESULTS  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402


def test_reached_is_told_once_the_robot_stands_in_the_goal_zone(bench):
    place = Place(bench)
    reached = bench.collect(Bool, f'{NODE}/goal_reached', LATCHED)
    place.goal(1.0, 0.0, 0.0)
    place.pose, place.twist = np.array([0.98, 0.0, 0.1]), np.array([0.2, 0.0, 0.0])
    place.until(lambda: reached and reached[-1].data, 'the zone')
    assert not place.results
    place.twist = np.zeros(3)
    values = place.ends('reached')
    assert values['level'] == DiagnosticStatus.OK and values['number'] == '1'
    assert values['goal'] == '[1.0, 0.0, 0.0]' and values['frame'] == 'odom'
    assert float(values['distance [m]']) == pytest.approx(0.02)
    assert float(values['yaw error [rad]']) == pytest.approx(-0.1)
    # it is held: commands go on, and its cancellation is no second end
    count = len(place.commands)
    place.until(lambda: len(place.commands) > count + 3, 'holding')
    assert bench.call(Trigger, f'{NODE}/cancel').success
    place.goal(2.0, 0.0, 0.0)
    assert len(place.results) == 1
    # who comes late is told, too
    late = bench.collect(DiagnosticStatus, f'{NODE}/result', RESULTS)
    place.until(lambda: late, 'the latched result')
    assert late[0].message.startswith('reached: ')


def test_tracking_errors_are_from_the_line_that_began_where_the_goal_came(bench):
    place = Place(bench)
    place.pose = np.array([1.0, 1.0, 0.0])
    place.until(lambda: (bench.nodes[NODE]._pose == place.pose).all(), 'the place')
    feedback = []
    # Nav2's action is not installed everywhere
    bench.nodes[NODE]._goals._action = SimpleNamespace(
        feedback=lambda *values: feedback.append(values), ended=lambda _: None,
        destroy=lambda: None)
    place.goal(3.0, 1.0, 0.0)
    place.until(lambda: feedback, 'feedback')
    assert feedback[0][-1] == pytest.approx((0.0, 0.0))
    place.pose, before = np.array([2.0, 0.9, 0.1]), len(feedback)
    place.until(lambda: len(feedback) > before + 1, 'feedback')
    assert feedback[-1][-1] == pytest.approx((-0.1, -0.1))


def test_a_goal_that_is_not_held_is_let_go_with_a_zero_command(bench):
    place = Place(bench, hold_goal=False)
    place.goal(1.0, 0.0, 0.0)
    place.pose = np.array([0.99, 0.0, 0.0])
    place.ends('reached')
    place.until(lambda: bench.nodes[NODE]._controller.goal is None, 'letting go')
    last = place.commands[-1].twist
    assert (last.linear.x, last.linear.y, last.angular.z) == (0.0, 0.0, 0.0)
    answer = bench.call(Trigger, f'{NODE}/cancel')
    assert not answer.success and len(place.results) == 1


def test_a_drive_begins_once_somebody_takes_its_commands(bench):
    """Whoever is found later has missed its zeros, and would wait for others in vain."""
    place = Place(bench, listening=False)
    place.goal(1.0, 0.0, 0.0)
    end = time.monotonic() + 0.6
    place.until(lambda: time.monotonic() > end, 'time')
    place.listen()

    def begins():
        place.until(lambda: any(message.twist.linear.x for message in place.commands), 'driving')
        return [message.twist.linear.x != 0.0 for message in place.commands].index(True)

    assert begins() > 3
    # that was a recorder; the robot is found after it
    place.listen()
    assert begins() > 3
    # but one that is started anew does not go on by itself
    bench.nodes[NODE]._commands.listeners._start -= DISCOVERY
    place.listen()
    assert begins() == 0


def test_cancelled_preempted_and_refused_goals_are_told_apart(bench):
    place = Place(bench)
    place.goal(1.0, 0.0, 0.0)
    place.until(lambda: place.commands, 'a command')
    place.goal(0.0, 2.0, 0.5)
    values = place.ends('preempted')
    assert values['number'] == '1' and 'goal 2' in values['message']
    assert values['level'] == DiagnosticStatus.WARN
    # refused: the one that is under way goes on
    bench.goal(0.0, 1.0, 0.0, frame='moon')
    values = place.ends('refused')
    assert 'moon' in values['message'] and values['number'] == '0'
    assert values['level'] == DiagnosticStatus.ERROR
    assert bench.nodes[NODE]._goals.life.running
    assert bench.call(Trigger, f'{NODE}/cancel').success
    values = place.ends('cancelled')
    assert values['number'] == '2' and values['goal'] == '[0.0, 2.0, 0.5]'
    assert float(values['distance [m]']) == pytest.approx(2.0)


def test_no_progress_and_time_that_goes_back_give_the_goal_up(bench):
    place = Place(bench, progress_timeout=0.3)
    place.goal(1.0, 0.0, 0.0)
    values = place.ends('no progress')
    assert values['level'] == DiagnosticStatus.ERROR
    assert '0.3 s (progress_timeout)' in values['message']
    # of the robot's time, not of the wall's
    assert float(values['time [s]']) >= 0.3
    assert bench.set_parameter(NODE, 'progress_timeout', 0.0).successful
    place.goal(2.0, 0.0, 0.0)
    # more than a second, and elsewhere: a bag that loops, a simulation that begins anew
    place.shift, place.pose = -2.0, np.array([0.5, 0.0, 0.0])
    assert place.ends('time went back')['number'] == '2'


def test_lost_odometry_gives_the_goal_up(bench):
    place = Place(bench, odom_timeout=0.5)
    place.goal(1.0, 0.0, 0.0)
    bench.wait_for(lambda: place.status('no odometry'), 'giving up')
    (values,) = place.status('no odometry')
    assert values['level'] == DiagnosticStatus.ERROR and '(odom_patience)' in values['message']
    # the next one is refused until it is back
    bench.goal(1.0, 0.0, 0.0)
    bench.wait_for(lambda: place.status('refused'), 'the refusal')
    assert math.isnan(float(place.status('refused')[0]['distance [m]']))
