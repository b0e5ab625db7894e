# SPDX-License-Identifier: Apache-2.0
"""Publishers of simulated robots: the ground truth, an IMU, and the simulated clock."""

from __future__ import annotations

from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from c3p_ros.channels import subscribers
from c3p_ros.imu_wire import YawRateWriter
from c3p_ros.messages import ns_to_stamp
from c3p_ros.node import RECORDED, RELIABLE, SuiteNode
from c3p_ros.wire import PlanarOdometryWriter
from c3p_simulation.plants.gyro import GyroErrors
from c3p_simulation.plants.plant import GroundTruth, Plant
from c3p_simulation.plants.sensors import SensedPlant, turns_measured

TRUTH = 'ground_truth/odom'
IMU = 'imu/data'


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


class GyroPublisher:
    """
    Publisher of the yaw rate of a simulated gyro in ``base_link``, ``imu/data``.

    Parameters
    ----------
    node : SuiteNode
    plant : Plant
        Without a gyro there is no publisher, and `publish` has no effect.
    """

    def __init__(self, node: SuiteNode, plant: Plant) -> None:
        """Create the publisher."""
        self._node = node
        self._plant = plant
        errors = plant.settings.gyro if isinstance(plant, SensedPlant) else GyroErrors()
        self._publisher = node.create_publisher(Imu, IMU, RECORDED) if errors.rate > 0 else None
        # white noise of the samples, rad²/s²; 0 is unknown
        self._write = YawRateWriter('base_link', errors.noise**2 * errors.rate, IMU)

    def publish(self, now: int) -> None:
        """Publish the samples since the last call; the true time of the plant is `now` [ns]."""
        if self._publisher is None:
            return
        for turn in turns_measured(self._plant):
            stamp = max(0, now + round(1e9 * (turn.time - self._plant.time)))
            self._node.send(self._publisher, self._write, stamp, turn.rate)


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
