# SPDX-License-Identifier: Apache-2.0
"""Node of the live page: receives the state of a caster robot, publishes goals and the stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from rclpy.parameter import Parameter
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, Float64, String
from std_srvs.srv import Trigger

from c3p_controller.goals.goal_bounds import FARTHEST
from c3p_description.model import CasterRobot
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import fill_pose
from c3p_ros.node import ANY_RELIABILITY, LATCHED, LATEST, RELIABLE, SENSOR_DATA
from c3p_viewers.dashboard.diagnostics_board import DiagnosticsBoard
from c3p_viewers.dashboard.drive_view import DriveView
from c3p_viewers.dashboard.hand_drive import HandDrive
from c3p_viewers.dashboard.hand_output import PLAIN, HandOutput, kind_of
from c3p_viewers.dashboard.refusal import Refusal
from c3p_viewers.dashboard.samples import History, sample
from c3p_viewers.dashboard.stop_receivers import receivers
from c3p_viewers.sources.live import Taps
from c3p_viewers.sources.moment import Moment
from c3p_viewers.sources.moment_reader import TOPICS, MomentReader

# period of a pressed stop for subscribers that start later, and of looking at the graph, s
REPEAT = 0.5
LOOK = 0.5
# a state of the battery is shown for so long, s
BATTERY_SHOWN = 30.0
# time limit of the mux for the confirmation of a stop, and largest age of its diagnostics, which
# it publishes each second, s: the graph lists a killed process for 20 s more
CONFIRMED_WITHIN = 1.0
MUX_SILENCE = 2.5

MUX = 'twist_mux'


class DashboardLink(WatchedNode):
    """
    Connection between a caster robot and the live page.

    The stop uses what the suite has: ``e_stop`` of the twist_mux, repeated while it is pressed,
    and ``position_controller/cancel``. Without a mux, or while the mux does not confirm the stop,
    zeros are published on ``cmd_vel`` as well. Its release publishes false and starts nothing: the
    goal is gone, and the mux requires zero or silence of every source.

    Commands by hand (`HandDrive`) last as long as a page repeats them. They cancel the goal, and
    end at a stop and without joint states.

    Parameters
    ----------
    robot : CasterRobot
    history : History
        Receives samples and status.
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    pressed : bool
        True while this page engages the stop.
    """

    def __init__(self, robot: CasterRobot, history: History, **options: Any) -> None:
        """Create publishers, subscriptions and the client of the position controller."""
        super().__init__('dashboard', start_parameter_services=False, enable_rosout=False,
                         **options)
        self.robot = robot
        self.history = history
        self.pressed = False
        self._reader = MomentReader(robot)
        self._moment: Moment | None = None
        self._taps = Taps(self, TOPICS, self._reader.put)
        self._goal = self.create_publisher(PoseStamped, 'goal_pose', LATEST)
        self._e_stop = self.create_publisher(Bool, 'e_stop', RELIABLE)
        # created only for a stop without a twist_mux
        self._zeros: Any = None
        self._cancel = self.create_client(Trigger, 'position_controller/cancel')
        self._hand, self._hand_output = HandDrive(), HandOutput(self)
        self._due = {'repeat': 0.0, 'look': 0.0}
        self._state: dict[str, Any] = {'engaged': False, 'locked': False, 'driving': '',
                                       'lock': ''}
        # number of times that the stop was pressed, and the last time, s
        self._presses = 0
        self._pressed_at = 0.0
        # from the graph: receivers of e_stop and of cmd_vel, whether the mux reports its lock,
        # subscribers of goal_pose, and publishers of cmd_vel that the lock does not stop
        self._stops: list[str] = []
        self._drives: list[str] = []
        self._reports = False
        self._drivers = 0
        self._others: list[str] = []
        self._board, self._drive = DiagnosticsBoard(), DriveView()
        self._mux_status = f'{self.get_namespace()}/{MUX}: state'.lstrip('/')
        self._battery: tuple[float, dict[str, Any]] | None = None
        for kind, name, take, quality in (
                (Bool, 'e_stop', partial(self._keep, 'engaged'), ANY_RELIABILITY),
                (Bool, f'{MUX}/locked', partial(self._keep, 'locked'), LATCHED),
                (String, f'{MUX}/driving', partial(self._keep, 'driving'), LATCHED),
                (String, 'velocity_controller/lock', partial(self._keep, 'lock'), LATCHED),
                (DiagnosticStatus, 'position_controller/result', self._on_result, LATCHED),
                (Bool, 'position_controller/goal_reached', self._on_reached, LATCHED),
                (Float64, 'position_controller/distance_to_goal', self._on_distance, RELIABLE),
                (DiagnosticArray, '/diagnostics', self._on_diagnostics, RELIABLE),
                (BatteryState, 'battery_state', self._on_battery, SENSOR_DATA)):
            self.create_subscription(kind, name, take, quality)

    @property
    def commands(self) -> dict[str, Callable[[Any], str]]:
        """Commands of the page, by name."""
        return {'goal': self.drive_to, 'cancel': self.cancel, 'e_stop': self.press,
                'release': self.release, 'ping': self.respond, 'move': self.move,
                'halt': self.halt}

    # -- state of the robot ----------------------------------------------------------------------

    def step(self) -> None:
        """Take a sample, repeat a pressed stop and publish the status; 20 times a second."""
        now = time.monotonic()
        self._moment = self._reader.moment(now)
        if self._moment is not None:
            self.history.add(sample(self.robot, self._moment))
        if self._is_due('look', LOOK, now):
            self._look()
        if self.pressed:
            self._hold(self._is_due('repeat', REPEAT, now))
        self._send_by_hand(now)
        self.history.set_status(self.status(now))

    def status(self, now: float) -> dict[str, Any]:
        """Return what changes seldom, for the page; `now` is of the monotonic clock, s."""
        battery = self._battery
        return {
            'alive': self._moment is not None, 'pressed': self.pressed, 'presses': self._presses,
            'locked': self.locked, 'mux': self._muxed, 'receivers': self._receivers,
            'drives': self._drives, 'confirmed': self._confirmed(now), 'others': self._others,
            'driving': self._state['driving'], 'lock': self._state['lock'],
            'goal': self._drive.status(now), 'hand': self._hand.press,
            'drivable': self._drivers > 0,
            'nodes': self._board.statuses(now), 'dropped': self._board.dropped,
            'battery': battery[1] if battery and now - battery[0] <= BATTERY_SHOWN else None}

    @property
    def locked(self) -> bool:
        """True while this page, another program or the mux itself holds the robot."""
        return self.pressed or self._state['engaged'] or self._state['locked']

    @property
    def _muxed(self) -> bool:
        return MUX in self._stops

    @property
    def _receivers(self) -> list[str]:
        """Nodes that receive the stop: its lock, or without a mux the zeros."""
        return self._stops if self._muxed else sorted({*self._stops, *self._drives})

    def _confirmed(self, now: float) -> bool | None:
        """Return whether the mux confirms the stop; None while it may still do so, or cannot."""
        if not (self.pressed and self._muxed and self._reports):
            return None
        age = self._board.age(self._mux_status, now)
        if self._state['locked'] and age is not None and age <= MUX_SILENCE:
            return True
        return None if now - self._pressed_at < CONFIRMED_WITHIN else False

    def _is_due(self, what: str, period: float, now: float) -> bool:
        if now < self._due[what]:
            return False
        self._due[what] = now + period
        return True

    def _look(self) -> None:
        """Look at the graph: the clock, the mux, and publishers that its lock does not stop."""
        # a simulated robot may publish /clock, and rejects stamps of another clock
        simulated = self.count_publishers('/clock') > 0
        if simulated != self.get_parameter('use_sim_time').value:
            self.set_parameters([Parameter('use_sim_time', value=simulated)])
        self._stops = receivers(self, 'e_stop', 'std_msgs/msg/Bool')
        self._drives = receivers(self, 'cmd_vel', kind_of(self, 'cmd_vel'))
        self._reports = self.count_publishers(self.resolve_topic_name(f'{MUX}/locked')) > 0
        own = {self.get_name(), MUX} if self._muxed else {self.get_name(), 'position_controller'}
        self._others = sorted({end.node_name for end in self.get_publishers_info_by_topic(
            self.resolve_topic_name('cmd_vel'))} - own)
        self._drivers = self.count_subscribers(self.resolve_topic_name('goal_pose'))
        self._hand_output.watch(self._muxed)

    def _keep(self, name: str, message: Any) -> None:
        self._state[name] = message.data

    def _on_result(self, message: DiagnosticStatus) -> None:
        self._drive.on_result(message.level[0], message.message, time.monotonic())

    def _on_reached(self, message: Bool) -> None:
        self._drive.on_reached(message.data)

    def _on_distance(self, message: Float64) -> None:
        self._drive.on_distance(message.data, time.monotonic())

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        now = time.monotonic()
        for status in message.status:
            sigma = next((pair.value for pair in status.values if pair.key == 'sigma_min'), None)
            self._board.put(status.name, status.level[0], status.message, now,
                            **({} if sigma is None else {'sigma_min': sigma}))

    def _on_battery(self, message: BatteryState) -> None:
        numbers = {'percent': 100.0 * message.percentage, 'volts': message.voltage,
                   'amperes': message.current}
        self._battery = time.monotonic(), {
            name: round(value, 2) for name, value in numbers.items() if math.isfinite(value)}

    # -- commands of the page --------------------------------------------------------------------

    def drive_to(self, body: Any) -> str:
        """Publish the goal in `body`: x, y [m] and yaw [rad] in the frame of the odometry."""
        try:
            x, y, yaw = (float(body[key]) for key in ('x', 'y', 'yaw'))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Refusal('a goal has the numbers x, y and yaw') from error
        if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST and abs(yaw) <= 4.0 * math.pi):
            raise Refusal(f'goal {x:g}, {y:g}, {yaw:g}: must be finite, and at most '
                          f'{FARTHEST:g} m away')
        # of this moment, not of the last status: a stop may be one command earlier
        if self.locked:
            raise Refusal('the stop is pressed; release it first')
        moment = self._moment
        if moment is None or moment.pose is None:
            raise Refusal('no odometry: start the robot, then send the goal again')
        if not self._drivers:
            raise Refusal('goal_pose has no subscriber; start the position controller')
        self._publish_goal(moment, np.array([x, y, yaw]))
        return f'goal {x:.2f} m, {y:.2f} m, {math.degrees(yaw):.0f}°'

    def _publish_goal(self, moment: Moment, goal: np.ndarray) -> None:
        message = PoseStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = moment.frame
        fill_pose(message.pose, goal)
        self._goal.publish(message)

    def cancel(self, body: Any = None) -> str:
        """Cancel the goal; the robot stops. `body` is not used."""
        if not self._cancel.service_is_ready():
            raise Refusal('no position controller: no goal to cancel')
        self._cancel.call_async(Trigger.Request())
        return 'goal cancelled'

    def move(self, body: Any) -> str:
        """Drive by hand: the name of the ``press`` in `body`, and vx, vy [m/s], omega [rad/s]."""
        now = time.monotonic()
        try:
            begins = self._take_move(body, now)
        except Refusal:
            # also before it began: a hand that holds on meanwhile must let go first
            self._end_by_hand(body, now)
            raise
        if begins:
            # this hand is the driver, and the goal is gone when it lets go
            self._call_cancel()
            # the mux and the controller require a zero before a motion
            self._hand_output.send(np.zeros(3))
        return ''

    def _take_move(self, body: Any, now: float) -> bool:
        """Take a command of a hand; return whether a press begins."""
        if self.locked:
            raise Refusal('the stop is pressed; release it first')
        if self._moment is None:
            raise Refusal('no joint states: start the robot first')
        begins = self._hand.move(body, now)
        if begins:
            self._hand_output.open(self._muxed)
        return begins

    def halt(self, body: Any = None) -> str:
        """End driving by hand at once; `body` may have the name of the ``press`` that ends."""
        self._end_by_hand(body, time.monotonic())
        return ''

    def _end_by_hand(self, body: Any, now: float) -> None:
        press = body.get('press') if isinstance(body, Mapping) else None
        if self._hand.end(now, press if isinstance(press, str) else None):
            self._send_by_hand(now)

    def _send_by_hand(self, now: float) -> None:
        """Publish the command of the hand; it ends at a stop and without joint states."""
        if self.locked or self._moment is None:
            self._hand.end(now)
        twist = self._hand.twist(now)
        if twist is not None:
            self._hand_output.send(twist)

    def press(self, body: Any = None) -> str:
        """Press the stop; it stays pressed until `release`. `body` is not used."""
        now = time.monotonic()
        if not self.pressed:
            self._pressed_at = now
        self.pressed = True
        self._presses += 1
        self._due['repeat'] = now + REPEAT
        self._hold(True)
        self._send_by_hand(now)
        # the receivers of this moment
        self._look()
        self.history.set_status(self.status(now))
        return 'stop pressed' if self._receivers else 'stop pressed, but nothing receives it'

    def release(self, body: Any = None) -> str:
        """
        Release the stop; nothing moves until a new command.

        `body` may have ``presses``, the number of presses that the page has shown: a release that
        crosses a press on another page is refused.
        """
        if isinstance(body, Mapping) and body.get('presses', self._presses) != self._presses:
            raise Refusal('the stop was pressed again meanwhile; release it again')
        # a goal that reached the controller after the last cancellation
        self._call_cancel()
        self.pressed = False
        self._e_stop.publish(Bool(data=False))
        if self._muxed and self._zeros is not None:
            # for the mux it commands past all locks
            self.destroy_publisher(self._zeros)
            self._zeros = None
        self.history.set_status(self.status(time.monotonic()))
        return 'stop released; the robot waits for a new goal'

    def respond(self, body: Any = None) -> str:
        """Reply to a page that checks its connection up to this node. `body` is not used."""
        return ''

    def _call_cancel(self) -> None:
        if self._cancel.service_is_ready():
            self._cancel.call_async(Trigger.Request())

    def _hold(self, repeats: bool) -> None:
        """Stop the robot; with `repeats` also for nodes that have started since."""
        if repeats:
            self._e_stop.publish(Bool(data=True))
            # a goal of another program, too
            self._call_cancel()
        if self._muxed and self._confirmed(time.monotonic()) is not False:
            return
        if self._zeros is None:
            kind = Twist if kind_of(self, 'cmd_vel') == PLAIN else TwistStamped
            self._zeros = self.create_publisher(kind, 'cmd_vel', LATEST)
        message = self._zeros.msg_type()
        if isinstance(message, TwistStamped):
            message.header.stamp = self.get_clock().now().to_msg()
            message.header.frame_id = 'base_link'
        self._zeros.publish(message)
