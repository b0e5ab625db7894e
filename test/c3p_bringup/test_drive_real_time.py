# SPDX-License-Identifier: Apache-2.0
"""``c3p drive`` against the clock on the wall."""

import json
import os
import signal

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from drive_process import KEYS, c3p, started  # noqa: E402
from patience import patient_parameters  # noqa: E402
from ros_bench import Bench  # noqa: E402
from std_msgs.msg import Float64  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_bringup.nodes import module_of  # noqa: E402
from c3p_bringup.processes import NodeProcess  # noqa: E402
from c3p_controller.goals.goal_life import CANCELLED, RESTARTED  # noqa: E402
from c3p_ros.participants import bound_participants  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402


@pytest.mark.slow
@pytest.mark.real_time
def test_real_time_drive_reaches_its_goal(tmp_path):
    done = c3p('drive', 4, 0, 0, '--params-file', patient_parameters(tmp_path), '--out', tmp_path,
               '--json', '-')
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    # how fast and how exact beside other programs is a benchmark's question
    assert set(figures) >= KEYS and figures['reached'] is True and figures['failures'] == []
    assert figures['max_wheel_torque_nm'] <= 1.2


def check_refused(done):
    """Assert that a command has ended at the other robot."""
    assert done.returncode == 2, done.stderr
    assert 'another robot' in done.stderr and '/simulation' in done.stderr
    assert 'ROS_DOMAIN_ID' in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.slow
@pytest.mark.real_time
def test_a_second_robot_on_the_same_topics_is_refused(tmp_path):
    bench = Bench(RealTime())
    try:
        bench.add(SimulationNode)
        for command in (['drive', 4, 0, 0, '--out', tmp_path], ['sim', '--duration', 60],
                        ['sim', '--robot', 'pvc_tricycle', '--duration', 60]):
            done = c3p(*command)
            check_refused(done)
            # nothing was started beside it
            assert 'lock:' not in done.stderr
        # one robot may be there for a command that moves it, not two
        bench.add(SimulationNode)
        for command in (['identify', '--excite', '--live'], ['calibrate', '--drive', '--live']):
            check_refused(c3p(*command, '--out', tmp_path / command[0]))
    finally:
        bench.close()


@pytest.mark.slow
@pytest.mark.real_time
def test_a_robot_whose_discovery_takes_long_is_refused_before_anything_starts(tmp_path):
    bench = Bench(RealTime())
    domain = bench.context.get_domain_id()
    robot = NodeProcess('simulation', module_of('simulation'), [], tmp_path / 'robot.log')
    try:
        bench.wait_for(lambda: bench.talker.count_publishers('/joint_states'), 'the robot')
        # as on a computer that is too busy to answer
        os.kill(robot.pid, signal.SIGSTOP)
        before = bound_participants(domain)
        with started(tmp_path / 'log', 'drive', 4, 0, 0, '--out', tmp_path) as drive:
            bench.wait_for(lambda: bound_participants(domain) > before, 'the drive')
            bench.run(1.5)
            os.kill(robot.pid, signal.SIGCONT)
            bench.wait_for(lambda: drive.returncode is not None, 'the end')
            check_refused(drive)
        assert 'lock:' not in drive.stderr
    finally:
        os.kill(robot.pid, signal.SIGCONT)
        robot.stop()
        bench.close()


@pytest.mark.slow
@pytest.mark.real_time
def test_a_robot_that_appears_during_a_drive_ends_it_and_its_goal(tmp_path):
    bench = Bench(RealTime())
    distances = bench.collect(Float64, 'position_controller/distance_to_goal')
    results = bench.collect(DiagnosticStatus, 'position_controller/result')
    try:
        with started(tmp_path / 'log', 'drive', 4, 0, 0, '--out', tmp_path) as drive:
            bench.wait_for(lambda: distances, 'the goal')
            bench.add(SimulationNode)
            bench.wait_for(lambda: drive.returncode is not None, 'the end')
            check_refused(drive)
        # by the command, or before by the position controller, which sees the other robot as well
        ended, = (result.message.split(':')[0] for result in results)
        assert ended in (CANCELLED, RESTARTED), ended
    finally:
        bench.close()
