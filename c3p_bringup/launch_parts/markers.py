# SPDX-License-Identifier: Apache-2.0
"""Marker node of the launch files."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from c3p_bringup.launch_parts.actions import chosen, optional, suite_node
from c3p_description.model import ModelError
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load, load_casters
from launch import LaunchContext, LaunchDescriptionEntity


def marker_argument() -> DeclareLaunchArgument:
    """Return the argument of `markers`."""
    return DeclareLaunchArgument(
        'markers', default_value='auto', choices=('auto', 'true', 'false'),
        description='Start the marker node, which draws rolling lines, instantaneous centre, slip '
                    'and path of a caster robot, and the camber of a tricycle, for RViz and '
                    'Foxglove; it is idle without subscribers. auto: with RViz, for these robots.')


def markers(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the marker node if the argument ``markers`` requests it.

    Raises
    ------
    ModelError
        ``true``, and the robot is neither a caster robot nor a tricycle.
    """
    requested = LaunchConfiguration('markers').perform(context)
    robot = LaunchConfiguration('robot').perform(context)
    if requested == 'false' or (requested == 'auto' and not chosen(context, 'rviz')):
        return []
    try:
        if not isinstance(load(robot), PvcTricycle):
            load_casters(robot)
    except ModelError:
        if requested == 'true':
            raise
        return []
    # some launch files have no parameter file
    file = context.launch_configurations.get('params_file')
    return [suite_node('marker_node', *([ParameterFile(file)] if file else []), {
        'robot': ParameterValue(robot, value_type=str)}, on_exit=optional('marker_node'))]
