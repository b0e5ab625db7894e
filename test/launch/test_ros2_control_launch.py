# SPDX-License-Identifier: Apache-2.0
"""ros2_control.launch.py: what it would start, and a drive through it with a stand-in manager."""

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

from geometry_msgs.msg import PoseStamped  # noqa: E402
from launch.actions import (  # noqa: E402
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetLaunchConfiguration,
)
from launch.utilities import perform_substitutions  # noqa: E402
from launch_reading import ROOT, describe, parameters_of  # noqa: E402
from launch_ros.actions import Node  # noqa: E402
from test_launch_runs import START, driver  # noqa: E402, F401

from launch import LaunchContext, LaunchDescription  # noqa: E402

FILE = 'ros2_control.launch.py'
WHEELS = [f'wheel_joint_{i}' for i in (1, 2, 3)]
PROGRAMS = {
    'robot_state_publisher': ['robot_state_publisher'], 'forward_command_controller': [],
    'joint_state_broadcaster': [], 'controller_manager': ['ros2_control_node', 'spawner'],
    'joint_state_topic_hardware_interface': [], 'gz_ros2_control': [],
    'ros_gz_sim': ['create'], 'ros_gz_bridge': ['parameter_bridge'],
    'mujoco_ros2_control': ['ros2_control_node']}
OURS = ['robot_nodes', 'ros2_control_bridge_node']
PACKAGES = ('mock', 'topic', 'gazebo', 'mujoco')

# waits for Ctrl-C
IDLE = """#!/usr/bin/env python3
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
signal.pause()
"""
# ros2_control's process for hardware:=topic, by the behaviour of the real one
MANAGER = f"""#!/usr/bin/env python3
import signal, sys
sys.path.insert(0, {str(ROOT / 'test/nodes')!r})
import rclpy
from rclpy.signals import SignalHandlerOptions
from c3p_description import robot_description
from fake_ros2_control import ForwardController, Manager, StateBroadcaster, topic_systems
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
node = rclpy.create_node('controller_manager')
wheels = [f'wheel_joint_{{i}}' for i in (1, 2, 3)]
system, = topic_systems(node, robot_description('c3p', {{'hardware': 'topic'}}))
Manager(node, [system], [StateBroadcaster(node, system.states), ForwardController(
    node, 'wheel_effort_controller', wheels, system.commands)])
while True:
    rclpy.spin_once(node, timeout_sec=0.1)
"""
SPAWNER = '#!/bin/sh\necho spawner "$@"\n'
GAZEBO = 'from launch import LaunchDescription\ndef generate_launch_description():\n' \
         '    return LaunchDescription([])\n'


def installed_with(path, packages, monkeypatch):
    """Make stand-ins for other people's packages known."""
    for name in packages:
        index = path / 'share/ament_index/resource_index/packages' / name
        index.parent.mkdir(parents=True, exist_ok=True)
        index.touch()
        for program in PROGRAMS.get(name, []):
            install(path, name, program, IDLE)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{path}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')


def install(path, package, program, text):
    """Put a program where launch looks for it."""
    file = path / 'lib' / package / program
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def full(tmp_path, prefix, monkeypatch):
    """Everything that the launch file may ask for."""
    installed_with(tmp_path, PROGRAMS, monkeypatch)
    launch = tmp_path / 'share/ros_gz_sim/launch/gz_sim.launch.py'
    launch.parent.mkdir(parents=True)
    launch.write_text(GAZEBO)
    return tmp_path


def started(file=FILE, **given):
    """Return [(package, executable, command line)] and [arguments of included files]."""
    context = LaunchContext()
    context.launch_configurations.update(given)
    pending, found, included = list(describe(file, context).entities), [], []
    while pending:
        entity = pending.pop(0)
        if isinstance(entity, Node):
            if entity.condition is not None and not entity.condition.evaluate(context):
                continue
            entity._perform_substitutions(context)
            context.extend_locals({'ros_specific_arguments': {
                'ns': f'__ns:={entity.expanded_node_namespace}', 'name': '__node:=named',
                'remaps': [':='.join(rule) for rule in entity.expanded_remapping_rules or ()]}})
            found.append((entity.node_package, entity.node_executable,
                          [perform_substitutions(context, part) for part in entity.cmd[1:]]))
        elif isinstance(entity, IncludeLaunchDescription):
            included.append(dict(entity.launch_arguments))
            pending[:0] = entity.execute(context)
        elif isinstance(entity, LaunchDescription):
            pending[:0] = entity.entities
        elif isinstance(entity, (DeclareLaunchArgument, OpaqueFunction, SetLaunchConfiguration,
                                 AppendEnvironmentVariable)):
            pending[:0] = entity.execute(context) or []
    return found, included


def by_name(found):
    """Return {executable: command lines}."""
    names = {}
    for _, executable, words in found:
        names.setdefault(executable, []).append(words)
    return names


def controllers_of(**given):
    """Return the parameters of manager and controllers that the spawner gets, by node."""
    spawner, = by_name(started(**given)[0])['spawner']
    return {name.removeprefix('/**/'): entry['ros__parameters']
            for name, entry in yaml.safe_load(Path(spawner[3]).read_text()).items()}


def bridge_joints(words):
    """Return the order of joints that a bridge gets."""
    return parameters_of(words)['/**/ros2_control_bridge']['joints']


def description_of(found):
    """Return the description that robot_state_publisher gets, as elements."""
    words, = by_name(found)['robot_state_publisher']
    return ElementTree.fromstring(parameters_of(words)['/**']['robot_description'])


@pytest.mark.parametrize('hardware, package, others', [
    ('mock', 'controller_manager', []),
    ('topic', 'controller_manager', ['ros2_control_bridge_node', 'simulation_node']),
    ('mujoco', 'mujoco_ros2_control', [])])
def test_manager_spawner_our_nodes_and_the_bridge_are_started(hardware, package, others, full):
    found, included = started(hardware=hardware, namespace='robot1')
    assert [executable for _, executable, _ in found] == [
        'robot_state_publisher', 'ros2_control_node', 'spawner', *OURS, *others]
    assert found[1][0] == package and not included
    assert all('__ns:=/robot1' in words for _, _, words in found)
    # the spawner and the manager need no /tf, and warn of remappings
    assert [executable for _, executable, words in found if '/tf:=tf' not in words] == [
        'ros2_control_node', 'spawner']
    # NaN of the broadcaster, before its first state, must not get into /tf
    assert ('joint_states:=hardware/joint_states' in found[0][2]) == (hardware == 'topic')
    spawner, = by_name(found)['spawner']
    assert spawner[:3] == ['joint_state_broadcaster', 'wheel_effort_controller', '--param-file']
    assert spawner[4:6] == ['--switch-timeout', '60']
    # manager and spawner have the same file
    manager, = by_name(found)['ros2_control_node']
    assert spawner[3] in manager
    for words in (manager, *by_name(found)['robot_nodes']):
        assert parameters_of(words)['/**']['use_sim_time'] == (hardware == 'mujoco')
    plugins = {e.text for e in description_of(found).iter('plugin')}
    assert len(plugins) == 1


def test_gazebo_holds_the_manager_itself(full):
    found, included = started(hardware='gazebo', world='hall.sdf', headless='true')
    assert [executable for _, executable, _ in found] == [
        'robot_state_publisher', 'create', 'parameter_bridge', 'spawner', *OURS]
    assert included[0]['gz_args'] == '-r -s hall.sdf'
    spawner, = by_name(found)['spawner']
    assert description_of(found).find('gazebo/plugin/parameters').text == spawner[3]
    for words in by_name(found)['ros2_control_bridge_node']:
        assert parameters_of(words)['/**']['use_sim_time'] is True


@pytest.mark.parametrize('hardware, jitter', [
    ('mock', None), ('topic', None), ('gazebo', 0.003), ('mujoco', 0.003)])
def test_stamps_of_a_simulators_manager_are_not_trusted(hardware, jitter, full):
    if hardware == 'mujoco':
        pytest.importorskip('mujoco', reason='pip install .[sim]')
    words, = by_name(started(hardware=hardware)[0])['robot_nodes']
    for node in ('sensed_kinematics', 'velocity_controller'):
        assert parameters_of(words).get(f'/**/{node}', {}).get('stamp_jitter') == jitter


def test_the_bridges_get_their_directions_and_the_hardware_its_own_topics(full):
    names = by_name(started(hardware='topic', sim='mujoco', controller='paper')[0])
    before, behind = names['ros2_control_bridge_node']
    assert parameters_of(before)['/**']['direction'] == 'to_ros2_control'
    assert bridge_joints(before) == WHEELS
    own = {'joint_states:=hardware/joint_states', 'wheel_effort:=hardware/wheel_effort'}
    # joint_states themselves are the broadcaster's
    assert not own & set(before) and own < set(behind)
    assert own < set(names['simulation_node'][0])
    assert parameters_of(names['simulation_node'][0])['/**/simulation'] == {'plant': 'mujoco'}
    assert not own & set(names['robot_nodes'][0])
    for node in ('velocity_controller', 'position_controller'):
        assert parameters_of(names['robot_nodes'][0])[f'/**/{node}'] == {
            'controller': 'paper'}
    assert 'simulation_node' not in by_name(started(hardware='topic', sim='none')[0])


def test_controllers_get_the_joints_of_the_robot_that_is_started(full, tmp_path):
    robot = tmp_path / 'two.yaml'
    robot.write_text('extends: c3p\nname: two\ncasters: {driven: [true, false, true]}\n')
    names = by_name(started(robot=str(robot))[0])
    spawner, = names['spawner']
    content = yaml.safe_load(Path(spawner[3]).read_text())
    joints = content['/**/wheel_effort_controller']['ros__parameters']['joints']
    bridge, = names['ros2_control_bridge_node']
    assert joints == bridge_joints(bridge) == WHEELS[::2]


def test_an_order_of_joints_in_the_file_reaches_the_bridge(full, tmp_path):
    file = tmp_path / 'controllers.yaml'
    text = (ROOT / 'config/ros2_controllers.yaml').read_text()
    file.write_text(text.replace('[wheel_joint_1, wheel_joint_2, wheel_joint_3]',
                                 '[wheel_joint_3, wheel_joint_1, wheel_joint_2]'))
    bridge, = by_name(started(controllers_file=str(file))[0])['ros2_control_bridge_node']
    assert bridge_joints(bridge) == [WHEELS[2], WHEELS[0], WHEELS[1]]
    file.write_text('/**: {ros__parameters: {update_rate: 100}}')
    with pytest.raises(RuntimeError, match='controllers.yaml: has no controller_manager'):
        started(controllers_file=str(file))


@pytest.mark.parametrize('hardware, names', [
    ('mock', ['controller-manager', 'joint-state-broadcaster', 'robot-state-publisher']),
    ('topic', ['joint-state-topic-hardware-interface']),
    ('gazebo', ['gz-ros2-control', 'ros-gz-sim', 'ros-gz-bridge']),
    ('mujoco', ['mujoco-ros2-control'])])
def test_packages_that_are_missing_are_named_with_the_remedy(hardware, names, prefix, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    with pytest.raises(RuntimeError, match=f'hardware:={hardware} needs more: .*apt install') as e:
        started(hardware=hardware)
    assert all(f'ros-jazzy-{name}' in str(e.value)
               for name in [*names, 'forward-command-controller'])


SPECIAL, GENERAL = ('effort_controllers/JointGroupEffortController',
                    'forward_command_controller/ForwardCommandController')


@pytest.mark.parametrize('packages, kind', [
    (['effort_controllers', 'forward_command_controller'], SPECIAL),
    (['effort_controllers'], SPECIAL),
    # Lyrical
    (['forward_command_controller'], GENERAL)])
def test_an_effort_controller_that_exists_no_more_is_replaced(packages, kind, prefix, tmp_path,
                                                              monkeypatch):
    # not those that are really there
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    installed_with(tmp_path, [*set(PROGRAMS) - {'forward_command_controller'}, *packages],
                   monkeypatch)
    file = tmp_path / 'controllers.yaml'
    content = yaml.safe_load((ROOT / 'config/ros2_controllers.yaml').read_text())
    own = content['/**/wheel_effort_controller']['ros__parameters']
    content['/**/controller_manager']['ros__parameters']['wheel_effort_controller'] = {
        'type': SPECIAL}
    # which it sets by itself
    del own['interface_name']
    file.write_text(yaml.safe_dump(content))
    nodes = controllers_of(controllers_file=str(file))
    assert nodes['controller_manager']['wheel_effort_controller']['type'] == kind
    assert nodes['wheel_effort_controller'].get('interface_name') == (
        'effort' if kind == GENERAL else None)


def test_the_shipped_file_is_the_same_wherever_it_is_used(full, prefix, tmp_path, monkeypatch):
    """Gazebo's plugin and spawners of others read it without this launch file."""
    shipped = {name: entry['ros__parameters'] for name, entry in yaml.safe_load(
        (ROOT / 'config/ros2_controllers.yaml').read_text()).items()}
    for packages in ([], ['effort_controllers']):
        installed_with(tmp_path, packages, monkeypatch)
        assert {f'/**/{name}': entry for name, entry in controllers_of().items()} == shipped


def test_the_model_for_mujoco_has_every_joint_and_a_motor_for_every_wheel(full):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    found, _ = started(hardware='mujoco', headless='true')
    block = description_of(found).find('ros2_control')
    parameters = {p.get('name'): p.text for p in block.findall('hardware/param')}
    assert parameters['headless'] == 'true'
    model = mujoco.MjModel.from_xml_path(parameters['mujoco_model'])
    for joint in block.findall('joint'):
        at = model.joint(joint.get('name')).id
        motors = [i for i in range(model.nu) if model.actuator_trnid[i, 0] == at
                  and model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT]
        assert len(motors) == len(joint.findall('command_interface'))
    with pytest.raises(RuntimeError, match='give mujoco_model:=FILE'):
        started(hardware='mujoco', robot=str(ROOT / 'c3p_description/urdf/c3p.urdf.xacro'))


@pytest.fixture
def manager(full):
    """The full set, with a manager that really passes commands on."""
    for name, text in (('ros2_control_node', MANAGER), ('spawner', SPAWNER)):
        install(full, 'controller_manager', name, text)


def arrives(one, y):
    """
    Return whether the robot comes to `y` ahead.

    A pause of the machine closes gates. A goal that is not reached is given up after 10 s
    (progress_timeout); only then does a new one begin with the zero that opens.
    """
    for _ in range(4):
        assert one.wait(lambda: one.truth is not None and one.efforts > 100
                        and one.goal.get_subscription_count(), START)
        message = PoseStamped()
        message.pose.position.y, message.pose.orientation.w = y, 1.0
        one.goal.publish(message)
        if one.wait(lambda: abs(one.truth.y - y) < 0.05, 12.0):
            return True
    return False


@pytest.mark.real_time
def test_a_simulated_robot_behind_ros2_control_reaches_its_goal(
        manager, launch_file, driver):  # noqa: F811
    namespace = 'robot1'
    running = launch_file(FILE, 'hardware:=topic', 'sim:=analytic', f'namespace:={namespace}')
    there = arrives(driver(namespace), 0.3)
    code, output = running.interrupt()
    assert there, output
    assert code == 0, output
    assert 'SIGTERM' not in output, output
    assert 'Traceback' not in output and 'FATAL' not in output, output


def killed(running, program):
    """Kill a process of a launch file as soon as it runs; return exit code and output."""
    lines = []
    while not (pid := re.search(rf'{program}-\d+\]: process started with pid \[(\d+)\]',
                                ''.join(lines[-1:]))):
        lines.append(running.process.stdout.readline())
        assert running.process.poll() is None, lines
    os.kill(int(pid.group(1)), 9)
    return running.end()


def test_a_bridge_that_dies_stops_everything(manager, launch_file, driver):  # noqa: F811
    """The forward controller would go on with its last torques."""
    code, output = killed(launch_file(FILE, 'hardware:=topic', 'sim:=analytic'),
                          'ros2_control_bridge_node')
    assert code == 1 and 'ros2_control_bridge_node ended with exit code' in output, output


@pytest.mark.parametrize('hardware', PACKAGES)
def test_without_a_description_the_launch_ends_with_the_reason(hardware, full, launch_file):
    """Controller manager, spawner and Gazebo's create would wait for it for ever."""
    if hardware == 'mujoco':
        pytest.importorskip('mujoco', reason='pip install .[sim]')
    code, output = killed(launch_file(FILE, f'hardware:={hardware}', 'headless:=true'),
                          'robot_state_publisher')
    assert code == 1, output
    assert "the source of the controller manager's robot_description, ended with exit code -9" \
        in output, output


def test_a_spawner_that_fails_stops_everything(manager, full, launch_file):
    install(full, 'controller_manager', 'spawner', '#!/bin/sh\necho no such type\nexit 1\n')
    code, output = launch_file(FILE, 'hardware:=topic').end()
    assert code == 1 and 'no such type' in output and 'ended with exit code 1' in output, output
