# SPDX-License-Identifier: Apache-2.0
"""The vehicle at its start, for viewers, while its kernels are compiled."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point, Pose, Vector3
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from c3p_description.pvc_model import JOINTS
from c3p_ros.messages import ns_to_stamp
from c3p_ros.node import LATCHED, SuiteNode, TransformPublisher
from c3p_rough_ground.terrain import Terrain
from c3p_simulation.worker import Worker

# period of the messages, and time that kernels from the cache take: without any message, s
PERIOD = 0.5
QUICK = 1.5
TEXT = 'compiling the kernels: the first start takes 1 to 3 minutes'
# height of the letters and of the text above the platform, m; a blank against the letters
LETTERS = 0.12
ABOVE = 1.3
BLANK = 0.3


class Preparation(Worker):
    """
    Publishes joints at rest, an upright platform at the start pose, and a notice as a marker.

    Viewers get every frame of the vehicle, instead of errors, until `stop`.

    Parameters
    ----------
    node : SuiteNode
        Of a tricycle or another vehicle.
    transforms : TransformPublisher, optional
        None: the frame of the platform is not published.
    stamp : int, ns
        Of the first message.
    follows : bool
        Whether stamps follow the clock of the node; else each is 1 ns later than the one before.
    """

    def __init__(self, node: SuiteNode, transforms: TransformPublisher | None, stamp: int,
                 follows: bool) -> None:
        """Create the publisher of the notice without starting the thread."""
        super().__init__('preparation', self._keep)
        self._node = node
        self._transforms = transforms
        self._robot: Any = node.robot
        self._stamp = stamp
        self._follows = follows
        self._notice_pub = node.create_publisher(MarkerArray, '~/notice', LATCHED)
        self._pose: list[float] = []
        self._noticed = False

    def begin(self, joint_pub: Publisher, terrain: Terrain, start: Sequence[float]) -> None:
        """Start the thread; `joint_pub` publishes joint_states, `start` is x, y, yaw."""
        x, y, yaw = start
        height = float(terrain.height(x, y)) + self._robot.outer_radius
        self._pose = [x, y, height, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)]
        self._joint_pub = joint_pub
        self.start()

    def stop(self) -> None:
        """Stop the thread and delete the notice."""
        super().stop()
        if self._noticed:
            self._node.publish(self._notice_pub,
                               MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))

    def _keep(self, stopping: threading.Event) -> None:
        wait = QUICK
        while not stopping.wait(wait):
            wait = PERIOD
            self._stamp = self._node.now_ns() if self._follows else self._stamp + 1
            self._show()

    def _show(self) -> None:
        values = self._node.parameters.value
        names = list(getattr(self._robot, 'joints', JOINTS))
        rest = JointState(name=names, position=[0.0] * len(names), velocity=[0.0] * len(names))
        rest.header.stamp = ns_to_stamp(self._stamp)
        self._node.publish(self._joint_pub, rest)
        if self._transforms is not None:
            self._transforms.send_spatial(self._stamp, self._pose, values.odom_frame,
                                          values.base_frame)
        if not self._noticed:
            self._noticed = True
            self._node.publish(self._notice_pub, MarkerArray(markers=[self._notice()]))

    def _notice(self) -> Marker:
        marker = Marker(ns='notice', type=Marker.TEXT_VIEW_FACING, text=TEXT, frame_locked=True,
                        color=ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0),
                        scale=Vector3(x=BLANK * LETTERS, z=LETTERS),
                        pose=Pose(position=Point(z=ABOVE)))
        # of no time: its frame where it is now
        marker.header.frame_id = self._node.parameters.value.base_frame
        return marker
