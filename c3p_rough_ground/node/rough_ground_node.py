# SPDX-License-Identifier: Apache-2.0
"""
Node: the tricycle with passive variable camber, or another vehicle, on rough ground without slip.

Publishes ``joint_states``, ``odom`` (the whole pose), ``/tf`` where tf2 is installed and, if
``publish_clock`` is set, ``/clock``; subscribes ``cmd_vel``. The marker node draws the ground, the
contact paths and the camber. A thread with an absolute deadline keeps the rate. Where the model
ends the vehicle stands, the diagnostics name the reason, and ``~/restart`` begins anew.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.reading.loader import load_tricycle
from c3p_description.reading.vehicle_files import is_vehicle, load_vehicle
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.messages import MessageError, check_age, ns_to_stamp, stamp_to_ns, twist_of
from c3p_ros.node import LATEST, RELIABLE, SuiteNode, TransformPublisher
from c3p_ros.parameters import ParameterError
from c3p_ros.session import run
from c3p_ros.spatial_wire import OdometryWriter
from c3p_ros.wire import JointStateWriter
from c3p_rough_ground.closed_chain.vehicle import quaternion
from c3p_rough_ground.node.commands import AUTODRIVE, COMMANDED, WAITING, Commands
from c3p_rough_ground.node.pace import TerrainPace
from c3p_rough_ground.node.preparation import Preparation
from c3p_rough_ground.node.run import RoughGroundRun
from c3p_rough_ground.node.vehicle_commands import VehicleCommands
from c3p_rough_ground.worlds.terrain_files import load_terrain
from c3p_simulation.pacing import SIMULATED_START, Stamps


class RoughGroundNode(SuiteNode):
    """Adapter between topics, Commands and a RoughGroundRun; owns the rate."""

    # a PvcTricycle or a RoughVehicle, where other nodes have a robot on casters
    robot: Any

    def __init__(self, **options: Any) -> None:
        """Place the vehicle, compile the kernels and begin to move time."""
        super().__init__('rough_ground', Path(__file__).with_name(
            'rough_ground_parameters.yaml'), **options)
        values = self.parameters.value
        if values.realtime_factor != 1.0 and not values.publish_clock:
            raise ParameterError('rough_ground: a realtime_factor other than 1 needs '
                                 'publish_clock: true, and use_sim_time in the other nodes')
        terrain = load_terrain(values.terrain)
        self.get_logger().info(f'{self.robot.name} on {values.terrain}; the first start after an '
                               'installation compiles the kernels, which takes 1 to 3 minutes')
        begin = SIMULATED_START if values.publish_clock else self.now_ns()
        self._make_publishers()
        self._preparation = Preparation(self, self._transforms, begin, not values.publish_clock)
        self._preparation.begin(self._joint_pub, terrain, values.start_pose)
        try:
            self.run = RoughGroundRun(self.robot, terrain, values.start_pose,
                                      values.weights if self._is_tricycle else None)
        finally:
            self._preparation.stop()
        self._commands = (Commands if self._is_tricycle else VehicleCommands)(self.robot)
        self._lock = threading.Lock()
        self.parameters.changed = self._retune
        self._retune()
        self._period = 1.0 / values.rate
        command = TwistStamped if values.use_stamped_vel else Twist
        self.create_subscription(command, 'cmd_vel', self._on_command, LATEST)
        self.create_service(Trigger, '~/restart', self._on_restart)
        self._stamps = Stamps(round(1e9 / values.rate), SIMULATED_START if values.publish_clock
                              else self.now_ns(), follows=not values.publish_clock)
        self.watch(self._on_watch)
        self._pace = TerrainPace(self._period / values.realtime_factor, self._advance,
                                 self.context.ok)
        self.at_end(self._pace.stop)
        self._pace.start()

    @property
    def _is_tricycle(self) -> bool:
        return isinstance(self.robot, PvcTricycle)

    def _load_robot(self) -> Any:
        values = self.parameters.value
        if values.robot_description:
            raise ParameterError('rough_ground: robot_description: a tricycle is read from its '
                                 'parameter file; name it with robot')
        if not is_vehicle(values.robot):
            return load_tricycle(values.robot)
        if any(weight != 1.0 for weight in values.weights):
            raise ParameterError(f'rough_ground: weights = {values.weights}: only for the '
                                 'tricycle; a vehicle names its passive joints in its file')
        return load_vehicle(values.robot)

    def _make_publishers(self) -> None:
        values = self.parameters.value
        names = JOINTS if self._is_tricycle else list(self.robot.joints)
        self._write_joints = JointStateWriter(names, ['position', 'velocity'], 'joint_states')
        self._write_odom = OdometryWriter(values.odom_frame, values.base_frame, 'odom')
        self._joint_pub = self.create_publisher(JointState, 'joint_states', RELIABLE)
        self._odom_pub = self.create_publisher(Odometry, 'odom', RELIABLE)
        self._clock_pub = (self.create_publisher(Clock, '/clock', RELIABLE)
                           if values.publish_clock else None)
        self._transforms = TransformPublisher(self) if values.publish_tf else None

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        run = self.run
        return {'driven by': self._commands.source(self.watch_time()),
                'robot time [s]': f'{run.time:.2f}', 'distance driven [m]': f'{run.distance:.3f}',
                'largest camber [rad]': f'{run.largest_camber:.4f}',
                'largest closure error': f'{run.closure:.2e}',
                'overruns': self._pace.overruns, 'terrain': self.parameters.value.terrain}

    def _retune(self) -> None:
        values = self.parameters.value
        asked = self._commands
        asked.autodrive, asked.drive_rate = values.autodrive, values.drive_rate
        asked.camber_gain, asked.timeout = values.camber_gain, values.cmd_vel_timeout

    def _advance(self, steps: int, let_go: int = 0) -> None:
        """Move on by `steps` periods after `let_go` at standstill; publish the state."""
        with self._lock:
            now = self.watch_time()
            run = self.run
            period = self._period
            for _ in range(steps):
                run.advance(self._commands.rates(run.state.joint, now, period), period)
            # simulated time waits for the vehicle, real time does not
            stamp = self._stamps.advance(steps if self._clock_pub else steps + let_go,
                                         self.now_ns())
            state = run.state
            rates = run.joint_rates
            twist = run.twist
        pose = [*state.position, *np.roll(quaternion(state.rotation), -1)]
        values = self.parameters.value
        if self._clock_pub is not None:
            self.publish(self._clock_pub, Clock(clock=ns_to_stamp(stamp)))
        self.send(self._joint_pub, self._write_joints, stamp, position=state.joint, velocity=rates)
        placed = self.send(self._odom_pub, self._write_odom, stamp, pose, twist)
        if placed and self._transforms is not None:
            self._transforms.send_spatial(stamp, pose, values.odom_frame, values.base_frame)

    def _on_command(self, message: Any) -> None:
        try:
            stamped = isinstance(message, TwistStamped)
            twist = twist_of(message.twist if stamped else message, 'twist')
            if stamped and (stamp := stamp_to_ns(message.header.stamp)):
                now = self._stamps.now if self._clock_pub is not None else self.now_ns()
                check_age(stamp, now, self._commands.timeout)
        except MessageError as error:
            with self._lock:
                self._commands.refuse()
            self.diagnostics.refuse('cmd_vel', error)
            return
        with self._lock:
            self._commands.command(float(twist[0]), float(twist[2]), self.watch_time())

    def _on_restart(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self.run.restart()
            self._commands.forget()
        response.success = True
        response.message = 'at the start again'
        return response

    def _on_watch(self) -> None:
        self._pace.check()
        ended = self.run.ended
        source = self._commands.source(self.watch_time())
        self.diagnostics.condition('model', ERROR if ended else OK, (
            f'{ended}; the vehicle stands, ~/restart begins anew' if ended else 'goes on'))
        fine = source in (AUTODRIVE, COMMANDED, WAITING)
        self.diagnostics.condition('cmd_vel', OK if fine else WARN,
                                   source if fine else f'{source}: the vehicle stands')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(RoughGroundNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
