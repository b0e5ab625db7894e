# SPDX-License-Identifier: Apache-2.0
"""Two robots from one launch file: goals, counts, frames."""

import numpy as np
import pytest

NEEDS = 'needs launch and launch_ros, which come with a ROS 2 installation'
rclpy = pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

from graph_watch import GraphWatch  # noqa: E402
from launch_reading import parameters_of, processes_of  # noqa: E402
from patience import patient_parameters  # noqa: E402


def test_each_robot_has_its_namespace_start_and_frames_and_both_the_rest(prefix):
    robots = processes_of('two_robots.launch.py', controller='paper', namespace_2='left',
                          start_pose_2='[0, 1, 0]', robot='c3p_25kg')
    assert [name for name, _ in robots] == ['robot_nodes', 'robot_nodes']
    for (_, words), space, pose in zip(robots, ('robot1', 'left'),
                                       ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0]), strict=True):
        assert {f'__ns:=/{space}', '/tf:=tf', '/tf_static:=tf_static', '--sim'} < set(words)
        parameters = parameters_of(words)
        assert parameters['/**']['robot'] == 'c3p_25kg'
        assert parameters['/**/simulation'] == {'plant': 'analytic', 'start_pose': pose}
        assert parameters['/**/velocity_controller']['controller'] == 'paper'


def test_each_robot_has_a_window_with_its_name_and_its_frames(others):
    started = processes_of('two_robots.launch.py', rviz='true', namespace_2='left')
    windows = [words for name, words in started if name == 'rviz2']
    assert [name for name, _ in started].count('marker_node') == len(windows) == 2
    for words, space in zip(windows, ('robot1', 'left'), strict=True):
        assert words[words.index('-t') + 1].startswith('{NAMESPACE}')
        assert {f'__ns:=/{space}', '/tf:=tf', '/tf_static:=tf_static'} < set(words)


def test_two_robots_run_and_nothing_of_one_reaches_the_other(launch_file, tmp_path):
    running = launch_file('two_robots.launch.py', 'controller:=mpc',
                          f'params_file:={patient_parameters(tmp_path, "/**/")}')
    watch = GraphWatch('robot1', 'robot2')
    frames = {}
    tf2_msgs = pytest.importorskip('tf2_msgs.msg', reason=NEEDS)
    for space in watch.namespaces:
        watch.node.create_subscription(
            tf2_msgs.TFMessage, f'/{space}/tf', lambda m, s=space: frames.setdefault(
                s, set()).update((t.header.frame_id, t.child_frame_id) for t in m.transforms), 10)
    try:
        watch.wait(watch.ready, 'two robots')
        # they drive in nodes/test_two_robots.py
        assert watch.strangers() == set()
        assert {space: np.round(place, 2).tolist() for space, place in watch.truth.items()} == {
            'robot1': [0.0, 0.0], 'robot2': [2.0, 0.0]}
        # each has a whole tree of its own, with the names of REP 105, and nobody a common one
        assert {space: ('odom', 'base_footprint') in tree for space, tree in frames.items()} == {
            'robot1': True, 'robot2': True}
        assert watch.node.count_publishers('/tf') == 0
    finally:
        watch.close()
    code, output = running.interrupt()
    assert code == 0 and 'Traceback' not in output, output
