# SPDX-License-Identifier: Apache-2.0
"""A robot with plugs at wrong places stops, and reaches no goal by a pose in doubt."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import numpy as np  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from miswired_plant import MiswiredPlant  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_controller.goals.goal_life import NO_PROGRESS, REACHED, REFUSED, STOPPED  # noqa: E402
from c3p_controller.ros.goal_interface import RESULTS  # noqa: E402
from c3p_kinematics import residual_alarm  # noqa: E402
from c3p_kinematics.residual_alarm import Doubt  # noqa: E402
from c3p_kinematics.ros import alarm_report  # noqa: E402
from c3p_kinematics.wiring_hypotheses import wirings  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402


class Heard:
    """Results of goals, and the alarms of the odometry."""

    def __init__(self, bench):
        self.results = bench.collect(DiagnosticStatus, 'position_controller/result', RESULTS)
        self.alarms = bench.collect(DiagnosticStatus, 'sensed_kinematics/alarm', LATCHED)

    @property
    def reasons(self):
        return [result.values[0].value for result in self.results]


def plug(bench, text):
    """Plug the joints of the simulated robot as the wiring called `text`; return its plant."""
    simulation = bench.nodes['simulation']
    right = simulation.plant
    wiring = next(w for w in wirings(3) if w.text() == text)
    simulation.plant = MiswiredPlant(right, wiring, wiring.parts == 'modules')
    return right


@pytest.mark.parametrize('in_process_robot', ['mpc', 'paper'], indirect=True)
@pytest.mark.parametrize('text', ['casters 1 and 2 exchanged',
                                  'wheel encoders of casters 1 and 3 exchanged',
                                  'steering encoder of caster 1 reversed'])
def test_it_stops_names_the_wiring_and_reaches_no_goal(in_process_robot, text):
    bench = in_process_robot
    heard = Heard(bench)
    plug(bench, text)
    bench.goal(1.0, 0.3, 0.8)
    bench.wait_for(lambda: heard.reasons, 'the end of the goal', 20.0)
    result = heard.results[-1]
    assert heard.reasons == [STOPPED] and 'the joints contradict' in result.message
    alarm = heard.alarms[-1]
    assert alarm.level == DiagnosticStatus.ERROR and 'times their deviation' in alarm.message
    assert text in [value.key for value in alarm.values]
    # within the first metre, and nothing moves afterwards
    bench.wait_for(lambda: bench.speed() < 0.005, 'rest', 5.0)
    assert np.hypot(*bench.pose()[:2]) < 0.5
    place = bench.pose()
    bench.goal(1.0, 0.0, 0.0)
    bench.run(3.0)
    assert heard.reasons[-1] == REFUSED and 'the pose is unknown' in (
        heard.results[-1].message)
    assert np.abs(np.array(bench.pose()) - place).max() < 2e-3
    assert bench.health['velocity_controller'].level == DiagnosticStatus.ERROR


@pytest.mark.parametrize('in_process_robot', ['mpc', 'paper'], indirect=True)
def test_wheels_that_count_against_their_motors_stop_in_a_doubt(in_process_robot):
    """A brake by their rates would accelerate them."""
    bench = in_process_robot
    heard = Heard(bench)
    plug(bench, 'all wheel encoders reversed')
    bench.goal(1.5, 0.0, 0.0)
    bench.wait_for(lambda: heard.reasons, 'the end of the goal', 20.0)
    assert heard.reasons == [STOPPED]
    assert heard.alarms[-1].values[-1].key == residual_alarm.BACKWARDS
    bench.wait_for(lambda: bench.speed() < 0.005, 'rest', 5.0)
    assert np.hypot(*bench.pose()[:2]) < 0.5


@pytest.mark.parametrize('in_process_robot', ['mpc', 'paper'], indirect=True)
@pytest.mark.parametrize('goal', [(0.0, 1.5, 0.0), (1.0, 0.3, 0.8)])
def test_wheels_that_count_against_their_motors_do_not_run_away(in_process_robot, goal):
    """Straight ahead with parallel casters no joint contradicts another."""
    bench = in_process_robot
    heard = Heard(bench)
    plug(bench, 'all wheel encoders reversed')
    bench.goal(*goal)
    bench.wait_for(lambda: heard.reasons, 'the end of the goal', 20.0)
    place = np.array(bench.pose())
    bench.wait_for(lambda: bench.speed() < 0.02, 'rest', 5.0)
    # it is locked at 33 rad/s, 1.3 m/s
    assert np.hypot(*(np.array(bench.pose()) - place)[:2]) < 1.6
    bench.run(2.0)
    assert bench.speed() < 0.02


def test_it_drives_again_after_its_plugs_were_changed_and_the_odometry_reset(in_process_robot):
    bench = in_process_robot
    heard = Heard(bench)
    right = plug(bench, 'casters 1 and 2 exchanged')
    bench.goal(1.0, 0.3, 0.8)
    bench.wait_for(lambda: heard.reasons == [STOPPED], 'the stop', 20.0)
    bench.nodes['simulation'].plant = right
    bench.wait_for(lambda: bench.speed() < 0.005, 'rest', 5.0)
    assert bench.call(Trigger, 'sensed_kinematics/reset_odometry').success
    bench.wait_until_unlocked()
    place = bench.pose()
    bench.run(1.0)
    # the goal that ended is not continued
    assert np.abs(np.array(bench.pose()) - place).max() < 1e-3
    assert heard.alarms[-1].level == DiagnosticStatus.OK
    bench.goal(0.5, 0.0, 0.0)
    bench.wait_for(lambda: heard.reasons[-1] == REACHED, 'the goal', 20.0)


def test_a_goal_is_not_reached_during_an_alarm_and_is_after_its_end(in_process_robot,
                                                                    monkeypatch):
    bench = in_process_robot
    heard = Heard(bench)
    for module in (residual_alarm, alarm_report):
        monkeypatch.setattr(module, 'doubt_of', lambda *_: Doubt.DOUBTED)
    bench.goal(0.0, 0.3, 0.0)
    bench.run(6.0)
    assert bench.speed() < 0.005 and np.hypot(bench.pose()[0], bench.pose()[1] - 0.3) < 0.02
    assert not heard.reasons and heard.alarms[-1].level == DiagnosticStatus.WARN
    monkeypatch.undo()
    bench.wait_for(lambda: heard.reasons == [REACHED], 'the goal', 2.0)


def test_a_goal_in_an_alarm_that_lasts_ends_without_progress_and_with_its_reason(
        in_process_robot, monkeypatch):
    bench = in_process_robot
    heard = Heard(bench)
    for module in (residual_alarm, alarm_report):
        monkeypatch.setattr(module, 'doubt_of', lambda *_: Doubt.DOUBTED)
    bench.goal(0.0, 0.3, 0.0)
    bench.wait_for(lambda: heard.reasons, 'the end of the goal', 30.0)
    result = heard.results[-1]
    assert heard.reasons == [NO_PROGRESS] and 'the pose is in doubt' in result.message
