# SPDX-License-Identifier: Apache-2.0
"""What happens when something stops coming, and what it takes to move again."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from builtin_interfaces.msg import Time  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import PoseWithCovarianceStamped  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_dynamics.inverse_dynamics_node import InverseDynamicsNode  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.frames import fill_pose  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

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
    end = time.monotonic() + 0.1
    bench.command_until(lambda: time.monotonic() > end, 'zero', 0.0, 0.0, 0.0)
    bench.command_until(lambda: bench.speed() > 0.1, 'moving again', 0.0, 0.3, 0.0)


def test_nothing_moves_by_itself_after_the_start_while_commands_do_not_pause(bench):
    bench.add_robot()
    bench.wait_for(lambda: bench.truth, 'the simulation')
    stays_at_rest(bench, 0.0, 0.3, 0.0, seconds=1.5)
    assert says(bench, 'velocity_controller', DiagnosticStatus.WARN, 'starting')()
    follows_after_zero(bench)


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


@pytest.mark.parametrize('victim, factory, lost', [
    ('sensed_kinematics', SensedKinematicsNode, 'odom'),
    ('inverse_dynamics', InverseDynamicsNode, 'dynamics_effort')])
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


def test_silence_unlocks_as_a_zero_command_does(in_process_robot):
    bench = moving(in_process_robot)
    bench.remove('inverse_dynamics')
    bench.command_until(says(bench, 'velocity_controller', DiagnosticStatus.ERROR, 'no dyn'),
                        'the error', 0.0, 0.3, 0.0)
    bench.add(InverseDynamicsNode)
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
                   'giving up', 1.0)
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


def test_parameters_change_while_driving_without_a_jolt(in_process_robot):
    bench = moving(in_process_robot)
    for k, gain in enumerate([10.0, 20.0, 5.0, 20.0]):
        end = time.monotonic() + 0.2
        bench.command_until(lambda e=end: time.monotonic() > e, 'time', 0.0, 0.3, 0.0)
        assert bench.set_parameter('velocity_controller', 'linear_gain', gain).successful, k
        assert 0.2 < bench.speed() < 0.4
    assert not bench.set_parameter('velocity_controller', 'linear_gain', -1.0).successful
    assert bench.set_parameter('velocity_controller', 'speed_limit', 0.15).successful
    bench.command_until(lambda: bench.speed() < 0.17, 'slowing down', 0.0, 0.3, 0.0)
    assert bench.set_parameter('velocity_controller', 'cmd_vel_timeout', 0.1).successful
    bench.wait_for(lambda: bench.speed() < AT_REST, 'rest', 0.1 + 0.15 + 0.5)


def test_a_simulation_that_starts_anew_is_a_new_time_line_and_nobody_moves_on(bench):
    simulated = {'publish_clock': True, 'realtime_factor': 2.0}
    bench.add_robot(simulation=simulated, **{name: {'use_sim_time': True} for name in (
        'sensed_kinematics', 'position_controller', 'velocity_controller', 'inverse_dynamics')})
    bench.wait_until_unlocked()
    never_set = Time()
    bench.goal(0.0, 3.0, 0.0, stamp=never_set)
    bench.wait_for(lambda: bench.speed() > 0.2, 'driving')
    bench.remove('simulation')
    bench.add(SimulationNode, **simulated)
    bench.wait_for(says(bench, 'position_controller', DiagnosticStatus.WARN, 'time went back'),
                   'giving up')
    bench.run(0.5)
    assert bench.speed() < AT_REST and np.linalg.norm(bench.pose()) < 0.02
    bench.wait_until_unlocked()
    bench.goal(0.0, 0.5, 0.0, stamp=never_set)
    bench.wait_for(lambda: bench.speed() > 0.1, 'the new goal')
