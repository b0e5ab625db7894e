# SPDX-License-Identifier: Apache-2.0
"""
Stand-in for ROS 2's package launch where it is not installed: describes, starts nothing.

It has what the launch files of the suite use, with the names, arguments and errors of launch 3.4;
an argument that the real one lacks is an error here, too (test_stub.py compares both).
"""

from launch.action import Action
from launch.context import LaunchContext
from launch.description import LaunchDescription
from launch.entity import LaunchDescriptionEntity

__all__ = ['Action', 'LaunchContext', 'LaunchDescription', 'LaunchDescriptionEntity']
