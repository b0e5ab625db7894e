# SPDX-License-Identifier: Apache-2.0
"""A fault ends a drive at once, and its text comes first; a goal is not reached with it."""

import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402

from c3p_bringup import drive  # noqa: E402
from c3p_bringup.cli.report import drive_summary  # noqa: E402
from c3p_bringup.drive_client import DriveClient  # noqa: E402
from c3p_bringup.drive_report import mark_missed  # noqa: E402
from c3p_bringup.drive_story import PERSISTS, DriveStory  # noqa: E402
from c3p_bringup.options import DriveOptions  # noqa: E402

MOTORS = 'motors: drive of wheel_joint_1 (node 1): no response; check its cable'
REACHED = {'reached': True, 'overruns': 138}
LOST = 'joint_states: none for 0.3 s: the pose stands still'


def story_at(time):
    story = DriveStory()
    story.goal(time)
    return story


@pytest.mark.parametrize('node, text, cause', [
    ('hardware_interface', MOTORS, MOTORS),
    ('hardware_interface', f'bus: no frames; {MOTORS}; late: encoder 2', MOTORS),
    ('sensed_kinematics', 'pose: unknown: more than one wheel; check; gap: 0.3 s',
     'pose: unknown: more than one wheel; check')])
def test_motors_that_are_off_and_an_unknown_pose_end_the_drive_at_once(node, text, cause):
    story = story_at(10.0)
    assert not story.look(10.4)
    story.error(10.4, node, text)
    assert story.look(10.4)
    story.end(20.4, 'no progress', 'no progress for 10.0 s')
    assert story.missed(REACHED, 60.0, 1.5) == (
        f'{node}: {cause}, 0.4 s after the goal, 1.500 m away')
    # motors stay off when their error is no longer published
    story.error(10.5, node, '')
    assert story.look(10.6) and story.fault


def test_an_error_that_follows_from_another_does_not_hide_it():
    story = story_at(0.0)
    story.error(1.0, 'sensed_kinematics', LOST)
    story.error(1.2, 'hardware_interface', MOTORS)
    assert story.look(1.3) and story.fault == f'hardware_interface: {MOTORS}'
    story = story_at(0.0)
    story.error(1.0, 'hardware_interface', 'bus: no frames')
    story.error(1.2, 'hardware_interface', f'bus: no frames; {MOTORS}')
    assert story.look(1.3) and story.fault == f'hardware_interface: {MOTORS}'


def test_other_errors_and_locks_end_it_when_they_persist():
    for record, recover, fault in (
            (lambda story, time: story.error(time, 'sensed_kinematics', LOST),
             lambda story, time: story.error(time, 'sensed_kinematics', ''),
             f'sensed_kinematics: {LOST}'),
            (lambda story, time: story.lock(time, 'no odometry'),
             lambda story, time: story.lock(time, ''), 'locked: no odometry')):
        story = story_at(0.0)
        # a pause of the computer
        record(story, 1.0)
        assert not story.look(0.9 + PERSISTS)
        recover(story, 0.95 + PERSISTS)
        assert not story.look(2.0 + PERSISTS)
        record(story, 10.0)
        record(story, 12.0)
        assert not story.look(9.9 + PERSISTS)
        assert story.look(10.1 + PERSISTS)
        assert story.missed(REACHED, 60.0, None) == f'{fault}, 10.0 s after the goal'


def test_nodes_that_do_not_move_the_robot_end_nothing():
    story = story_at(0.0)
    story.error(1.0, 'recorder', 'motors: the disk is full')
    assert not story.look(100.0) and story.missed(REACHED, 60.0, 0.0) == ''


def test_a_new_goal_forgets_the_faults_of_the_one_before():
    story = story_at(0.0)
    story.error(1.0, 'hardware_interface', MOTORS)
    story.lock(1.0, 'no odometry')
    assert story.look(1.0)
    story.goal(50.0)
    assert not story.look(100.0) and story.missed(REACHED, 60.0, 0.0) == ''


def test_a_goal_with_a_fault_is_not_reached_and_its_cause_is_the_second_line():
    metrics = {'reached': True, 'missed': None}
    mark_missed(metrics, '')
    assert metrics == {'reached': True, 'missed': None}
    mark_missed(metrics, f'hardware_interface: {MOTORS}')
    assert metrics['reached'] is False
    lines = drive_summary(metrics).splitlines()
    assert lines[0].split() == ['goal', 'MISSED'] and lines[1].endswith(MOTORS)


@pytest.mark.parametrize('node, text', [
    ('hardware_interface', MOTORS), ('sensed_kinematics', 'pose: unknown')])
def test_a_drive_ends_within_a_tenth_of_a_second_of_its_fault(in_process_robot, tmp_path, node,
                                                              text):
    bench = in_process_robot
    client = DriveClient(context=bench.context)
    bench.executor.add_node(client)

    class Spun:
        """A search for other robots that finds none."""

        def until(self, condition, period=0.05):
            while not condition():
                bench.run(period)

    publisher = bench.talker.create_publisher(DiagnosticArray, '/diagnostics', 10)
    told = []

    def progress(seconds, distance):
        if seconds > 0.3 and not told:
            told.append(time.monotonic())
            publisher.publish(DiagnosticArray(status=[DiagnosticStatus(
                level=DiagnosticStatus.ERROR, name=f'{node}: state', message=text)]))

    options = DriveOptions(goal=(1.0, 0.0, 0.0), out=tmp_path)
    try:
        drive._send_goal(options, Spun(), client)
        drive._follow(options, Spun(), client, [], progress)
        assert time.monotonic() - told[0] < 0.1
        assert client.story.fault == f'{node}: {text}'
    finally:
        bench.executor.remove_node(client)
        client.destroy_node()
