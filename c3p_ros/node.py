# SPDX-License-Identifier: Apache-2.0
"""Base of every node: robot, parameters, diagnostics, the clock of the watchdogs, and /tf."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Quaternion, TransformStamped, Vector3
from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher
from rclpy.qos import (
    DurabilityPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from rclpy.subscription import Subscription

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import describe_casters
from c3p_description.reading.urdf import read_urdf
from c3p_ros.cdr import EarlyMessageError, PublishError
from c3p_ros.channels import Listener, subscribers
from c3p_ros.diagnostics import Diagnostics
from c3p_ros.exchange import Exchange
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import MessageError, check_age, ns_to_stamp, pose_numbers
from c3p_ros.parameters import MoreEntries, Parameters
from c3p_ros.real_time import CrowdedProcessor
from c3p_ros.schema import COMMON
from c3p_ros.wire import READERS, Writer

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # tf2 comes with a ROS 2 installation, not from the package registries
    TFMessage = None

# only the newest command is of use; states may queue behind a slow callback
LATEST = QoSProfile(depth=1)
RELIABLE = QoSProfile(depth=10)
# topics that only recorders and viewers receive reliably, from which all others can be computed
# again: two seconds at 200 Hz are kept for a subscriber that was delayed
RECORDED = QoSProfile(depth=400)
# receives every publisher, reliable or not; a lost message is not sent again
ANY_RELIABILITY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# a state that late subscribers receive, too
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR_DATA = qos_profile_sensor_data

# period of the watchdogs, s
WATCH_PERIOD = 0.02

# simulated time may start so long after a node without a warning, s
CLOCK_WAIT = 10.0


class SuiteNode(WatchedNode):
    """
    A node with checked parameters, the robot, diagnostics and a watch.

    Parameters
    ----------
    name : str
    *schemas : Path
        Parameter schemas of the node; parameters of several nodes may have a schema of their own.
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    exchange : Exchange
        Delivers messages within the process; shared by the nodes of an executor.

    Raises
    ------
    ValueError
        An invalid parameter or robot description.
    """

    # groups of parameters that the node declares on its own
    OWN_GROUPS: tuple[str, ...] = ()

    # entries that depend on the parameters with which the node was started, as of `Parameters`
    MORE_ENTRIES: MoreEntries | None = None

    def __init__(self, name: str, *schemas: Path, **options: Any) -> None:
        """Declare the parameters and load the robot."""
        super().__init__(name, **options)
        self._started = time.monotonic()
        self.exchange = Exchange()
        self._alone = True
        self._listening: list[tuple[Listener, Subscription]] = []
        self.at_end(self._leave)
        # fixed at the start: read several times a cycle
        self._simulated = bool(self.get_parameter('use_sim_time').value)
        self.parameters = Parameters(self, COMMON, *schemas, own=self.OWN_GROUPS,
                                     more=self.MORE_ENTRIES)
        # entries of its file that were taken for others; one node of the chain logs them
        self.robot_warnings: tuple[str, ...] = ()
        self.robot = self._load_robot()
        self._processor = CrowdedProcessor()
        self.diagnostics = Diagnostics(self, self.robot.name, self._judged_metrics, name)

    def _load_robot(self) -> CasterRobot:
        values = self.parameters.value
        found = (read_urdf(values.robot_description) if values.robot_description
                 else describe_casters(values.robot))
        self.robot_warnings = found.warnings
        return found.robot

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics of the diagnostics, shown once a second; nodes override this."""
        return {}

    def _judged_metrics(self) -> Mapping[str, Any]:
        """Return `metrics`, and warn of overruns that starve other processes."""
        found = self.metrics()
        self.caution(self._processor.caution(int(found.get('overruns', 0))))
        return found

    @property
    def simulated_time(self) -> bool:
        """True where the node has followed /clock since its start."""
        return self._simulated

    def watch_time(self) -> float:
        """
        Return the time of the watchdogs, s.

        The monotonic clock, so that a step of the system clock trips nothing; with
        ``use_sim_time`` the simulation's, so that a paused or slow one trips nothing either.
        """
        return self.now_ns() * 1e-9 if self._simulated else time.monotonic()

    def now_ns(self) -> int:
        """Return the time of the node's clock in nanoseconds."""
        # the same as the node's clock without simulated time, at a fortieth of its cost
        return self.get_clock().now().nanoseconds if self._simulated else time.time_ns()

    def caution(self, text: str) -> None:
        """Log a warning, unless `text` is empty."""
        if text:
            self.get_logger().warning(text)

    def watch(self, look: Callable[[], None]) -> None:
        """
        Call `look` every WATCH_PERIOD of real time, independent of simulated time.

        After a pause of this process one call is left out: messages that came during the pause
        must be read before a timeout is reported.
        """
        last = time.monotonic()

        def tick() -> None:
            nonlocal last
            now = time.monotonic()
            awake = now - last < 4 * WATCH_PERIOD
            last = now
            if awake:
                look()

        self.create_timer(WATCH_PERIOD, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def listen(self, kind: type, topic: str, callback: Callable[[Any], None],
               profile: QoSProfile, rank: int = 1) -> None:
        """
        Subscribe to a message type of the control chain; `callback` gets its immutable value.

        Parameters
        ----------
        kind : type
            JointState, Odometry, AccelStamped, Imu or MultiDOFJointTrajectory.
        topic : str
        callback : callable
            Gets a message of chain_messages.py: of this process as it was sent, of others as it
            was read.
        profile : QoSProfile
        rank : int
            As of `Listener`.
        """
        def received(data: bytes) -> None:
            self.exchange.arrived(subscription, data)

        subscription = self.create_subscription(kind, topic, received, profile, raw=True)
        listening = Listener(self, topic, READERS[kind](), callback, rank), subscription
        self._listening.append(listening)
        self.exchange.join(*listening)

    def join(self, exchange: Exchange) -> None:
        """Share what `listen` subscribes and `send` publishes with the nodes of an executor."""
        self._move(exchange, alone=False)

    def _move(self, exchange: Exchange, alone: bool) -> None:
        self.exchange.leave(self)
        self.exchange = exchange
        self._alone = alone
        for listening in self._listening:
            exchange.join(*listening)

    def _leave(self) -> None:
        self._listening.clear()
        self._move(Exchange(), alone=True)

    def send(self, publisher: Publisher, writer: Writer, *arguments: Any, **values: Any) -> bool:
        """
        Send a message of the control chain; return whether it could be made.

        The message is ``writer.message(*arguments, **values)``, and `publisher` is that of its
        topic. If the writer raises PublishError, nothing is sent and the diagnostics show the
        reason; the caller then does what is safe. Nodes of this process that subscribe to it get
        the value at once; for other processes, if they subscribe, it is serialized after what it
        causes in this one. From any thread.
        """
        try:
            message = writer.message(*arguments, **values)
        except PublishError as error:
            self.diagnostics.withhold(error)
            return False
        if self._alone:
            self.publish(publisher, writer.serialize(message))
        else:
            self.exchange.send(self, publisher, writer, message)
        return True

    def send_typed(self, publisher: Publisher, make: Callable[..., Any], *arguments: Any,
                   **values: Any) -> bool:
        """
        Give `publisher` the message of rclpy that ``make(*arguments, **values)`` returns.

        Returns whether it could be made, as `send`; nodes of this process get it by the middleware
        as well.
        """
        try:
            message = make(*arguments, **values)
        except PublishError as error:
            self.diagnostics.withhold(error)
            return False
        self.publish(publisher, message)
        return True

    def publish(self, publisher: Publisher, message: Any) -> None:
        """Publish a message; without effect once the context has been shut down."""
        try:
            publisher.publish(message)
        except Exception:
            if self.context.ok():
                raise

    def check_fresh(self, stamp: int, max_age: float) -> int:
        """
        Return the stamp (ns) when it is neither stale nor ahead; a zero stamp means now.

        Raises
        ------
        MessageError
            With age and limit.
        """
        now = self.now_ns()
        if stamp == 0:
            return now
        if now == 0 and self._simulated:
            early = time.monotonic() - self._started < CLOCK_WAIT
            raise (EarlyMessageError if early else MessageError)(
                'no /clock yet, which use_sim_time needs')
        # simulated time reaches the node by a topic of its own, after the message it belongs to;
        # and RViz may stamp goals with the system's time, which a slow simulation is behind
        check_age(stamp, now, max_age, max(1.0, max_age) if self._simulated else 0.1)
        return stamp

    def cycle_stamp(self, stamp: int, max_age: float) -> int:
        """
        Return the stamp (ns) of a control cycle when it may be used.

        Raises
        ------
        MessageError
            Stale, ahead, or zero: the stamp identifies the cycle.
        """
        if stamp == 0 and not self._simulated:
            raise MessageError('the stamp is zero; it must identify the control cycle')
        return self.check_fresh(stamp, max_age)


class TransformPublisher:
    """
    Publishes one transform on /tf where tf2_msgs is installed; logs once where it is not.

    Parameters
    ----------
    node : SuiteNode
    """

    def __init__(self, node: SuiteNode) -> None:
        """Create the publisher."""
        self._node = node
        self.works = TFMessage is not None
        if self.works:
            self._publisher = node.create_publisher(TFMessage, '/tf', 100)
        else:
            node.get_logger().info('/tf is off: tf2_msgs is not installed (it comes with a ROS 2 '
                                   'installation); odom carries the same pose')

    def send(self, stamp: int, pose: Array, frame: str, child: str) -> None:
        """
        Publish pose (x, y, yaw) of frame `child` in `frame`; the stamp is in ns.

        After what the present message causes, as `Exchange.afterwards`.
        """
        if self.works:
            self._node.exchange.afterwards(
                lambda: self.send_spatial(stamp, pose_numbers(pose), frame, child))

    def send_spatial(self, stamp: int, pose: Sequence[float], frame: str, child: str) -> None:
        """Publish a pose of seven numbers, position and quaternion (x, y, z, w), as `send`."""
        if not self.works or not subscribers(self._publisher):
            return
        transform = TransformStamped(child_frame_id=child)
        transform.header.stamp = ns_to_stamp(stamp)
        transform.header.frame_id = frame
        x, y, z, qx, qy, qz, qw = map(float, pose)
        transform.transform.translation = Vector3(x=x, y=y, z=z)
        transform.transform.rotation = Quaternion(x=qx, y=qy, z=qz, w=qw)
        self._node.publish(self._publisher, TFMessage(transforms=[transform]))
