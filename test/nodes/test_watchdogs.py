# SPDX-License-Identifier: Apache-2.0
"""What happens when something stops coming, and what it takes to move again."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from builtin_interfaces.msg import Time  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import PoseWithCovarianceStamped  # noqa: E402
from std_msgs.msg import Bool, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_controller.position_controller_node import PositionControllerNode  # noqa: E402
from c3p_dynamics.inverse_dynamics_node import InverseDynamicsNode  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.messages import fill_pose  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

# laws of every kind: in two steps with the inverse dynamics, and in one
EVERY = pytest.mark.parametrize('in_process_robot', ['paper', 'mpc'], indirect=True)

AT_REST = 0.01
# cmd_vel_timeout 0.5 s, then 0.3 m/s at stop_acceleration 1 m/s², and a margin for a busy machine
CONTROLLED_STOP = 0.5 + 0.3 + 0.7
# chain_timeout 0.2 s and command_timeout 0.2 s, then braking with stop_damping
BRAKED_STOP = 0.4 + 2.0


def moving(bench):
    """Bring the robot to 0.3 m/s along +Y by commands."""
    bench.command(0.0, 0.0, 0.0)
    bench.command_until(lambda: bench.speed() > 0.29, 'moving', 0.0, 0.3, 0.0)
    return bench


def says(bench, node, level, text):
    """Return a condition: the node's last diagnostics have this level and text."""
    return lambda: (node in bench.health and bench.health[node].level == level
                    and text in bench.health[node].message)


def stays_at_rest(bench, *command, seconds=0.7):
    """Fail when the robot moves although somebody goes on commanding."""
    end = time.monotonic() + seconds

    def rest():
        assert bench.speed() < AT_REST
        return time.monotonic() > end

    bench.command_until(rest, 'time', *(command or (0.0, 0.3, 0.0)))


def follows_after_zero(bench):
    """A zero command unlocks, and then the robot moves again."""
    bench.let_go_and_move(0.0, 0.3, 0.0, speed=0.1)


@pytest.mark.parametrize('controller', ['paper', 'mpc'])
def test_nothing_moves_by_itself_after_the_start_while_commands_do_not_pause(bench, controller):
    bench.add_robot(controller)
    bench.wait_for(lambda: bench.truth, 'the simulation')
    stays_at_rest(bench, 0.0, 0.3, 0.0, seconds=1.0)
    assert says(bench, 'velocity_controller', DiagnosticStatus.WARN, 'starting')()
    follows_after_zero(bench)


@EVERY
def test_commands_that_stop_coming_end_in_a_controlled_stop(in_process_robot):
    bench = moving(in_process_robot)
    begin, before = time.monotonic(), bench.pose()
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', CONTROLLED_STOP)
    assert time.monotonic() - begin > 0.5
    # 0.3 m/s for the timeout and 4.5 cm to stop, half of which again for delays
    assert np.linalg.norm(bench.pose()[:2] - before[:2]) < 1.5 * (0.15 + 0.045)
    bench.wait_for(says(bench, 'velocity_controller', DiagnosticStatus.WARN, 'the robot stands'),
                   'the warning', 1.2)
    bench.run(0.3)
    assert not np.any(bench.effort[-1].effort)
    # nothing was broken: a new command is followed at once
    bench.command_until(lambda: bench.speed() > 0.1, 'moving again', 0.0, 0.3, 0.0)


@pytest.mark.parametrize('in_process_robot, victim, factory, lost', [
    ('paper', 'inverse_dynamics', InverseDynamicsNode, 'dynamics_effort'),
    ('mpc', 'sensed_kinematics', SensedKinematicsNode, 'odom')], indirect=['in_process_robot'])
def test_a_broken_chain_brakes_and_moves_again_only_after_a_zero_command(
        in_process_robot, victim, factory, lost):
    bench = moving(in_process_robot)
    bench.remove(victim)
    bench.command_until(lambda: bench.speed() < AT_REST, 'rest', 0.0, 0.3, 0.0,
                        timeout=BRAKED_STOP)
    bench.wait_for(says(bench, 'velocity_controller', DiagnosticStatus.ERROR, f'no {lost}'),
                   'the error', 0.5)
    assert 'the wheels brake' in bench.health['velocity_controller'].message
    stays_at_rest(bench)
    bench.add(factory)
    stays_at_rest(bench)
    bench.wait_for(says(bench, 'velocity_controller', DiagnosticStatus.WARN, 'zero command'),
                   'the lock', 1.5)
    follows_after_zero(bench)


def test_the_inverse_dynamics_is_missed_by_nobody_but_the_papers_law(in_process_robot):
    bench = moving(in_process_robot)
    bench.remove('inverse_dynamics')
    end = time.monotonic() + 0.5
    bench.command_until(lambda: time.monotonic() > end, 'time', 0.0, 0.3, 0.0)
    assert bench.speed() > 0.25


def test_silence_unlocks_as_a_zero_command_does(in_process_robot):
    bench = moving(in_process_robot)
    bench.remove('sensed_kinematics')
    bench.command_until(says(bench, 'velocity_controller', DiagnosticStatus.ERROR, 'no odom'),
                        'the error', 0.0, 0.3, 0.0)
    bench.add(SensedKinematicsNode)
    bench.wait_until_unlocked()
    bench.command_until(lambda: bench.speed() > 0.1, 'moving again', 0.0, 0.3, 0.0)


def test_lost_joint_states_end_effort_goal_and_all(in_process_robot):
    bench = in_process_robot
    reached = bench.collect(Bool, 'position_controller/goal_reached', LATCHED)
    bench.goal(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    bench.remove('simulation')
    bench.effort.clear()
    for node, text in (('velocity_controller', 'no joint_states'),
                       ('sensed_kinematics', 'joint_states: none for')):
        bench.wait_for(says(bench, node, DiagnosticStatus.ERROR, text), f'error of {node}', 1.0)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN, 'given up'),
                   'giving up', 3.0)
    bench.wait_for(lambda: bench.effort and not np.any(bench.effort[-1].effort), 'zero effort')
    assert not any(m.data for m in reached)
    # the robot comes back: it stands, because the goal is gone
    bench.add(SimulationNode)
    bench.run(1.5)
    assert bench.speed() < AT_REST
    bench.wait_until_unlocked()
    bench.goal(*(bench.pose() + [0.0, 0.4, 0.0]))
    bench.wait_for(lambda: bench.speed() > 0.05, 'the new goal')


def test_lost_odometry_gives_up_the_goal_and_a_new_one_is_driven_to(in_process_robot):
    bench = in_process_robot
    bench.goal(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    bench.remove('sensed_kinematics')
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', BRAKED_STOP)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN, 'no odometry'),
                   'giving up', 1.0)
    # there is no line to a goal from where the robot was before
    bench.goal(0.0, 0.5, 0.0)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN,
                        'goal_pose refused: no odometry for'), 'the refusal', 2.0)
    bench.add(SensedKinematicsNode)
    bench.run(1.0)
    assert bench.speed() < AT_REST
    bench.goal(0.0, 0.5, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.05, 'the new goal')


def test_a_lost_controller_leaves_the_wheels_to_their_gate(in_process_robot):
    bench = moving(in_process_robot)
    bench.remove('velocity_controller')
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', BRAKED_STOP)
    bench.wait_for(says(bench, 'simulation', DiagnosticStatus.WARN, 'they brake'), 'the reason',
                   0.5)


def test_cancel_stops_the_robot_and_says_whether_there_was_a_goal(in_process_robot):
    bench = in_process_robot
    answer = bench.call(Trigger, 'position_controller/cancel')
    assert not answer.success and 'no goal' in answer.message
    bench.goal(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    answer = bench.call(Trigger, 'position_controller/cancel')
    assert answer.success and answer.message == 'cancelled'
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', CONTROLLED_STOP + 0.5)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN, 'cancelled'),
                   'the reason', 1.0)


def test_a_new_goal_replaces_the_old_one_while_driving(in_process_robot):
    bench = in_process_robot
    reached = bench.collect(Bool, 'position_controller/goal_reached', LATCHED)
    bench.goal(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.pose()[1] > 0.15, 'driving')
    bench.goal(0.0, 0.3, 0.0)
    bench.wait_for(lambda: reached and reached[-1].data, 'arrival')
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest')
    assert bench.pose()[:2] == pytest.approx([0.0, 0.3], abs=0.05)


def test_odometry_is_set_and_reset_at_rest(in_process_robot):
    bench = in_process_robot

    def odometry():
        pose = bench.odom[-1].pose.pose.position
        return np.array([pose.x, pose.y])

    message = PoseWithCovarianceStamped()
    message.header.frame_id = 'odom'
    fill_pose(message.pose.pose, (5.0, -3.0, 1.0))
    bench.publisher(PoseWithCovarianceStamped, 'sensed_kinematics/set_pose').publish(message)
    bench.wait_for(lambda: np.allclose(odometry(), [5.0, -3.0]), 'the pose', 2.0)
    assert bench.call(Trigger, 'sensed_kinematics/reset_odometry').success
    bench.wait_for(lambda: np.allclose(odometry(), [0.0, 0.0]), 'the origin', 2.0)
    assert bench.speed() < AT_REST


@pytest.mark.parametrize('in_process_robot, name, values, impossible', [
    ('paper', 'linear_gain', [10.0, 20.0, 5.0, 20.0], -1.0),
    ('mpc', 'mpc.along_weight', [100.0, 400.0, 50.0, 200.0], -1.0)], indirect=['in_process_robot'])
def test_parameters_change_while_driving_without_a_jolt(in_process_robot, name, values,
                                                        impossible):
    bench = moving(in_process_robot)
    for value in values:
        end = time.monotonic() + 0.2
        bench.command_until(lambda e=end: time.monotonic() > e, 'time', 0.0, 0.3, 0.0)
        assert bench.set_parameter('velocity_controller', name, value).successful
        assert 0.2 < bench.speed() < 0.4
    assert not bench.set_parameter('velocity_controller', name, impossible).successful
    assert bench.set_parameter('velocity_controller', 'speed_limit', 0.15).successful
    bench.command_until(lambda: bench.speed() < 0.17, 'slowing down', 0.0, 0.3, 0.0)
    assert bench.set_parameter('velocity_controller', 'cmd_vel_timeout', 0.1).successful
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', 0.1 + 0.15 + 0.5)


def test_a_law_that_gives_no_number_brakes_and_waits_for_a_zero_command(in_process_robot):
    bench = moving(in_process_robot)
    law = bench.nodes['velocity_controller']._law.law
    good, law.step = law.step, lambda *_: np.full(3, np.nan)
    bench.command_until(lambda: bench.speed() < AT_REST, 'rest', 0.0, 0.3, 0.0,
                        timeout=BRAKED_STOP)
    bench.wait_for(says(bench, 'velocity_controller', DiagnosticStatus.ERROR, 'torque = [nan'),
                   'the error', 1.5)
    law.step = good
    stays_at_rest(bench)
    follows_after_zero(bench)


@pytest.mark.parametrize('in_process_robot', ['mpc'], indirect=True)
def test_a_command_that_is_too_fast_is_scaled_as_a_whole(in_process_robot):
    bench = in_process_robot
    assert bench.set_parameter('velocity_controller', 'speed_limit', 0.2).successful
    bench.command(0.0, 0.0, 0.0)
    bench.command_until(lambda: bench.speed() > 0.19, 'moving', 0.6, 1.2, 0.0)
    seen, end = [], time.monotonic() + 1.0

    def look():
        twist = bench.truth[-1].twist.twist
        seen.append([twist.linear.x, twist.linear.y])
        return time.monotonic() > end

    bench.command_until(look, 'time', 0.6, 1.2, 0.0)
    speed = np.hypot(*np.transpose(seen))
    assert speed.max() < 1.1 * 0.2 and np.median(speed) > 0.9 * 0.2
    # in the frame of the robot, whatever way that looks by now
    assert np.median(seen, axis=0) == pytest.approx(0.2 / 5.0**0.5 * np.array([1.0, 2.0]),
                                                    abs=0.03)


def test_a_simulation_that_starts_anew_is_a_new_time_line_and_nobody_moves_on(bench):
    simulated = {'publish_clock': True}
    bench.add_robot(simulation=simulated, **{
        name: {'use_sim_time': True} for name in (
            'sensed_kinematics', 'position_controller', 'velocity_controller',
            'inverse_dynamics')})
    bench.wait_until_unlocked()
    never_set = Time()
    bench.goal(0.0, 3.0, 0.0, stamp=never_set)
    bench.wait_for(lambda: bench.speed() > 0.2 and bench.seconds() > 2.5, 'driving')
    bench.remove('simulation')
    bench.add(SimulationNode, **simulated)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN, 'time went back'),
                   'giving up')
    bench.run(0.5)
    assert bench.speed() < AT_REST and np.linalg.norm(bench.pose()) < 0.02
    bench.wait_until_unlocked()
    bench.goal(0.0, 0.5, 0.0, stamp=never_set)
    bench.wait_for(lambda: bench.speed() > 0.1, 'the new goal')


def test_a_simulation_that_starts_anew_at_once_moves_nothing_either(bench):
    """Time that goes back by less than a restart is out of order, until it has caught up."""
    simulated = {'publish_clock': True}
    bench.add_robot(simulation=simulated, **{
        name: {'use_sim_time': True} for name in (
            'sensed_kinematics', 'position_controller', 'velocity_controller',
            'inverse_dynamics')})
    bench.wait_until_unlocked()
    bench.goal(0.0, 3.0, 0.0, stamp=Time())
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving')
    before = bench.seconds()
    assert before < 2.0
    bench.remove('simulation')
    bench.add(SimulationNode, **simulated)
    bench.wait_for(lambda: bench.seconds() < before, 'the new time')
    # beyond the time that was before, when its stamps count again
    bench.wait_for(lambda: bench.seconds() > before + 0.6, 'the old time')
    assert bench.speed() < AT_REST and np.linalg.norm(bench.pose()) < 0.01
    assert says(bench, 'position_controller', DiagnosticStatus.WARN, 'from a new publisher')()
    bench.wait_until_unlocked()


@EVERY
def test_a_pause_of_the_whole_chain_locks_and_one_zero_command_is_enough(in_process_robot):
    """The drives close while nobody answers; whoever goes on afterwards has to ask again."""
    bench = moving(in_process_robot)
    bench.pause(0.5)  # nothing of the chain runs; the simulation has a thread of its own
    bench.command_until(lambda: bench.speed() < AT_REST, 'rest', 0.0, 0.3, 0.0)
    bench.wait_for(says(bench, 'velocity_controller', DiagnosticStatus.WARN, 'nothing to answer'),
                   'the reason')
    stays_at_rest(bench)
    bench.command(0.0, 0.0, 0.0)
    bench.wait_for(lambda: bench.value('velocity_controller', 'locked') == 'no', 'unlocking')
    bench.command_until(lambda: bench.speed() > 0.1, 'moving again', 0.0, 0.3, 0.0)


def test_a_drive_that_a_pause_has_locked_goes_on_by_itself(in_process_robot):
    bench = in_process_robot
    bench.goal(0.0, 3.0, 0.0)
    bench.wait_for(lambda: bench.speed() > 0.3, 'driving')
    bench.pause(0.6)
    bench.wait_for(lambda: int(bench.value('position_controller', 'opened again') or 0) > 0,
                   'the lock, and zeros')
    bench.wait_for(lambda: bench.speed() > 0.45, 'driving again')
    assert bench.nodes['position_controller']._goals.life.number == 1


def test_a_start_that_is_reported_again_does_not_end_a_goal(bench):
    for factory in (SensedKinematicsNode, SimulationNode, PositionControllerNode):
        bench.add(factory)
    lock = bench.publisher(String, 'velocity_controller/lock', LATCHED)
    life = bench.nodes['position_controller']._goals.life
    bench.wait_for(lambda: bench.nodes['position_controller']._pose is not None, 'the odometry')
    lock.publish(String(data='starting'))
    bench.run(0.1)
    bench.goal(0.0, 1.0, 0.0)
    bench.wait_for(lambda: life.running, 'the goal')
    # once a second until it is unlocked
    lock.publish(String(data='starting'))
    bench.run(0.3)
    assert life.running
    lock.publish(String(data=''))
    bench.run(0.1)
    # and the start of another one does
    lock.publish(String(data='starting'))
    bench.wait_for(lambda: not life.running, 'the end of the goal')
