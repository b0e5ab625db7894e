# SPDX-License-Identifier: Apache-2.0
"""config/nav2.yaml against Nav2's own names and this suite's frames and limits."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from nav2_table import FILE, ROOT, everything, values

from c3p_bringup.launch_parts.nav2_parameters import (
    COSTMAPS,
    INFLATION,
    nav2_parameters,
    outer_radius,
)
from c3p_description import load
from c3p_ros.schema import read_schema

# nodes that publish or hear cmd_vel
DRIVERS = ('controller_server', 'behavior_server', 'velocity_smoother', 'collision_monitor',
           'docking_server', 'following_server')


def defaults(package, node):
    """Return {name: default} of a node of this suite; groups joined with a dot."""
    schema = read_schema(ROOT / package / f'{node}_parameters.yaml')
    return {name: entry.get('default_value') for name, entry in schema.items()}


POSITION = defaults('c3p_controller', 'position_controller')
VELOCITY = defaults('c3p_controller', 'velocity_controller')
ODOMETRY = defaults('c3p_kinematics', 'sensed_kinematics')


def test_every_plugin_that_is_named_is_described():
    for node in FILE:
        own = values(FILE, node)
        groups = [own, *(g for g in own.values() if isinstance(g, dict))]
        named = [n for group in groups for key, names in group.items()
                 if key in ('critics', 'polygons', 'plugins') or key.endswith('_plugins')
                 for n in names]
        for name in named:
            assert any(name in group for group in groups), f'{node}: nothing says what {name} is'


def test_whoever_has_to_do_with_cmd_vel_stamps_it():
    assert POSITION['use_stamped_vel'] is True
    for node in DRIVERS:
        assert values(FILE, node)['enable_stamped_cmd_vel'] is True


def test_the_frames_are_those_of_the_odometry():
    odom, base, root = (ODOMETRY[k] for k in ('odom_frame', 'base_frame', 'tf_child_frame'))
    for key in ('odom_frame_id', 'local_frame', 'fixed_frame'):
        assert set(everything(FILE, key).values()) == {odom}
    for key in ('robot_base_frame', 'base_frame', 'base_frame_id'):
        assert set(everything(FILE, key).values()) <= {base, root}
    assert values(FILE, 'local_costmap')['global_frame'] == odom
    assert set(everything(FILE, 'odom_topic').values()) == {'odom'}


def test_the_limits_are_those_of_the_position_controller():
    smoother, mppi = values(FILE, 'velocity_smoother'), values(FILE, 'controller_server')[
        'FollowPath']
    speed, yaw = POSITION['speed'], POSITION['path.yaw_rate']
    gain, brake = POSITION['path.acceleration'], POSITION['path.deceleration']
    # turning on the spot accelerates a pivot as much as driving does, rounded down
    hip = math.hypot(*load('c3p').hip_position[0])
    turn, turn_brake = (math.floor(10.0 * a / hip) / 10.0 for a in (gain, brake))
    assert smoother['max_velocity'] == [speed, speed, yaw]
    assert smoother['min_velocity'] == [-speed, -speed, -yaw]
    assert smoother['max_accel'] == [gain, gain, turn]
    assert smoother['max_decel'] == [-brake, -brake, -turn_brake]
    assert (mppi['vx_max'], mppi['vx_min'], mppi['vy_max'], mppi['wz_max']) == (
        speed, -speed, speed, yaw)
    behaviors = values(FILE, 'behavior_server')
    assert (behaviors['max_rotational_vel'], behaviors['rotational_acc_lim']) == (yaw, turn)


def test_one_control_period_of_mppi_changes_the_speed_as_much_as_its_noise_does():
    # else its samples are alike: the real controller then drove at half the speed, 0.1 m off
    mppi = values(FILE, 'controller_server')['FollowPath']
    for speed, gain, brake in (('vx', 'ax_max', 'ax_min'), ('vy', 'ay_max', 'ay_min')):
        step = mppi['model_dt'] * min(mppi[gain], -mppi[brake])
        assert 0.5 * mppi[f'{speed}_std'] < step < mppi[f'{speed}_max']
    # what the robot gets is limited by the smoother
    smoother = values(FILE, 'velocity_smoother')
    assert max(smoother['max_accel'][:2]) < min(mppi['ax_max'], mppi['ay_max'])
    assert smoother['max_accel'][2] < mppi['az_max']


def test_nothing_is_asked_that_the_velocity_controller_would_cut():
    mppi = values(FILE, 'controller_server')['FollowPath']
    assert math.hypot(mppi['vx_max'], mppi['vy_max']) <= VELOCITY['speed_limit']
    assert mppi['wz_max'] <= VELOCITY['yaw_rate_limit']


def test_arrived_and_stuck_mean_the_same_as_to_the_position_controller():
    server = values(FILE, 'controller_server')
    goal, progress = server['general_goal_checker'], server['progress_checker']
    assert goal['xy_goal_tolerance'] == POSITION['goal_tolerance']
    assert goal['yaw_goal_tolerance'] == POSITION['yaw_tolerance']
    assert progress['movement_time_allowance'] == POSITION['progress_timeout']
    smoother = values(FILE, 'velocity_smoother')
    assert smoother['velocity_timeout'] == VELOCITY['cmd_vel_timeout']
    assert smoother['smoothing_frequency'] == POSITION['command_rate']


def test_a_holonomic_robot_may_move_sideways_everywhere():
    server = values(FILE, 'controller_server')
    assert server['FollowPath']['motion_model'] == 'Omni'
    assert server['min_y_velocity_threshold'] == server['min_x_velocity_threshold'] < 0.01
    assert values(FILE, 'amcl')['robot_model_type'] == 'nav2_amcl::OmniMotionModel'
    assert not {'PathAngleCritic', 'PreferForwardCritic'} & set(server['FollowPath']['critics'])


def test_what_the_controller_looks_ahead_lies_in_its_map():
    mppi, local = values(FILE, 'controller_server')['FollowPath'], values(FILE, 'local_costmap')
    assert mppi['time_steps'] * mppi['model_dt'] * mppi['vx_max'] <= local['width'] / 2
    # one prediction step is one control period, as the controller demands
    assert mppi['model_dt'] == 1.0 / values(FILE, 'controller_server')['controller_frequency']


@pytest.mark.parametrize('name', ['c3p', 'c3p_25kg'])
def test_the_file_is_that_of_the_c3p_and_other_robots_get_their_own_radius(name):
    robot = load(name)
    made = nav2_parameters(FILE, robot)
    for costmap in COSTMAPS:
        assert values(made, costmap)['robot_radius'] == outer_radius(robot)
        inflation = values(made, costmap)['inflation_layer']['inflation_radius']
        assert inflation == pytest.approx(outer_radius(robot) + INFLATION)
    if name == 'c3p':
        assert set(everything(FILE, 'robot_radius').values()) == {outer_radius(robot)}
        assert set(everything(FILE, 'inflation_radius').values()) == {0.75}


@pytest.mark.parametrize('scale, width', [(1.0, 3), (2.0, 4), (5.0, 6)])
def test_the_local_map_grows_with_the_robot(scale, width):
    robot = load('c3p')
    larger = replace(robot, hip_position=scale * np.array(robot.hip_position))
    made = nav2_parameters(FILE, larger)
    local = values(made, 'local_costmap')
    radius = outer_radius(larger)
    assert local['robot_radius'] == radius
    assert (local['width'], local['height']) == (width, width)
    assert local['width'] / 2 >= radius + 1.0
    # a map that is larger already stays
    wide = copy.deepcopy(FILE)
    values(wide, 'local_costmap')['width'] = 12
    assert values(nav2_parameters(wide, larger), 'local_costmap')['width'] == 12


def test_no_wheel_leaves_the_radius_of_the_robot():
    robot = load('c3p')
    for hip, offset, wheel in zip(robot.hip_position, robot.caster_offset, robot.wheel_radius,
                                  strict=True):
        for k in range(360):
            outward = (offset + wheel) * complex(math.cos(k), math.sin(k))
            assert abs(complex(*hip) + outward) <= outer_radius(robot)


@pytest.mark.parametrize('namespace, scan, topic', [
    ('', 'scan', '/scan'), ('robot1', 'scan', '/robot1/scan'), ('/robot1/', 'top', '/robot1/top'),
    ('robot1', '/lidar', '/lidar')])
def test_the_scan_is_that_of_the_namespace_in_every_node(namespace, scan, topic):
    made = nav2_parameters(FILE, load('c3p'), namespace, scan)
    places = {**everything(made, 'topic'), **everything(made, 'scan_topic')}
    assert len(places) == 4 and set(places.values()) == {topic}


def test_without_a_map_nothing_waits_for_one():
    before = copy.deepcopy(FILE)
    made = values(nav2_parameters(FILE, load('c3p'), localization='none'), 'global_costmap')
    assert made['plugins'] == ['obstacle_layer', 'inflation_layer'] and made['rolling_window']
    assert FILE == before
    kept = values(nav2_parameters(FILE, load('c3p'), localization='slam'), 'global_costmap')
    assert 'static_layer' in kept['plugins'] and 'rolling_window' not in kept


def test_commands_go_where_they_are_asked_to():
    def out(content):
        return values(content, 'collision_monitor')['cmd_vel_out_topic']

    assert out(nav2_parameters(FILE, load('c3p'))) == 'cmd_vel'
    muxed = nav2_parameters(FILE, load('c3p'), command='cmd_vel_navigation')
    assert out(muxed) == 'cmd_vel_navigation' and out(FILE) == 'cmd_vel'
    # nothing else has changed
    values(muxed, 'collision_monitor')['cmd_vel_out_topic'] = 'cmd_vel'
    assert muxed == nav2_parameters(FILE, load('c3p'))


def test_what_cannot_be_is_refused_with_its_name():
    with pytest.raises(ValueError, match='localization = .gps.'):
        nav2_parameters(FILE, load('c3p'), localization='gps')
    without = {name: entry for name, entry in FILE.items() if name != 'collision_monitor'}
    with pytest.raises(ValueError, match='cmd_vel = .cmd_vel_navigation.*collision_monitor'):
        nav2_parameters(without, load('c3p'), command='cmd_vel_navigation')
    with pytest.raises(ValueError, match='no global_costmap in'):
        nav2_parameters({'local_costmap': FILE['local_costmap']}, load('c3p'))
