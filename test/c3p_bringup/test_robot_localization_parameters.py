# SPDX-License-Identifier: Apache-2.0
"""config/robot_localization.yaml against ekf_node and the odometry of this suite."""

from pathlib import Path

import yaml
from ros_types import leaves, ros_type

from c3p_ros.schema import read_schema

ROOT = Path(__file__).resolve().parents[2]
FILE = yaml.safe_load((ROOT / 'config/robot_localization.yaml').read_text(encoding='utf-8'))
GIVEN = FILE['/**/ekf_filter_node']['ros__parameters']

# robot_localization 3.8.3 (Jazzy), 3.9.4 (Kilted) and 3.10.0 (Lyrical), src/ros_filter.cpp
DECLARED = {
    'frequency': 'double', 'sensor_timeout': 'double', 'two_d_mode': 'bool', 'publish_tf': 'bool',
    'print_diagnostics': 'bool', 'map_frame': 'string', 'odom_frame': 'string',
    'world_frame': 'string', 'base_link_frame': 'string', 'base_link_frame_output': 'string',
    'process_noise_covariance': 'double[]',
    **{f'{sensor}0{suffix}': kind for sensor in ('odom', 'imu')
       for suffix, kind in (('', 'string'), ('_config', 'bool[]'), ('_queue_size', 'int'))}}

# the order of the filter's state
STATES = ('x', 'y', 'z', 'roll', 'pitch', 'yaw', 'vx', 'vy', 'vz', 'roll_rate', 'pitch_rate',
          'yaw_rate', 'ax', 'ay', 'az')


def fused(sensor):
    """Return the states that a sensor measures."""
    return {name for name, used in zip(STATES, GIVEN[f'{sensor}_config'], strict=True) if used}


def test_the_filter_declares_every_parameter_with_this_type():
    given = {name: ros_type(value) for name, value in leaves(GIVEN)}
    assert given.items() <= DECLARED.items()


def test_the_filter_publishes_the_transform_that_the_odometry_would():
    odometry = read_schema(ROOT / 'c3p_kinematics/sensed_kinematics_parameters.yaml')
    frame = {name: odometry[name]['default_value'] for name in ('odom_frame', 'tf_child_frame')}
    assert GIVEN['odom_frame'] == GIVEN['world_frame'] == frame['odom_frame']
    # a frame below the root of the description would get a second parent
    assert GIVEN['base_link_frame'] == frame['tf_child_frame']
    assert GIVEN['publish_tf'] is True and odometry['publish_tf']['type'] == 'bool'


def test_a_holonomic_twist_and_one_yaw_rate_are_fused():
    assert fused('odom0') == {'vx', 'vy', 'yaw_rate'}
    assert fused('imu0') == {'yaw_rate'}
    assert GIVEN['two_d_mode'] is True


def test_the_variances_of_the_filter_grow_for_every_state():
    growth = dict(zip(STATES, GIVEN['process_noise_covariance'], strict=True))
    assert min(growth.values()) > 0.0
    # the pose is the integral of the measured twist, which contains its whole uncertainty
    assert max(growth[name] for name in ('x', 'y', 'yaw')) < 1e-3 * growth['vx']


def test_every_sensor_has_a_topic_and_a_configuration():
    for sensor in ('odom0', 'imu0'):
        assert GIVEN[sensor] and f'{sensor}_config' in GIVEN
