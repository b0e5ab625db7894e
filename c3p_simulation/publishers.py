# SPDX-License-Identifier: Apache-2.0
"""Publishers of simulated robots: the ground truth and the simulated clock."""

from __future__ import annotations

from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from c3p_ros.channels import subscribers
from c3p_ros.messages import ns_to_stamp
from c3p_ros.node import RECORDED, RELIABLE, SuiteNode
from c3p_ros.wire import PlanarOdometryWriter
from c3p_simulation.plants.plant import GroundTruth

TRUTH = 'ground_truth/odom'


class GroundTruthPublisher:
    """
    Publisher of the true pose and twist, ``ground_truth/odom``.

    Parameters
    ----------
    node : SuiteNode
    enabled : bool
        False creates no publisher, and `publish` has no effect.
    """

    def __init__(self, node: SuiteNode, enabled: bool = True) -> None:
        """Create the publisher."""
        self._node, self._write = node, PlanarOdometryWriter('odom', 'base_link', TRUTH)
        self._publisher = node.create_publisher(Odometry, TRUTH, RECORDED) if enabled else None

    def publish(self, stamp: int, truth: GroundTruth) -> None:
        """Publish `truth` with a stamp in ns, if there is a subscriber."""
        if self._publisher is not None and subscribers(self._publisher):
            self._node.send(self._publisher, self._write, stamp, truth.pose, truth.twist)


class ClockPublisher:
    """Publisher of simulated time, ``/clock``; parameters as in `GroundTruthPublisher`."""

    def __init__(self, node: SuiteNode, enabled: bool = True) -> None:
        """Create the publisher."""
        self._node = node
        self._publisher = node.create_publisher(Clock, '/clock', RELIABLE) if enabled else None

    def publish(self, stamp: int) -> None:
        """Publish a time in ns."""
        if self._publisher is not None:
            self._node.send_typed(self._publisher, Clock, clock=ns_to_stamp(stamp))
