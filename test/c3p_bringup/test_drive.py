# SPDX-License-Identifier: Apache-2.0
"""``c3p drive`` as a user starts it: figures, picture, exit codes, the same drive twice."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from drive_process import KEYS, c3p, check_figures  # noqa: E402
from synthetic import opened, read_topics  # noqa: E402

from c3p_bags.report.numbers import run_numbers  # noqa: E402
from c3p_bags.report.run import read  # noqa: E402
from c3p_bringup.choices import PLANTS, law_names  # noqa: E402
from c3p_bringup.cli.main import main  # noqa: E402
from c3p_bringup.options import LATENCY, DriveOptions, parameter_files  # noqa: E402
from c3p_controller import CONTROLLERS  # noqa: E402
from c3p_controller.position_controller_node import PositionControllerNode  # noqa: E402
from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_ros.parameters import read_schema  # noqa: E402

SCHEMAS = Path(__file__).parents[2] / 'c3p_simulation'


@pytest.fixture(scope='module')
def lockstep(tmp_path_factory):
    """Two runs of the same drive in lockstep: (process, figures, directory) of each."""
    runs = []
    for _ in range(2):
        out = tmp_path_factory.mktemp('drive')
        done = c3p('drive', 4, 0, 0, '--realtime-factor', 0, '--bag', '--out', out, '--json',
                   out / 'figures.json')
        assert done.returncode == 0, done.stderr + done.stdout
        runs.append((done, json.loads((out / 'figures.json').read_text()), out))
    return runs


@pytest.mark.slow
def test_lockstep_drive_reaches_its_goal_and_says_all_figures(lockstep):
    done, figures, out = lockstep[0]
    check_figures(figures)
    assert figures['overruns'] == 0
    assert 'reached' in done.stdout and 'Traceback' not in done.stderr
    for kind, start in (('picture', b'\x89PNG'), ('picture_pdf', b'%PDF')):
        with open(figures['files'][kind], 'rb') as file:
            assert file.read(4) == start
    assert (out / 'bag' / 'metadata.yaml').is_file()


def recorded(directory, topic, part):
    """Return {stamp in ns: numbers} of a topic of a kept bag."""
    return {m.message.header.stamp.sec * 10**9 + m.message.header.stamp.nanosec: part(m.message)
            for m in read_topics(directory / 'bag', [topic])}


def pose_and_twist(message):
    pose, twist = message.pose.pose, message.twist.twist
    return [pose.position.x, pose.position.y, pose.orientation.z, pose.orientation.w,
            twist.linear.x, twist.linear.y, twist.angular.z]


def from_first_command(directory, topic, part):
    """Return the numbers of each cycle, counted from the first command towards the goal."""
    begin = min(recorded(directory, '/cmd_vel', lambda m: None))
    return np.array([numbers for stamp, numbers in sorted(recorded(
        directory, topic, part).items()) if stamp >= begin])


@pytest.mark.slow
@pytest.mark.parametrize('topic, part', [
    ('/odom', pose_and_twist), ('/ground_truth/odom', pose_and_twist),
    ('/wheel_effort', lambda m: list(m.effort))])
def test_two_lockstep_drives_are_the_same(lockstep, topic, part):
    """
    From the first command on: the goal comes from outside, in whatever cycle runs then.

    The odometry's time is a sum since its start, so that its steps differ in the last digit; a
    closed loop that is stable does not make more of that.
    """
    one, other = (from_first_command(out, topic, part) for _, _, out in lockstep)
    count = min(len(one), len(other))
    assert count > 1500
    assert np.abs(one[:count] - other[:count]).max() <= 1e-9


@pytest.mark.slow
def test_the_same_figures_come_from_the_bag_alone(lockstep):
    _, figures, out = lockstep[0]
    again = run_numbers(opened(read, out / 'bag', yaw_tolerance=math.inf))
    assert {k: again[k] for k in KEYS} == {k: figures[k] for k in KEYS}


@pytest.mark.slow
def test_a_goal_zone_from_a_parameter_file_is_that_of_the_figures(tmp_path):
    given = tmp_path / 'given.yaml'
    given.write_text(yaml.safe_dump({
        '/**/position_controller': {'ros__parameters': {'goal_tolerance': 0.005}}}))
    out = tmp_path / 'out'
    done = c3p('drive', 0.5, 0, 0, '--realtime-factor', 0, '--params-file', given, '--bag',
               '--out', out, '--json', out / 'figures.json')
    assert done.returncode == 0, done.stderr + done.stdout
    figures = json.loads((out / 'figures.json').read_text())
    # a report takes the zone from the bag; in the usual one it is sooner
    same = run_numbers(opened(read, out / 'bag'))
    wide = run_numbers(opened(read, out / 'bag', goal_tolerance=0.05))
    assert figures['time_s'] == same['time_s'] > wide['time_s'] + 0.1
    assert figures['final_error_m'] < 0.005


@pytest.fixture
def nodes_told(tmp_path):
    """Return a function that gives the parameters which nodes have with these files."""
    started = []

    def told(options):
        context = rclpy.Context()
        files = parameter_files(options, tmp_path / 'bag', tmp_path)
        rclpy.init(context=context, args=['--ros-args', *(
            part for file in files for part in ('--params-file', str(file)))])
        nodes = [kind(context=context) for kind in (VelocityControllerNode,
                                                    PositionControllerNode)]
        started.extend([*nodes, context])
        return [node.parameters.value for node in nodes]
    yield told
    for one in started:
        one.destroy_node() if hasattr(one, 'destroy_node') else one.try_shutdown()


@pytest.mark.parametrize('place', ['velocity_controller', '/**/velocity_controller',
                                   '/velocity_controller'])
def test_files_count_more_than_defaults_and_options_more_than_files(place, tmp_path, nodes_told):
    given = tmp_path / 'given.yaml'
    given.write_text(yaml.safe_dump({place: {'ros__parameters': {
        'controller': 'paper', 'linear_gain': 7}}}))
    velocity, position = nodes_told(DriveOptions(
        goal=(1.0, 0.0, 0.0), out=tmp_path, plant='mujoco', controller='mpc', parameters=[given]))
    assert velocity.controller == position.controller == 'mpc'
    assert velocity.linear_gain == 7.0
    assert velocity.mpc.latency == LATENCY['mujoco']
    given.write_text(yaml.safe_dump({place: {'ros__parameters': {'mpc.latency': 0.003}}}))
    velocity, _ = nodes_told(DriveOptions(
        goal=(1.0, 0.0, 0.0), out=tmp_path, plant='mujoco', parameters=[given]))
    assert velocity.mpc.latency == 0.003


def test_drives_offer_the_laws_and_plants_that_there_are():
    assert law_names() == CONTROLLERS
    plant = read_schema(SCHEMAS / 'plant_parameters.yaml')
    simulation = read_schema(SCHEMAS / 'simulation_parameters.yaml')
    assert set(PLANTS) == set(LATENCY) == set(plant['plant']['validation']['one_of<>'][0])
    # the analytic plant has none unless it is asked to
    assert LATENCY['mujoco'] == simulation['latency']['default_value']


def test_sensors_of_a_drive_reach_the_nodes_with_their_latency_and_timing(tmp_path):
    def files(**more):
        options = DriveOptions(goal=(1.0, 0.0, 0.0), out=tmp_path, **more)
        first, last = (yaml.safe_load(path.read_text())
                       for path in parameter_files(options, tmp_path / 'bag', tmp_path))
        return (first['/**/velocity_controller']['ros__parameters']['mpc.latency'],
                first['/**/sensed_kinematics']['ros__parameters'],
                last['simulation']['ros__parameters'].get('sensors'))

    exact = {'stamp_jitter': 0.0, 'sample_skew': 0.0}
    assert files() == (0.0, exact, None)
    assert files(plant='mujoco') == (0.010, exact, None)
    assert files(sensors='encoders') == (0.010, exact, 'encoders')
    # odometry keeps its defaults, which expect jitter and skew
    assert files(sensors='real') == (0.010, {}, 'real')
    own = tmp_path / 'own.yaml'
    own.write_text('latency: 0.02\n')
    assert files(sensors=f'{own}') == (0.02, exact, f'{own}')
    with pytest.raises(ValueError, match='sensors = best'):
        files(sensors='best')
    with pytest.raises(ValueError, match='motor cards have encoders of their own'):
        files(sensors='real', hardware='emulated')


@pytest.mark.slow
def test_a_drive_with_sensors_of_real_robots_reaches_its_goal(tmp_path):
    done = c3p('drive', 1.0, 0.3, 0.5, '--realtime-factor', 0, '--sensors', 'real', '--out',
               tmp_path, '--json', tmp_path / 'f.json')
    assert done.returncode == 0, done.stderr + done.stdout
    figures = json.loads((tmp_path / 'f.json').read_text())
    assert figures['reached'] is True
    assert figures['ground_truth_final_error_m'] <= 0.05


@pytest.mark.slow
def test_the_papers_law_reaches_a_goal_through_the_same_nodes(tmp_path):
    done = c3p('drive', 0.6, 0.3, 0.5, '--realtime-factor', 0, '--controller', 'paper', '--out',
               tmp_path, '--json', tmp_path / 'f.json')
    assert done.returncode == 0, done.stderr + done.stdout
    figures = json.loads((tmp_path / 'f.json').read_text())
    assert figures['reached'] is True and figures['failures'] == []
    assert figures['ground_truth_final_error_m'] <= 0.05


@pytest.mark.slow
def test_a_goal_that_cannot_be_reached_in_time_ends_with_code_1(tmp_path):
    done = c3p('drive', 50, 0, 0, '--realtime-factor', 0, '--timeout', 2, '--out', tmp_path,
               '--json', tmp_path / 'f.json')
    assert done.returncode == 1, done.stderr
    assert json.loads((tmp_path / 'f.json').read_text())['reached'] is False
    assert 'MISSED' in done.stdout and 'Traceback' not in done.stderr


@pytest.mark.parametrize('arguments, words', [
    (['drive', 'nan', '0', '0'], 'finite'), (['drive', '4', '0'], 'YAW'),
    (['drive', 'x', '0', '0'], 'X: x: must be'),
    (['drive', '4', '0', '0', '--realtime-factor', '-1'], 'negative')])
def test_what_is_no_command_ends_with_code_2_and_a_clear_text(capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize('arguments, words', [
    (['drive', '1', '0', '90'], 'for 90 degrees use 1.5708'),
    (['drive', '1', '0', '-90'], '--radians accepts any yaw'),
    (['drive', '1e6', '0', '0'], 'at most 1000 m away'),
    (['drive', '0', '-2000', '90', '--radians'], 'at most 1000 m away'),
    (['sim', '--start', '0', '0', '90'], 'for 90 degrees use 1.5708'),
    (['campaign', '--goal', '1', '0', '90'], 'for 90 degrees use 1.5708'),
    (['campaign', '--goal', '1e6', '0', '0'], 'at most 1000 m away')])
def test_a_pose_in_a_mistaken_unit_ends_with_code_2(capsys, tmp_path, monkeypatch,
                                                     arguments, words):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
    # nothing was begun
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_yaw_of_more_than_one_turn_is_driven_with_its_switch(tmp_path):
    done = c3p('drive', 0.4, 0, 2 * math.pi + 0.2, '--radians', '--realtime-factor', 0, '--out',
               tmp_path, '--json', tmp_path / 'f.json')
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / 'f.json').read_text())['reached'] is True


@pytest.mark.parametrize('arguments, words', [
    (['drive', 4, 0, 0, '--robot', 'no_such_robot'], 'no_such_robot'),
    (['drive', 4, 0, 0, '--start-steering', 10, 20], 'start_steering'),
    (['report', 'no_such_bag'], 'no_such_bag'),
    (['drive', 4, 0, 0, '--params-file', 'no_such_file.yaml'], 'no_such_file.yaml'),
])
def test_arguments_that_cannot_be_end_with_code_2_and_a_clear_text(tmp_path, arguments, words):
    done = c3p(*arguments, '--out', tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr and 'Traceback' not in done.stderr, done.stderr
