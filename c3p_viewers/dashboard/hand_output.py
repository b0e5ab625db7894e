# SPDX-License-Identifier: Apache-2.0
"""Publisher of the commands of a person at the live page, as of ``c3p teleop``."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from c3p_description.model import Array
from c3p_ros.messages import fill_twist
from c3p_ros.node import LATEST
from c3p_viewers.dashboard.refusal import Refusal
from c3p_viewers.dashboard.stop_receivers import ends, receivers

# topic of a person's commands to a twist_mux, and without one
TO_MUX = 'cmd_vel_keyboard'
DIRECT = 'cmd_vel'
STAMPED = 'geometry_msgs/msg/TwistStamped'
PLAIN = 'geometry_msgs/msg/Twist'


def kind_of(node: Node, topic: str) -> str:
    """Return the type of a topic of commands: stamped where there are both or none."""
    return PLAIN if ends(node, topic, PLAIN) and not ends(node, topic, STAMPED) else STAMPED


class HandOutput:
    """
    Publishes to the source of the mux for a keyboard, and to ``cmd_vel`` only without a mux.

    A publisher exists from the first press on: for a mux one of ``cmd_vel`` commands past all
    locks.

    Parameters
    ----------
    node : Node
    """

    def __init__(self, node: Node) -> None:
        """Begin without a publisher."""
        self._node = node
        self._out: Any = None
        self._topic = ''

    def open(self, muxed: bool) -> None:
        """
        Choose the topic of a press, and create its publisher.

        Raises
        ------
        Refusal
            Nothing receives the commands.
        """
        topic = TO_MUX if muxed else DIRECT
        kind = kind_of(self._node, topic)
        if not receivers(self._node, topic, kind):
            raise Refusal(f'{topic} has no subscriber; ' + (
                'add this source to the topics of the mux (config/twist_mux.yaml)' if muxed
                else 'start the velocity controller'))
        wanted = Twist if kind == PLAIN else TwistStamped
        if self._out is not None and (topic != self._topic or self._out.msg_type is not wanted):
            self.close()
        if self._out is None:
            self._out = self._node.create_publisher(wanted, topic, LATEST)
            self._topic = topic

    def watch(self, muxed: bool) -> None:
        """Give up the direct way to the robot as soon as there is a mux."""
        if muxed and self._topic == DIRECT:
            self.close()

    def send(self, twist: Array) -> None:
        """Publish a command (vx, vy, ω), m/s and rad/s."""
        if self._out is None:
            return
        message = self._out.msg_type()
        if isinstance(message, TwistStamped):
            message.header.stamp = self._node.get_clock().now().to_msg()
            message.header.frame_id = 'base_link'
        fill_twist(message.twist if isinstance(message, TwistStamped) else message, twist,
                   self._topic)
        self._out.publish(message)

    def close(self) -> None:
        """Remove the publisher."""
        if self._out is not None:
            self._node.destroy_publisher(self._out)
        self._out = None
        self._topic = ''
