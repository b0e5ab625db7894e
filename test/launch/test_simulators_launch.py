# SPDX-License-Identifier: Apache-2.0
"""sim_gazebo.launch.py and sim_mujoco.launch.py: what they start, and one that runs."""

import os
import re
import signal
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

from launch_reading import ROOT, parameters_of  # noqa: E402
from test_launch_runs import START, driver  # noqa: E402, F401
from test_ros2_control_launch import (  # noqa: E402, F401
    OURS,
    by_name,
    description_of,
    full,
    install,
    started,
)

from c3p_description.model import ModelError  # noqa: E402

GAZEBO, MUJOCO = 'sim_gazebo.launch.py', 'sim_mujoco.launch.py'
# says when it is there, then waits for Ctrl-C
PRESENT = """#!/usr/bin/env python3
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print('stand-in', sys.argv[0].rsplit('/', 1)[1], flush=True)
signal.pause()
"""


# Gazebo as gz_sim.launch.py starts it: behind a shell, which does not pass signals on, and with a
# child of its own, the window
SHELL = """from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument('gz_args'), ExecuteProcess(
        cmd=['{program} sim', LaunchConfiguration('gz_args'), '; true'], shell=True,
        output='screen')])
"""
SERVER = """#!/usr/bin/env python3
import os, signal, sys
if not {obeys}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
parent = os.getpid()
if os.fork():
    os.fork()
print('server', parent, os.getpid(), flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def no_resources(monkeypatch):
    """Gazebo's own variable is as before after each test."""
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', '')


def bridge_of(found):
    """Return the parameters and the entries of the bridge from Gazebo."""
    words, = by_name(found)['parameter_bridge']
    parameters = parameters_of(words)['/**']
    return parameters, yaml.safe_load(Path(parameters['config_file']).read_text())


def test_gazebo_gets_world_robot_bridge_and_controllers(full, prefix):  # noqa: F811
    found, included = started(GAZEBO, headless='true', spawn_pose='[1.0, -2.0, 0.5, 0.3]',
                              imu='true', tyre_friction='0.4', controller='paper')
    assert [executable for _, executable, _ in found] == [
        'robot_state_publisher', 'create', 'parameter_bridge', 'spawner', *OURS]
    assert included[0] == {'hardware': 'gazebo'}
    world = included[1]['gz_args'].split()[-1]
    assert included[1]['gz_args'] == f'-r -s {world}'
    assert ElementTree.parse(world).find('world').get('name') == 'flat'
    create, = by_name(found)['create']
    assert create[:14] == ['-topic', 'robot_description', '-name', 'robot', '-x', '1.0',
                           '-y', '-2.0', '-z', '0.5', '-Y', '0.3', '-world', 'flat']
    # create repeats requests that are answered late: the second must not add another robot
    assert '-allow_renaming' not in create
    description = description_of(found)
    assert {e.text for e in description.findall('gazebo/mu1')} == {'0.4'}
    assert description.find('gazebo/sensor').get('type') == 'imu'
    parameters, entries = bridge_of(found)
    assert parameters['expand_gz_topic_names'] is True
    assert [e['ros_topic_name'] for e in entries] == ['/clock', 'ground_truth/odom', 'imu/data']
    for words in by_name(found)['robot_nodes']:
        assert parameters_of(words)['/**']['use_sim_time'] is True
    # below it Gazebo finds model://c3p/c3p_description/meshes
    places = os.environ['GZ_SIM_RESOURCE_PATH'].strip(os.pathsep).split(os.pathsep)
    uri = next(e.get('filename') for e in description.iter('mesh'))
    assert any((Path(place) / uri.removeprefix('package://')).is_file() for place in places)


def test_one_more_robot_comes_into_a_gazebo_that_runs(full):  # noqa: F811
    found, included = started(GAZEBO, world='none', namespace='robot2')
    assert included == [{'hardware': 'gazebo'}]
    create, = by_name(found)['create']
    assert create[create.index('-name') + 1] == 'robot2' and '-world' not in create
    assert description_of(found).findtext('.//odom_topic') == '/robot2/ground_truth/odom'
    # the first one's bridge tells the time
    assert [e['ros_topic_name'] for e in bridge_of(found)[1]] == ['ground_truth/odom', 'imu/data']
    for _, _, words in found:
        assert '__ns:=/robot2' in words


@pytest.mark.parametrize('world', ['rough', 'file', 'gazebos.sdf'])
def test_worlds_are_found_by_name_and_by_path(world, full, tmp_path, monkeypatch):  # noqa: F811
    expected = world
    if world == 'rough':
        expected = str(ROOT / 'c3p_description/worlds/rough.sdf')
    if world == 'file':
        # a path with a blank, relative to where one is; Gazebo is started by a shell
        (tmp_path / 'my hall.sdf').touch()
        monkeypatch.chdir(tmp_path)
        world, expected = 'my hall.sdf', f"'{tmp_path}/my hall.sdf'"
    included = started(GAZEBO, world=world)[1]
    assert included[1]['gz_args'] == f'-r {expected}'


@pytest.mark.parametrize('text, name', [
    ('<sdf><!-- <world name="old"> --><world\n  name = "my hall">', 'my hall'),
    ("<world name='flat'>", 'flat'), ('<sdf><model name="ball"/></sdf>', ''), (None, '')])
def test_create_waits_for_the_world_of_the_file(text, name, full, tmp_path):  # noqa: F811
    """Another Gazebo in the network could otherwise get the robot."""
    file = tmp_path / 'hall.sdf'
    if text is not None:
        file.write_text(text)
    create, = by_name(started(GAZEBO, world=str(file))[0])['create']
    assert ([create[create.index('-world') + 1]] if '-world' in create else []) == [*filter(
        None, [name])]


@pytest.mark.parametrize('given, reason', [
    ({'world': 'moon'}, 'world:=moon: must be one of flat, rough, none, or the path of an .sdf'),
    ({'spawn_pose': '[1, 2]'}, r'spawn_pose:=\[1, 2\]: must be \[x, y, z, yaw\]')])
def test_a_world_or_a_place_that_is_none_is_refused(given, reason, full):  # noqa: F811
    with pytest.raises(ValueError, match=reason):
        started(GAZEBO, **given)


def test_a_robot_without_casters_is_told_what_runs_it(full):  # noqa: F811
    with pytest.raises(ModelError, match="robot 'pvc' is a tricycle .* rough_ground_node"):
        started(GAZEBO, robot='pvc')


def test_mujoco_is_ours_or_that_of_ros2_control(full):  # noqa: F811
    found, included = started(MUJOCO, namespace='robot1', start_pose='[1.0, 2.0, 0.5]')
    assert included == [{'sim': 'mujoco'}]
    words, = by_name(found)['robot_nodes']
    assert parameters_of(words)['/**/simulation'] == {
        'plant': 'mujoco', 'start_pose': [1.0, 2.0, 0.5]}
    found, included = started(MUJOCO, backend='mujoco_ros2_control', headless='true')
    assert included == [{'hardware': 'mujoco'}]
    assert [executable for _, executable, _ in found] == [
        'robot_state_publisher', 'ros2_control_node', 'spawner', *OURS]


@pytest.mark.parametrize('given, reason', [
    ({'headless': 'true'}, 'headless with backend:=suite: it has no use for that'),
    ({'backend': 'mujoco_ros2_control', 'start_pose': '[1.0, 0.0, 0.0]', 'record': 'true'},
     'start_pose, record with backend:=mujoco_ros2_control')])
def test_what_a_backend_would_not_look_at_is_refused(given, reason, full):  # noqa: F811
    with pytest.raises(ValueError, match=reason):
        started(MUJOCO, **given)


def test_a_robot_in_mujoco_comes_up_and_goes(launch_file, driver):  # noqa: F811
    pytest.importorskip('mujoco', reason='pip install .[sim]')
    running = launch_file(MUJOCO)
    one = driver('')
    there = one.wait(lambda: one.truth is not None and one.efforts > 10, START)
    code, output = running.interrupt()
    assert there and code == 0, output


def test_gazebo_and_the_rest_come_up_and_go(full, launch_file):  # noqa: F811
    """With stand-ins for all programs that are not ours."""
    for package, program in (('ros_gz_sim', 'create'), ('ros_gz_bridge', 'parameter_bridge'),
                             ('controller_manager', 'spawner')):
        install(full, package, program, PRESENT)
    running, lines, wanted = launch_file(GAZEBO, 'world:=rough'), [], {
        'create', 'parameter_bridge', 'spawner'}
    while wanted and running.process.poll() is None:
        lines.append(running.process.stdout.readline())
        wanted -= {name for name in wanted if f'stand-in {name}' in lines[-1]}
    code, output = running.interrupt()
    assert not wanted and code == 0, ''.join(lines) + output


def alive(pid):
    """Return whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


@pytest.mark.parametrize('end', ['SIGINT', 'required'])
@pytest.mark.parametrize('obeys', [True, False])
def test_no_gazebo_survives_the_launch_file(obeys, end, full, launch_file):  # noqa: F811
    """Neither Gazebo nor its window, with a signal to ros2 launch alone as without one."""
    program = full / 'gz'
    program.write_text(SERVER.format(obeys=obeys))
    program.chmod(0o755)
    (full / 'share/ros_gz_sim/launch/gz_sim.launch.py').write_text(SHELL.format(program=program))
    running, lines, servers = launch_file(GAZEBO, 'headless:=true'), [], set()
    while len(servers) < 3:
        lines.append(running.process.stdout.readline())
        assert running.process.poll() is None, lines
        if 'server' in lines[-1] and 'gz' not in lines[-1].split('server')[-1]:
            servers |= {int(word) for word in re.findall(r'\d+', lines[-1].split('server')[-1])}
    if end == 'SIGINT':
        os.kill(running.process.pid, signal.SIGINT)
    else:
        text = ''.join(lines)
        pid = re.search(r'parameter_bridge-\d+\]: process started with pid \[(\d+)\]', text)
        os.kill(int(pid.group(1)), signal.SIGKILL)
    code, output = running.end()
    left = [pid for pid in servers if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, ''.join(lines) + output
    assert code == (0 if end == 'SIGINT' else 1), ''.join(lines) + output
