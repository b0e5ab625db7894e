# SPDX-License-Identifier: Apache-2.0
"""
Bring up the robot's nodes, with a simulated robot or for joint states that come from elsewhere.

``ros2 launch c3p bringup.launch.py --show-args`` is the manual; docs/launch.md says more.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from c3p_ros.launch_actions import (
    BOOLEAN,
    chosen,
    common_arguments,
    numbers,
    optional,
    parameter_file,
    required,
    rviz,
    rviz_arguments,
    share,
    state_publisher,
    suite_node,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# what robot_nodes holds in one process
CHAIN = ('sensed_kinematics_node', 'position_controller_node', 'velocity_controller_node',
         'inverse_dynamics_node')

ARGUMENTS = [
    DeclareLaunchArgument(
        'sim', default_value='none', choices=('none', 'analytic'),
        description='Simulated robot. none: joint_states come from elsewhere, and wheel_effort is '
                    'used elsewhere. analytic: the closed-chain equations of motion.'),
    DeclareLaunchArgument(
        'nodes', default_value='one-process', choices=('one-process', 'processes'),
        description='All nodes of the chain, and the simulated robot, in one process (the '
                    'shortest latency), or each in its own.'),
    DeclareLaunchArgument(
        'params_file', default_value=share('config', 'c3p.yaml'),
        description='Parameters of the nodes. robot, use_sim_time and the start of the simulated '
                    'robot are overridden by the arguments of those names.'),
    DeclareLaunchArgument(
        'start_pose', default_value='',
        description='Where the simulated robot starts: [x, y, yaw] in m and rad. Empty: as in '
                    'params_file.'),
    DeclareLaunchArgument(
        'start_steering', default_value='',
        description='Steering angles with which the simulated robot starts: one for all, or a '
                    'list with one per caster, in rad. Empty: as in params_file.'),
    DeclareLaunchArgument(
        'record', default_value='false', choices=BOOLEAN,
        description='Record the topics of config/record_topics.yaml to a bag.'),
    DeclareLaunchArgument(
        'bag_path', default_value='',
        description='Directory of the new bag; must not exist. Empty: c3p_<date>-<time> in the '
                    'working directory.'),
]


def parameters() -> list[object]:
    """Return what every node of the suite is told: the file, then the robot."""
    return [ParameterFile(LaunchConfiguration('params_file')),
            {'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str)}]


def control(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes of the control chain and the simulated robot."""
    simulated = LaunchConfiguration('sim').perform(context) != 'none'
    files, actions = [], []
    if simulated:
        start = {name: numbers(context, name) for name in ('start_pose', 'start_steering')}
        values = {name: value for name, value in start.items() if value}
        values['plant'] = LaunchConfiguration('sim').perform(context)
        if chosen(context, 'use_sim_time'):
            values['publish_clock'] = True
        files, actions = parameter_file('simulation', values)
    if LaunchConfiguration('nodes').perform(context) == 'one-process':
        return [*actions, suite_node('robot_nodes', *parameters(), *files,
                                     arguments=['--sim'] if simulated else [],
                                     on_exit=required('robot_nodes'))]
    executables = [*CHAIN, *(['simulation_node'] if simulated else [])]
    return [*actions, *(suite_node(executable, *parameters(), *files,
                                   on_exit=required(executable)) for executable in executables)]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    recorder = suite_node(
        'recorder_node', *parameters(),
        {'bag': ParameterValue(LaunchConfiguration('bag_path'), value_type=str)},
        on_exit=optional('recorder_node'), condition=IfCondition(LaunchConfiguration('record')))
    return LaunchDescription([
        *common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
        # first what can fail for want of a package, so that nothing is started in vain
        OpaqueFunction(function=rviz), state_publisher(needed=False), recorder,
        OpaqueFunction(function=control)])
