# SPDX-License-Identifier: Apache-2.0
"""Content of a launch file."""

from launch.actions import DeclareLaunchArgument
from launch.entity import LaunchDescriptionEntity


class LaunchDescription(LaunchDescriptionEntity):
    """Entities in their order."""

    def __init__(self, initial_entities=None):
        self.entities = list(initial_entities or [])
        assert all(isinstance(one, LaunchDescriptionEntity) for one in self.entities)

    def visit(self, context):
        return self.entities

    def get_launch_arguments(self):
        return [one for one in self.entities if isinstance(one, DeclareLaunchArgument)]
