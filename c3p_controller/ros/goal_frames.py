# SPDX-License-Identifier: Apache-2.0
"""Frames of goals: transformation to the odometry frame, also by tf2 where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from c3p_description.model import Array
from c3p_kinematics.se2 import compose
from c3p_ros.cdr import MOST_TEXT, MessageError
from c3p_ros.messages import pose_of, yaw_of

try:
    import tf2_ros
except ImportError:  # tf2 comes with a ROS 2 installation, not from the package registries
    tf2_ros = None


class GoalFrames:
    """
    Transforms goals to the odometry frame.

    Without tf2 the frames are those of the odometry, so that "two metres ahead" is a goal in
    ``base_link``; an empty frame is the odometry's. With tf2_ros every frame connected by /tf.

    Attributes
    ----------
    pair : (str, str)
        Names of the frames of the odometry and of the robot.
    """

    def __init__(self, node: Node) -> None:
        """Subscribe to /tf where tf2_ros is installed."""
        self.pair = 'odom', 'base_link'
        self._buffer: Any = None
        if tf2_ros is not None:
            self._buffer = tf2_ros.Buffer()
            self._listener = tf2_ros.TransformListener(self._buffer, node)
        # compiled before the first goal, which would delay every node of its process
        compose(np.zeros(3), np.zeros(3))

    def resolve(self, goal: PoseStamped, pose: Array) -> Array:
        """
        Return the goal (x, y, yaw) in the odometry frame, in which the robot is at `pose`.

        Raises
        ------
        MessageError
            A goal that is not finite, or a frame without connection to the odometry.
        """
        target = pose_of(goal.pose, 'pose')
        frame = goal.header.frame_id
        if len(frame) > MOST_TEXT:
            raise MessageError(f'a frame of {len(frame)} letters: must have at most {MOST_TEXT}')
        odom_frame, base_frame = self.pair
        if frame in ('', odom_frame):
            return target
        if frame == base_frame:
            return compose(pose, target)
        return compose(self._look_up(frame), target)

    def _look_up(self, frame: str) -> Array:
        odom_frame, base_frame = self.pair
        known = f'known are {odom_frame!r} and {base_frame!r}'
        if self._buffer is None:
            raise MessageError(f'frame {frame!r}: {known}; other frames need tf2_ros, which is '
                               'not installed')
        try:
            found = self._buffer.lookup_transform(odom_frame, frame, tf2_ros.Time())
        except Exception as error:
            raise MessageError(f'frame {frame!r}: {error}; {known}') from error
        move = found.transform
        return np.array([move.translation.x, move.translation.y,
                         yaw_of(move.rotation, f'transform to {frame}')])
