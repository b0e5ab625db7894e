# SPDX-License-Identifier: Apache-2.0
"""The base of every node: robot, parameters, diagnostics and the clock of the watchdogs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data

from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_description.reading.urdf import from_urdf
from c3p_ros.diagnostics import Diagnostics
from c3p_ros.errors import PublishError
from c3p_ros.messages import MessageError, check_age
from c3p_ros.parameters import Parameters
from c3p_ros.wire import READERS

COMMON = Path(__file__).with_name('common_parameters.yaml')

# a command is of use only while it is the newest; states may queue behind a slow callback
LATEST = QoSProfile(depth=1)
RELIABLE = QoSProfile(depth=10)
# what only recorders and viewers hear reliably: two seconds at 200 Hz are kept for one that was
# held up, from which everything else can be computed again
RECORDED = QoSProfile(depth=400)
# a state that a late subscriber must get, too
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR_DATA = qos_profile_sensor_data

# how often the watchdogs look, s
WATCH_PERIOD = 0.02


class SuiteNode(Node):
    """
    A node with checked parameters, the robot, diagnostics and a watch.

    Parameters
    ----------
    name : str
    *schemas : Path
        Parameter schemas of the node; what several nodes share may stand in one of its own.
    **options
        Passed to rclpy's Node.

    Raises
    ------
    ValueError
        A parameter or a robot description that cannot be used.
    """

    # groups of parameters that the node reads by itself
    OWN_GROUPS: tuple[str, ...] = ()

    def __init__(self, name: str, *schemas: Path, **options: Any) -> None:
        """Declare the parameters and load the robot."""
        super().__init__(name, **options)
        # fixed at the start: asked several times a cycle
        self._simulated = bool(self.get_parameter('use_sim_time').value)
        self.parameters = Parameters(self, COMMON, *schemas, own=self.OWN_GROUPS)
        self.robot = self._load_robot()
        self.diagnostics = Diagnostics(self, self.robot.name, self.figures)

    def _load_robot(self) -> CasterRobot:
        values = self.parameters.value
        if values.robot_description:
            return from_urdf(values.robot_description)
        return load_casters(values.robot)

    def figures(self) -> Mapping[str, Any]:
        """Return what the diagnostics show once a second; nodes add theirs."""
        return {}

    @property
    def simulated_time(self) -> bool:
        """True where the node has followed /clock since its start."""
        return self._simulated

    def watch_time(self) -> float:
        """
        Return the time that watchdogs measure with, s.

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
        Call `look` every WATCH_PERIOD of real time, whatever the simulated time does.

        After a pause of this process itself it is left out once: a watchdog that slept has to read
        its messages before it may say that none came.
        """
        last = time.monotonic()

        def tick() -> None:
            nonlocal last
            now = time.monotonic()
            awake, last = now - last < 4 * WATCH_PERIOD, now
            if awake:
                look()

        self.create_timer(WATCH_PERIOD, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def listen(self, kind: type, topic: str, callback: Callable[[Any], None],
               profile: QoSProfile) -> None:
        """
        Subscribe to a message type of the control chain; `callback` gets what wire.py reads.

        Parameters
        ----------
        kind : type
            JointState, Odometry or AccelStamped.
        topic : str
        callback : callable
            Gets a JointStateRead, OdometryRead or AccelRead.
        profile : QoSProfile
        """
        read = READERS[kind]()

        def received(data: bytes) -> None:
            try:
                message = read(data)
            except MessageError as error:
                self.diagnostics.refuse(topic, error)
                return
            callback(message)

        self.create_subscription(kind, topic, received, profile, raw=True)

    def send(self, publisher: Any, write: Callable[..., Any], *arguments: Any, **values: Any
             ) -> bool:
        """
        Publish what ``write(*arguments, **values)`` returns; return whether that is allowed.

        Where the writer raises PublishError nothing is published and the diagnostics show why:
        the caller does what is safe instead. It may be called from any thread; a publisher whose
        context has been shut down publishes nothing.
        """
        try:
            message = write(*arguments, **values)
        except PublishError as error:
            self.diagnostics.withhold(error)
            return False
        try:
            publisher.publish(message)
        except Exception:
            if self.context.ok():
                raise
        return True

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
            raise MessageError('no /clock yet, which use_sim_time needs')
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
            Stale, ahead, or zero: a cycle is known by its stamp.
        """
        if stamp == 0 and not self._simulated:
            raise MessageError('the stamp is zero; a control cycle is known by its stamp')
        return self.check_fresh(stamp, max_age)

