# SPDX-License-Identifier: Apache-2.0
"""What the launch files declare and which processes they would start."""


from pathlib import Path

import pytest
import yaml
from launch.utilities import perform_substitutions  # noqa: E402
from launch_reading import (  # noqa: E402
    ROOT,
    describe,
    nodes_of,
    parameters_of,
    processes_of,
    table,
)

from c3p_bringup.nodes import CHAIN, executable_of  # noqa: E402
from c3p_controller import CONTROLLERS  # noqa: E402
from c3p_description import ModelError, load  # noqa: E402
from launch import LaunchContext  # noqa: E402

FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))
CHAIN_NODES = [*map(executable_of, CHAIN)]


@pytest.mark.parametrize('file', FILES)
def test_every_argument_has_a_description(file, prefix):
    arguments = describe(file).get_launch_arguments()
    assert arguments
    for argument in arguments:
        assert len(argument.description) > 10 and argument.default_value is not None
        values = argument.choices
        default = perform_substitutions(LaunchContext(), argument.default_value)
        assert values is None or default in values
        # whatever can only be yes or no says so
        if default in ('true', 'false'):
            assert set(values) == {'true', 'false'}


def test_a_value_that_is_no_choice_is_refused(prefix):
    with pytest.raises(RuntimeError, match="nodes.*'one-process', 'processes'"):
        nodes_of('bringup.launch.py', nodes='two')


@pytest.mark.parametrize('sim', ['none', 'analytic', 'mujoco'])
def test_one_process_holds_all_nodes(sim, prefix):
    nodes = nodes_of('bringup.launch.py', sim=sim, namespace='robot1')
    assert list(nodes) == ['robot_nodes']
    assert {'__ns:=/robot1', '/tf:=tf', '/tf_static:=tf_static'} < set(nodes['robot_nodes'])
    assert ('--sim' in nodes['robot_nodes']) == (sim != 'none')
    # several nodes must not be given one name
    assert not any('__node:=' in word for word in nodes['robot_nodes'])


@pytest.mark.parametrize('sim', ['none', 'analytic', 'mujoco'])
def test_one_process_per_node(sim, prefix):
    nodes = nodes_of('bringup.launch.py', sim=sim, nodes='processes')
    assert list(nodes) == CHAIN_NODES + (['simulation_node'] if sim != 'none' else [])


@pytest.mark.parametrize('form', ['one-process', 'processes'])
def test_emulated_cards_and_their_interface_meet_on_one_bus(form, prefix):
    nodes = nodes_of('bringup.launch.py', sim='mujoco', hardware='emulated', nodes=form,
                     start_steering='0.5')
    robot = 'robot_nodes' if form == 'one-process' else 'hardware_interface_node'
    assert 'simulation_node' not in nodes and 'emulated_cards_node' in nodes
    if form == 'one-process':
        assert set(nodes) == {'robot_nodes', 'emulated_cards_node'}
        assert '--hardware' in nodes[robot] and '--sim' not in nodes[robot]
    interface = parameters_of(nodes[robot])['/**/hardware_interface']
    cards = parameters_of(nodes['emulated_cards_node'])['/**/emulated_cards']
    assert interface['bus.interface'] == 'serial' and interface['autostart'] == 'active'
    # and the axes of the interface, see test_hardware_launch.py
    assert cards.items() >= {'bus.channel': interface['bus.channel'], 'plant': 'mujoco'}.items()
    assert cards['start_steering'] == [0.5]


def test_the_bus_of_the_real_cards_is_that_of_the_arguments_or_of_the_file(prefix, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text(yaml.safe_dump({'/**/hardware_interface': {'ros__parameters': {
        'bus.channel': 'can7', 'autostart': 'inactive'}}}))
    for given, channel in (({}, 'can7'), ({'can_channel': 'can1'}, 'can1')):
        nodes = nodes_of('bringup.launch.py', hardware='can', params_file=str(file), **given)
        assert list(nodes) == ['robot_nodes'] and '--hardware' in nodes['robot_nodes']
        interface = parameters_of(nodes['robot_nodes'])['/**/hardware_interface']
        assert interface == {'bus.channel': channel, 'autostart': 'inactive'}


@pytest.mark.parametrize('given, reason', [
    ({'hardware': 'emulated'}, 'add sim:=analytic'),
    ({'hardware': 'can', 'sim': 'analytic'}, 'the real robot is not simulated')])
def test_two_robots_or_none_behind_the_cards_are_refused(given, reason, prefix):
    with pytest.raises(ValueError, match=reason):
        nodes_of('bringup.launch.py', **given)


@pytest.mark.parametrize('form', ['one-process', 'processes'])
def test_arguments_reach_the_nodes(form, prefix):
    nodes = nodes_of('bringup.launch.py', sim='analytic', nodes=form, robot='c3p_25kg',
                     use_sim_time='true', start_steering='[0.1, 0.2, 0.3]', start_pose='[1,2,3]',
                     log_level='warn')
    for words in nodes.values():
        parameters = parameters_of(words)
        assert parameters['/**'] == {'robot': 'c3p_25kg', 'use_sim_time': True}
        assert parameters['/**/sensed_kinematics']['wheel_counts'] == 2000
        assert words[words.index('--log-level') + 1] == 'warn'
    simulation = parameters_of(nodes.get('simulation_node') or nodes['robot_nodes'])
    assert simulation['/**/simulation'] == {
        'plant': 'analytic', 'publish_clock': True, 'start_pose': [1.0, 2.0, 3.0],
        'start_steering': [0.1, 0.2, 0.3]}


@pytest.mark.parametrize('form', ['one-process', 'processes'])
@pytest.mark.parametrize('law', CONTROLLERS)
def test_both_controllers_get_the_same_law(form, law, prefix):
    nodes = nodes_of('bringup.launch.py', nodes=form, controller=law, namespace='robot1')
    for words in nodes.values():
        parameters = parameters_of(words)
        assert parameters['/**/velocity_controller']['controller'] == law
        assert parameters['/**/position_controller']['controller'] == law


def test_a_law_that_is_not_given_is_that_of_the_parameter_file(prefix):
    parameters = parameters_of(nodes_of('bringup.launch.py')['robot_nodes'])
    assert not {'/**/velocity_controller', '/**/position_controller'} & set(parameters)


def test_sensors_reach_the_simulation_and_odometry_expects_their_timing(prefix):
    def parameters(**more):
        return parameters_of(nodes_of('bringup.launch.py', sim='analytic', **more)['robot_nodes'])

    exact = {'stamp_jitter': 0.0, 'sample_skew': 0.0}
    plain, real = parameters(), parameters(sensors='real')
    assert 'sensors' not in plain['/**/simulation']
    assert plain['/**/sensed_kinematics'].items() >= exact.items()
    assert real['/**/simulation']['sensors'] == 'real'
    assert not exact.keys() & real.get('/**/sensed_kinematics', {}).keys()
    assert real['/**/velocity_controller'] == {'mpc.latency': 0.01, 'modules.latency': 0.01}


@pytest.mark.parametrize('robot', [{}, {'sim': 'analytic', 'hardware': 'emulated'}])
def test_sensors_without_a_simulated_robot_or_with_motor_cards_are_refused(robot, prefix):
    with pytest.raises(ValueError, match='sensors:=real: are those of a simulated robot'):
        nodes_of('bringup.launch.py', sensors='real', **robot)


@pytest.mark.parametrize('sim, latency', [('analytic', 0.0), ('mujoco', 0.01)])
def test_the_laws_know_the_latency_of_the_simulated_robot_unless_the_file_says_another(
        sim, latency, prefix, tmp_path):
    words = nodes_of('bringup.launch.py', sim=sim)['robot_nodes']
    assert parameters_of(words)['/**/velocity_controller'] == {'mpc.latency': latency,
                                                              'modules.latency': latency}
    file = tmp_path / 'mine.yaml'
    file.write_text('/**/velocity_controller: {ros__parameters: {mpc.latency: 0.02}}')
    words = nodes_of('bringup.launch.py', sim=sim, params_file=str(file))['robot_nodes']
    assert parameters_of(words)['/**/velocity_controller']['mpc.latency'] == 0.02


@pytest.mark.parametrize('text, value', [('0.5', [0.5]), ('0', [0.0]), ('[-1e-3]', [-0.001])])
def test_one_angle_serves_all_casters(text, value, prefix):
    words = nodes_of('bringup.launch.py', sim='analytic', start_steering=text)['robot_nodes']
    assert parameters_of(words)['/**/simulation']['start_steering'] == value


def test_arguments_that_are_not_given_leave_the_parameter_file_alone(prefix):
    words = nodes_of('bringup.launch.py', sim='analytic')['robot_nodes']
    assert parameters_of(words)['/**/simulation'] == {'plant': 'analytic'}


@pytest.mark.parametrize('text', ['left', '[a]', '{x: 1}', '[1'])
def test_steering_that_is_no_number_is_refused(text, prefix):
    with pytest.raises(ValueError, match='start_steering:=.*number'):
        nodes_of('bringup.launch.py', sim='analytic', start_steering=text)


def test_recorder_gets_the_path_of_its_bag(prefix):
    nodes = nodes_of('bringup.launch.py', record='true', bag_path='/somewhere/bag')
    assert set(nodes) == {'recorder_node', 'robot_nodes'}
    assert parameters_of(nodes['recorder_node'])['/**']['bag'] == '/somewhere/bag'


def test_programs_of_others_are_started_where_they_are_installed(others):
    nodes = nodes_of('bringup.launch.py', rviz='true', rviz_config='my.rviz')
    assert set(nodes) == {'rviz2', 'robot_state_publisher', 'robot_nodes', 'marker_node'}
    assert nodes['rviz2'][:2] == ['-d', 'my.rviz']
    description = parameters_of(nodes['robot_state_publisher'])['/**']['robot_description']
    assert '<robot ' in description and 'steering_joint_3' in description


def test_display_places_the_model_without_odometry(others):
    nodes = nodes_of('display.launch.py')
    assert set(nodes) == {'rviz2', 'robot_state_publisher', 'joint_state_publisher_gui',
                          'marker_node'}
    assert nodes['rviz2'][2:4] == ['-f', 'base_footprint']
    nodes = nodes_of('display.launch.py', gui='false')
    assert set(nodes) == {'rviz2', 'robot_state_publisher', 'marker_node'}
    assert '-f' not in nodes['rviz2']


def test_markers_are_drawn_with_rviz_for_robots_on_casters(others):
    nodes = nodes_of('display.launch.py', robot='c3p_25kg')
    assert parameters_of(nodes['marker_node'])['/**']['robot'] == 'c3p_25kg'
    assert 'marker_node' not in nodes_of('display.launch.py', robot='agv')
    assert 'marker_node' not in nodes_of('display.launch.py', markers='false')
    assert 'marker_node' not in nodes_of('display.launch.py', rviz='false')
    assert 'marker_node' in nodes_of('display.launch.py', rviz='false', markers='true')
    with pytest.raises(ValueError, match='agv'):
        nodes_of('display.launch.py', robot='agv', markers='true')


@pytest.mark.parametrize('robot, layout', [
    ('c3p', 'c3p.rviz'), ('c3p_25kg', 'c3p.rviz'), ('agv', 'agv.rviz'), ('pvc', 'pvc.rviz'),
    ('rover', 'pvc.rviz')])
def test_every_robot_is_shown_with_its_layout(robot, layout, others):
    shown = Path(nodes_of('display.launch.py', robot=robot)['rviz2'][1])
    assert shown.name == layout and shown.is_file()
    nodes = nodes_of('display.launch.py', robot=robot, rviz_config='my.rviz')
    assert nodes['rviz2'][1] == 'my.rviz'


def test_a_model_of_something_else_can_be_looked_at(others, tmp_path):
    table = tmp_path / 'table.urdf'
    table.write_text('<robot name="table"><link name="base_footprint"/></robot>')
    nodes = nodes_of('display.launch.py', robot=str(table))
    assert nodes['rviz2'][1].endswith('c3p.rviz') and 'marker_node' not in nodes


def test_the_tricycle_gets_its_ground_and_its_layout(others, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('/**/rough_ground: {ros__parameters: {camber_gain: 2.0, rate: 50.0}}')
    nodes = nodes_of('rough_ground.launch.py', rviz='true', terrain='plateau', drive_rate='2',
                     autodrive='false', params_file=str(file), namespace='robot1')
    assert set(nodes) == {'rviz2', 'robot_state_publisher', 'rough_ground_node', 'marker_node'}
    assert nodes['rviz2'][1].endswith('c3p_description/rviz/pvc.rviz')
    description = parameters_of(nodes['robot_state_publisher'])['/**']['robot_description']
    assert 'camber_joint_3' in description
    words = nodes['rough_ground_node']
    assert {'__ns:=/robot1', '/tf:=tf', '/tf_static:=tf_static'} < set(words)
    parameters = parameters_of(words)
    assert parameters['/**/rough_ground'] == {'camber_gain': 2.0, 'rate': 50.0}
    assert parameters['/**'] == {
        'robot': 'pvc_tricycle', 'terrain': 'plateau', 'autodrive': False, 'drive_rate': 2.0,
        'publish_clock': False, 'use_sim_time': False}


def test_another_vehicle_gets_its_ground_its_model_and_its_layout(others):
    nodes = nodes_of('rough_ground.launch.py', rviz='true', robot='rover')
    assert set(nodes) == {'rviz2', 'robot_state_publisher', 'rough_ground_node', 'marker_node'}
    assert nodes['rviz2'][1].endswith('c3p_description/rviz/pvc.rviz')
    assert parameters_of(nodes['marker_node'])['/**']['robot'] == 'rover'
    description = parameters_of(nodes['robot_state_publisher'])['/**']['robot_description']
    assert 'front_left_camber' in description


def test_with_simulated_time_the_tricycle_makes_it(prefix):
    nodes = nodes_of('rough_ground.launch.py', use_sim_time='true')
    assert set(nodes) - {'robot_state_publisher'} == {'rough_ground_node', 'marker_node'}
    parameters = parameters_of(nodes['rough_ground_node'])['/**']
    assert parameters['publish_clock'] and parameters['use_sim_time']


@pytest.mark.parametrize('file, given', [('bringup.launch.py', {'rviz': 'true'}),
                                         ('display.launch.py', {})])
def test_what_is_not_installed_is_named_with_its_package(file, given, prefix, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    with pytest.raises(RuntimeError, match='apt install .*ros-jazzy-rviz2'):
        nodes_of(file, **given)


@pytest.mark.parametrize('file', FILES)
def test_the_docs_have_every_argument(file, prefix):
    wanted = table(file)
    assert wanted in (ROOT / 'docs/launch.md').read_text(), f'the table must be:\n{wanted}'


@pytest.mark.parametrize('file', [file for file in FILES if file != 'rough_ground.launch.py'])
def test_every_robot_takes_options(file, prefix):
    names = [argument.name for argument in describe(file).get_launch_arguments()]
    assert ('robot' in names) == ('robot_options' in names)


@pytest.mark.parametrize('file', ['bringup.launch.py', 'two_robots.launch.py'])
def test_robot_options_reach_the_nodes(file, prefix, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    started = [words for name, words in processes_of(
        file, robot_options='{casters.torque_limit: 0.5}') if name == 'robot_nodes']
    assert started
    for words in started:
        robot = parameters_of(words)['/**']['robot']
        assert load(robot).torque_limit.tolist() == [0.5] * 3


def test_malformed_robot_options_end_the_launch(prefix):
    with pytest.raises(ModelError, match='robot_options = .wheel_radius.: expected a mapping'):
        nodes_of('bringup.launch.py', robot_options='wheel_radius')
