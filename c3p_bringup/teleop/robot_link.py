# SPDX-License-Identifier: Apache-2.0
"""The node of ``c3p teleop``: commands and the e-stop out, what the robot does in."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from c3p_bringup.teleop.screen import View
from c3p_description.agv_model import Agv
from c3p_description.model import Array, CasterRobot
from c3p_description.pvc_model import PvcTricycle
from c3p_kinematics.se2 import wrap
from c3p_kinematics.singularity import singularity
from c3p_ros.errors import PublishError
from c3p_ros.messages import JointCoding, MessageError, fill_twist, planar
from c3p_ros.node import LATCHED, LATEST, RELIABLE, SENSOR_DATA
from c3p_ros.wire import READERS

# through twist_mux, and past it where there is none
KEYBOARD, DIRECT = 'cmd_vel_keyboard', 'cmd_vel'

# who listens is known after this time; until then nothing moves, s
DISCOVERY = 1.0

# a state that is older is not shown, s
OLD = 2.0

# limits of the node that follows the commands
LIMITS = ('speed_limit', 'yaw_rate_limit')


class RobotLink(Node):
    """
    Talks to the robot; callbacks store what they get, and only what is shown is read.

    Once a twist_mux has been seen every command goes through it, also when it is gone.

    Parameters
    ----------
    robot : CasterRobot, PvcTricycle or Agv
        Steering and singularity are shown of a robot on casters.
    topic : str
        Where the commands go; empty is to a twist_mux where there is one, else to ``cmd_vel``.
    stamped : bool
        Send TwistStamped, not Twist.
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    locked : bool
        Whether somebody says that the e-stop is pressed.
    limits : (2,) tuple or None, m/s and rad/s
        Speed and yaw rate that the velocity controller follows, when it has answered.
    """

    def __init__(self, robot: CasterRobot | PvcTricycle | Agv, topic: str = '',
                 stamped: bool = True, **options: Any) -> None:
        """Create publishers, subscriptions and the question for the limits."""
        super().__init__('teleop_keyboard', **options)
        self.robot = robot
        self._joints = JointCoding(robot) if isinstance(robot, CasterRobot) else None
        self._kind = TwistStamped if stamped else Twist
        self._begin, self._muxed, self._topic = time.monotonic(), False, topic or KEYBOARD
        # past a twist_mux only where there is none
        self._direct: Publisher | None = None
        self._out = self.create_publisher(self._kind, self._topic, LATEST)
        self._e_stop = self.create_publisher(Bool, 'e_stop', RELIABLE)
        self._said, self._mux_locked, self._drives = False, False, ''
        self._raw: dict[type, tuple[float, bytes]] = {}
        self._readers = {kind: READERS[kind]() for kind in (JointState, Odometry)}
        self._slip: DiagnosticArray | None = None
        self.limits: tuple[float, float] | None = None
        for kind, name, quality in ((JointState, 'joint_states', SENSOR_DATA),
                                    (Odometry, 'odom', SENSOR_DATA)):
            self.create_subscription(kind, name, lambda data, kind=kind: self._raw.update(
                {kind: (time.monotonic(), data)}), quality, raw=True)
        self.create_subscription(DiagnosticArray, 'sensed_kinematics/wheel_slip',
                                 lambda message: setattr(self, '_slip', message), RELIABLE)
        self.create_subscription(Bool, 'e_stop', lambda message: setattr(
            self, '_said', message.data), RELIABLE)
        self.create_subscription(Bool, 'twist_mux/locked', lambda message: setattr(
            self, '_mux_locked', message.data), LATCHED)
        self.create_subscription(String, 'twist_mux/driving', lambda message: setattr(
            self, '_drives', message.data), LATCHED)
        self._ask = self.create_client(GetParameters, 'velocity_controller/get_parameters')
        self.create_timer(0.5, self._on_timer)

    @property
    def locked(self) -> bool:
        """Whether anybody says that the e-stop is pressed."""
        return self._said or self._mux_locked

    @property
    def muxed(self) -> bool:
        """Whether a twist_mux takes the commands, or has done so."""
        if not self._muxed and self._topic == KEYBOARD:
            self._muxed = self._out.get_subscription_count() > 0
            if self._muxed and self._direct is not None:
                self.destroy_publisher(self._direct)
                self._direct = None
        return self._muxed

    @property
    def ready(self) -> bool:
        """Whether it is known who takes the commands."""
        return (self._topic != KEYBOARD or self.muxed
                or time.monotonic() - self._begin > DISCOVERY)

    def _publisher(self) -> Publisher:
        """Return where commands go now."""
        if self._topic != KEYBOARD or self.muxed or not self.ready:
            return self._out
        if self._direct is None:
            self._direct = self.create_publisher(self._kind, DIRECT, LATEST)
        return self._direct

    @property
    def place(self) -> str:
        """Topic to which the commands go."""
        return DIRECT if self._publisher() is self._direct else self._topic

    @property
    def heard(self) -> bool:
        """Whether somebody takes the commands."""
        return self._publisher().get_subscription_count() > 0

    def send(self, twist: Array) -> None:
        """Command (vx, vy, ω); zero in the place of what is not finite."""
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

    def say(self, locked: bool) -> None:
        """Press or release the e-stop."""
        self._said = locked
        self._e_stop.publish(Bool(data=locked))

    def flush(self, seconds: float) -> None:
        """Wait until what was sent has arrived, but not for long."""
        for publisher in (self._publisher(), self._e_stop):
            publisher.wait_for_all_acked(Duration(seconds=seconds))

    def show(self, view: View) -> None:
        """Write what the robot does into `view`."""
        now = time.monotonic()
        view.robot, view.place = self.robot.name, self.place
        view.twist, view.steering, view.sigma_min, view.slip = None, None, None, ''
        try:
            odometry, view.twist_age = self._read(Odometry, now)
            view.twist = None if odometry is None else planar(odometry.twist, 'twist')
            joints, _ = self._read(JointState, now)
            if joints is not None and self._joints is not None:
                view.steering = wrap(self._joints.read(joints)[0])
                view.sigma_min = float(singularity(self.robot, view.steering).sigma_min)
        except MessageError as error:
            view.note = f'{error}'
        if self._slip is not None:
            view.slip = slip_text(self._slip)
        if self._drives not in ('', 'keyboard'):
            view.note = view.note or f'twist_mux follows {self._drives}'

    def _read(self, kind: type, now: float) -> tuple[Any, float]:
        heard, data = self._raw.get(kind, (-OLD, b''))
        age = now - heard
        return (self._readers[kind](data) if data and age <= OLD else None), age

    def _on_timer(self) -> None:
        """Follow the robot's clock; ask once for the limits, when there is somebody to ask."""
        # a simulated robot may publish its time, and refuses stamps of another
        simulated = self.count_publishers('/clock') > 0
        if simulated != self.get_parameter('use_sim_time').value:
            self.set_parameters([Parameter('use_sim_time', value=simulated)])
        if self.limits is None and self._ask.service_is_ready():
            answer = self._ask.call_async(GetParameters.Request(names=list(LIMITS)))
            answer.add_done_callback(self._on_limits)

    def _on_limits(self, answer: Any) -> None:
        values = getattr(answer.result(), 'values', ())
        if [value.type for value in values] == [ParameterType.PARAMETER_DOUBLE] * len(LIMITS):
            self.limits = tuple(value.double_value for value in values)


def slip_text(message: DiagnosticArray) -> str:
    """Return which wheels slip, and how fast, of a ``~/wheel_slip``."""
    slipping = []
    for status in message.status:
        figures = {value.key: value.value for value in status.values}
        if figures.get('suspect') == 'true':
            slipping.append(f'{status.name} along {figures.get("along")} across '
                            f'{figures.get("across")} m/s')
    return ', '.join(slipping) or 'none'
