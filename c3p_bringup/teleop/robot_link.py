# SPDX-License-Identifier: Apache-2.0
"""Node of ``c3p teleop``: publishes commands and e-stop, receives the state of the robot."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from c3p_bringup.teleop.screen import TeleopView
from c3p_description.agv_model import Agv
from c3p_description.model import Array, CasterRobot
from c3p_description.pvc_model import PvcTricycle
from c3p_kinematics.se2 import wrap
from c3p_kinematics.singularity import shown_singularity
from c3p_ros.cdr import PublishError
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import JointCoding, MessageError, fill_twist, planar
from c3p_ros.node import ANY_RELIABILITY, LATCHED, LATEST, RELIABLE, SENSOR_DATA
from c3p_ros.wheel_slip import TOPIC as SLIP
from c3p_ros.wheel_slip import read_slip
from c3p_ros.wire import READERS

# topics with and without a twist_mux
KEYBOARD = 'cmd_vel_keyboard'
DIRECT = 'cmd_vel'

# discovery time of the subscribers; until then nothing moves, s
DISCOVERY = 1.0

# an older state is not displayed, s
OLD = 2.0

# limits of the velocity controller
LIMITS = ('speed_limit', 'yaw_rate_limit')


class RobotLink(WatchedNode):
    """
    Interface to the robot; callbacks store messages, which are decoded only for display.

    Once a twist_mux has been discovered every command goes through it, also after it has ended.

    Parameters
    ----------
    robot : CasterRobot, PvcTricycle or Agv
        Steering and singularity are displayed for a caster robot.
    topic : str
        Topic of the commands; empty: that of a twist_mux if there is one, else ``cmd_vel``.
    stamped : bool
        Publish TwistStamped instead of Twist.
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    locked : bool
        True while any source engages the e-stop.
    limits : (2,) tuple or None, m/s and rad/s
        Speed and yaw rate limits of the velocity controller, once it has responded.
    """

    def __init__(self, robot: CasterRobot | PvcTricycle | Agv, topic: str = '',
                 stamped: bool = True, **options: Any) -> None:
        """Create publishers, subscriptions and the client for the limits."""
        super().__init__('teleop_keyboard', **options)
        self.robot = robot
        self._joints = JointCoding(robot) if isinstance(robot, CasterRobot) else None
        self._kind = TwistStamped if stamped else Twist
        self._begin = time.monotonic()
        self._muxed = False
        self._topic = topic or KEYBOARD
        # created only without a twist_mux
        self._direct: Publisher | None = None
        self._out = self.create_publisher(self._kind, self._topic, LATEST)
        self._e_stop = self.create_publisher(Bool, 'e_stop', RELIABLE)
        self._engaged = False
        self._mux_locked = False
        self._drives = ''
        self._raw: dict[type, tuple[float, bytes]] = {}
        self._readers = {kind: READERS[kind]() for kind in (JointState, Odometry)}
        self._slip: JointState | None = None
        self.limits: tuple[float, float] | None = None
        for kind, name, quality in ((JointState, 'joint_states', SENSOR_DATA),
                                    (Odometry, 'odom', SENSOR_DATA)):
            self.create_subscription(kind, name, partial(self._on_raw, kind), quality, raw=True)
        self.create_subscription(JointState, SLIP,
                                 lambda message: setattr(self, '_slip', message), RELIABLE)
        for kind, name, field, quality in (
                (Bool, 'e_stop', '_engaged', ANY_RELIABILITY),
                (Bool, 'twist_mux/locked', '_mux_locked', LATCHED),
                (String, 'twist_mux/driving', '_drives', LATCHED)):
            self.create_subscription(kind, name, partial(self._on_state, field), quality)
        self._get_limits = self.create_client(GetParameters, 'velocity_controller/get_parameters')
        self.create_timer(0.5, self._on_timer)

    def _on_raw(self, kind: type, data: bytes) -> None:
        self._raw[kind] = time.monotonic(), data

    def _on_state(self, field: str, message: Any) -> None:
        setattr(self, field, message.data)

    @property
    def locked(self) -> bool:
        """True while any source engages the e-stop."""
        return self._engaged or self._mux_locked

    @property
    def muxed(self) -> bool:
        """True once a twist_mux subscribes to the commands."""
        if not self._muxed and self._topic == KEYBOARD:
            self._muxed = self._out.get_subscription_count() > 0
            if self._muxed and self._direct is not None:
                self.destroy_publisher(self._direct)
                self._direct = None
        return self._muxed

    @property
    def ready(self) -> bool:
        """True once the subscriber of the commands is known."""
        return (self._topic != KEYBOARD or self.muxed
                or time.monotonic() - self._begin > DISCOVERY)

    def _publisher(self) -> Publisher:
        """Return the publisher of the commands."""
        if self._topic != KEYBOARD or self.muxed or not self.ready:
            return self._out
        if self._direct is None:
            self._direct = self.create_publisher(self._kind, DIRECT, LATEST)
        return self._direct

    @property
    def place(self) -> str:
        """Topic of the commands."""
        return DIRECT if self._publisher() is self._direct else self._topic

    @property
    def connected(self) -> bool:
        """True if the commands have a subscriber."""
        return self._publisher().get_subscription_count() > 0

    def send(self, twist: Array) -> None:
        """Publish the command (vx, vy, ω); zero instead of a value that is not finite."""
        try:
            message = self._message(twist)
        except PublishError as error:
            self.get_logger().error(f'{error}', throttle_duration_sec=1.0)
            message = self._message(np.zeros(3))
        self._publisher().publish(message)

    def _message(self, twist: Array) -> Any:
        message = self._kind()
        if self._kind is not TwistStamped:
            return fill_twist(message, twist, self.place)
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = 'base_link'
        fill_twist(message.twist, twist, self.place)
        return message

    def set_e_stop(self, locked: bool) -> None:
        """Engage or release the e-stop."""
        self._engaged = locked
        self._e_stop.publish(Bool(data=locked))

    def flush(self, seconds: float) -> None:
        """Wait until the messages are acknowledged, `seconds` at most."""
        for publisher in (self._publisher(), self._e_stop):
            publisher.wait_for_all_acked(Duration(seconds=seconds))

    def show(self, view: TeleopView) -> None:
        """Write the state of the robot into `view`."""
        now = time.monotonic()
        view.robot, view.place = self.robot.name, self.place
        view.twist = None
        view.steering = None
        view.sigma_min = None
        view.slip = ''
        try:
            odometry, view.twist_age = self._read(Odometry, now)
            view.twist = None if odometry is None else planar(odometry.twist, 'twist')
            joints, _ = self._read(JointState, now)
            if (joints is not None and self._joints is not None
                    and isinstance(self.robot, CasterRobot)):
                view.steering = wrap(self._joints.read(joints)[0])
                state = shown_singularity(self.robot, view.steering)
                view.sigma_min = None if state is None else float(state.sigma_min)
            if self._slip is not None:
                view.slip = slip_text(self._slip)
        except MessageError as error:
            view.note = f'{error}'
        if self._drives not in ('', 'keyboard'):
            view.note = view.note or f'twist_mux follows {self._drives}'

    def _read(self, kind: type, now: float) -> tuple[Any, float]:
        received, data = self._raw.get(kind, (-OLD, b''))
        age = now - received
        return (self._readers[kind](data) if data and age <= OLD else None), age

    def _on_timer(self) -> None:
        """Follow the robot's clock; request the limits once the velocity controller is there."""
        # a simulated robot may publish /clock, and rejects stamps of another clock
        simulated = self.count_publishers('/clock') > 0
        if simulated != self.get_parameter('use_sim_time').value:
            self.set_parameters([Parameter('use_sim_time', value=simulated)])
        if self.limits is None and self._get_limits.service_is_ready():
            response = self._get_limits.call_async(GetParameters.Request(names=list(LIMITS)))
            response.add_done_callback(self._on_limits)

    def _on_limits(self, response: Any) -> None:
        values = getattr(response.result(), 'values', ())
        if [value.type for value in values] == [ParameterType.PARAMETER_DOUBLE] * len(LIMITS):
            self.limits = tuple(value.double_value for value in values)


def slip_text(message: JointState) -> str:
    """Return the slipping wheel and its slip velocity, from a ``wheel_slip`` message."""
    slip = read_slip(message, message.name)
    if slip.suspect < 0:
        return 'none'
    along, across = slip.residual[slip.suspect]
    return f'{message.name[slip.suspect]} along {along:.5f} across {across:.5f} m/s'
