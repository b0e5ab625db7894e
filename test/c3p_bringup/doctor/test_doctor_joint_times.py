# SPDX-License-Identifier: Apache-2.0
"""The doctor shows the times of the joint samples that a running robot has measured."""

from threading import Event, Thread

import pytest

pytest.importorskip('rclpy', reason='needs rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_bringup.doctor import joint_times, ros  # noqa: E402
from c3p_bringup.doctor.check import Level, ok, warn  # noqa: E402
from c3p_kinematics.joint_times import TIMES  # noqa: E402

TEXT = 'joints are up to 9.1 ± 0.4 ms apart (steering_joint_1 newest, wheel_joint_2 oldest)'


def status(node, *pairs):
    return DiagnosticStatus(name=f'{node}: state', values=[
        KeyValue(key=key, value=value) for key, value in pairs])


def test_the_times_of_each_node_that_states_them_are_found():
    statuses = [status('r1/sensed_kinematics', ('period [ms]', '5'), (TIMES, TEXT)),
                status('velocity_controller', ('locked', 'no'))]
    found = joint_times.stated(statuses)
    assert found == {'r1/sensed_kinematics': TEXT}
    assert joint_times.measured(found).text == f'r1/sensed_kinematics: {TEXT}'
    assert 'not measured' in joint_times.measured({}).text
    assert joint_times.measured(found).level is Level.OK


@pytest.mark.real_time
def test_a_robot_that_runs_is_found_and_heard(open_bench):
    open_bench.collect(JointState, 'joint_states', 10)
    joints = open_bench.talker.create_publisher(JointState, 'joint_states', 10)
    publisher = open_bench.talker.create_publisher(DiagnosticArray, '/diagnostics', 10)
    message = DiagnosticArray(status=[status('sensed_kinematics', (TIMES, TEXT))])
    ended = Event()

    def publish():
        while not ended.wait(0.1):
            publisher.publish(message)

    thread = Thread(target=publish)
    thread.start()
    try:
        # discovery takes longer on a busy machine
        assert any('/joint_states from ' in ros.company(wait).text
                   for wait in (0.5, 2.0, 5.0, 10.0))
        assert any(TEXT in joint_times.heard(wait).text for wait in (2.0, 5.0, 10.0))
    finally:
        ended.set()
        thread.join()
    for each in (joints, publisher):
        open_bench.talker.destroy_publisher(each)


@pytest.mark.parametrize('runs', [True, False])
def test_the_command_states_them_beside_a_robot_that_runs(capsys, monkeypatch, runs):
    company = (warn('robots on the air', '/joint_states from /driver', 'x') if runs else
               ok('robots on the air', 'none'))
    monkeypatch.setattr(ros, 'other_robots', lambda: company)
    monkeypatch.setattr(joint_times, 'joint_times', lambda: joint_times.measured({'n': TEXT}))
    main(['doctor'])
    assert (f'{TIMES:22}n: {TEXT}' in capsys.readouterr().out) is runs
