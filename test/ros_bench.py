# SPDX-License-Identifier: Apache-2.0
"""A place where nodes of the suite run inside a test, and a node that talks to them."""

import gc
import threading
import time
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from virtual_time import VirtualTime

from c3p_bringup import nodes
from c3p_controller.velocity_controller_node import VelocityControllerNode
from c3p_ros.exchange import Exchange
from c3p_ros.messages import fill_pose, pose_of
from c3p_ros.middleware import of_this_process
from c3p_ros.orderly_node import OrderlyNode
from c3p_simulation.simulation_node import SimulationNode

try:
    from rclpy.experimental import EventsExecutor as BenchExecutor
except ImportError:
    from rclpy.executors import SingleThreadedExecutor as BenchExecutor

CHAIN = tuple(map(nodes.node_class, nodes.CHAIN))

# how often a condition is looked at, s: a control cycle
STEP = 0.005


def participants():
    """
    Return how many participants of Fast DDS live in this process, by a thread that each has.

    None with another middleware, whose threads have other names: there a node that is left behind
    is not found, which is said.
    """
    if not of_this_process().fast_dds:
        warnings.warn(f'nodes that are left behind are not found with '
                      f'{of_this_process().identifier}: its participants are not counted',
                      stacklevel=3)
        return None
    count = 0
    for task in Path('/proc/self/task').glob('*/comm'):
        # threads end meanwhile
        with suppress(OSError):
            count += task.read_text().startswith('dds.ev')
    return count


class Bench:
    """
    Nodes, one executor and a talker in a ROS context of their own.

    Parameters
    ----------
    clock : VirtualTime or RealTime, optional
        The latter where other processes take part.
    shared : bool
        Nodes get each other's messages as values, as in a session of one process; without it
        through the middleware, as between processes.
    """

    def __init__(self, clock=None, shared=False):
        self.time, self._installed = clock or VirtualTime(), ExitStack()
        self._installed.enter_context(self.time.installed())
        self.time.serve = self.serve
        self.threads, self.participants = set(threading.enumerate()), participants()
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = BenchExecutor(context=self.context)
        self.exchange = Exchange() if shared else None
        if shared:
            self._installed.enter_context(self.exchange.spun(self.executor))
        # ends as nodes of the suite do, on each version of rclpy
        self.talker = OrderlyNode('talker', context=self.context)
        self.executor.add_node(self.talker)
        self.nodes = {}
        self._publishers = {}
        self._heard = {}
        self.removed = False
        # in whose place another one of the same name has come
        self._replaced = []
        self.health = {}
        self.said = {}
        self.talker.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, 100)

    def _on_health(self, message):
        for status in message.status:
            name = status.name.split(':')[0]
            self.health[name] = status
            self.said.setdefault(name, []).append(status.message)

    def add(self, factory, **parameters):
        """Start a node with these parameters."""
        # everybody is in this process: nobody needs time to be discovered
        if factory is VelocityControllerNode:
            parameters = {'start_silence': 0.2, **parameters}
        node = factory(context=self.context, parameter_overrides=[
            Parameter(name, value=value) for name, value in parameters.items()])
        name = node.get_name()
        if name in self.nodes:
            self._replaced.append(self.nodes[name])
        self.nodes[name] = node
        if self.exchange is not None:
            node.join(self.exchange)
        self.executor.add_node(node)
        return node

    def add_robot(self, controller='mpc', **parameters):
        """Start chain and simulation with a law; parameters as {node: {name: value}}."""
        # the simulated robot acts at once; the papers' law need not be as gentle as on tyres
        law = {'mpc.latency': 0.0, 'acceleration_limit': 0.4}
        chosen = {'velocity_controller': {'controller': controller, **law},
                  'position_controller': {'controller': controller}}
        self.truth = self.collect(Odometry, 'ground_truth/odom', 10, keep=1)
        self.odom = self.collect(Odometry, 'odom', 10, keep=1)
        self.effort = self.collect(JointState, 'wheel_effort', 10)
        for factory in (*CHAIN, SimulationNode):
            name = factory.__module__.split('.')[-1].removesuffix('_node')
            self.add(factory, **{**chosen.get(name, {}), **parameters.get(name, {})})

    def remove(self, name):
        """End one node."""
        self._end(self.nodes.pop(name))

    def _end(self, node):
        self.removed = True
        self.executor.remove_node(node)
        node.destroy_node()

    def serve(self):
        """Run all callbacks that are ready; return whether there were any."""
        turns, over = 0, []
        # it comes to its turn behind everything that is ready by now
        self.executor.create_task(lambda: over.append(True))
        while not over:
            try:
                self.executor.spin_once(timeout_sec=0.0)
            except rclpy_implementation.InvalidHandle:
                # the executor still had a message for a node that was removed
                assert self.removed
            turns += 1
        return turns > 1

    def spin_once(self):
        """Let a millisecond pass."""
        self.time.advance(1e-3)

    def timers(self, node):
        """Return the timers of a node."""
        return [timer for timer in self.time.timers if timer.node is node]

    def wait_for(self, condition, what, timeout=None):
        """Let time pass until `condition` is true; fail when it is not after `timeout` s."""
        timeout = timeout or self.time.patience
        end = time.monotonic() + timeout
        while not self.time.advance(0.0, condition):
            if time.monotonic() >= end:
                raise AssertionError(f'{what}: not within {timeout} s; nodes said {self.story()}')
            self.time.advance(STEP, condition)
        return condition()

    def story(self):
        """Return what each node has said, without repetitions, newest last."""
        return {name: [m for k, m in enumerate(said) if k == 0 or said[k - 1] != m][-8:]
                for name, said in self.said.items()}

    def wait_until_unlocked(self):
        """Spin until the velocity controller would follow a command."""
        self.wait_for(lambda: self.value('velocity_controller', 'locked') == 'no', 'unlocking')

    def run(self, seconds):
        """Let time pass."""
        self.time.advance(seconds)

    def pause(self, seconds):
        """Let time pass for threads, while no callback of any node runs."""
        self.time.sleep(seconds)

    def value(self, node, key):
        """Return a figure of the last diagnostics of `node`."""
        status = self.health.get(node)
        return None if status is None else next(
            (v.value for v in status.values if v.key == key), None)

    def collect(self, kind, topic, profile=10, keep=None):
        """Return the list into which messages of `topic` go; only the last `keep` stay."""
        heard = []

        def take(message):
            heard.append(message)
            if keep:
                del heard[:-keep]

        self._heard[topic] = self.talker.create_subscription(kind, topic, take, profile)
        return heard

    def forget(self, topic):
        """End the last subscription of `collect` to a topic."""
        self.talker.destroy_subscription(self._heard.pop(topic))

    def publisher(self, kind, topic, profile=10):
        """Return a publisher that somebody listens to."""
        if topic not in self._publishers:
            publisher = self.talker.create_publisher(kind, topic, profile)
            self._publishers[topic] = publisher
            self.wait_for(publisher.get_subscription_count, f'somebody who takes {topic}')
        return self._publishers[topic]

    def now(self, shift=0.0):
        """Return the time now, or `shift` seconds later, as a message."""
        return (self.talker.get_clock().now()
                + rclpy.duration.Duration(nanoseconds=int(1e9 * shift))).to_msg()

    def command(self, *twist, stamp=None):
        """Publish one stamped cmd_vel."""
        message = TwistStamped()
        message.header.stamp = stamp or self.now()
        message.header.frame_id = 'base_link'
        # as any publisher may: the suite's own writer refuses what is not finite
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, angular.z = map(float, twist)
        self.publisher(TwistStamped, 'cmd_vel').publish(message)
        self.commanded = time.monotonic()

    def command_until(self, condition, what, *twist, timeout=None):
        """Publish `twist` at 50 Hz until `condition` is true."""
        return self._repeat(lambda: self.command(*twist), condition, what, timeout)

    def let_go_and_move(self, *twist, speed):
        """
        Command zero, then `twist` until the robot is as fast as `speed`, as somebody at it would.

        When this machine stood still meanwhile, everything is locked again, and one lets go again.
        """
        end = time.monotonic() + self.time.patience
        while self.speed() <= speed:
            assert time.monotonic() < end, f'not moving; nodes said {self.story()}'
            begin = time.monotonic()
            self.command_until(lambda b=begin: time.monotonic() > b + 0.1 and self.value(
                'simulation', 'wheels') == 'driven', 'zero commands', 0.0, 0.0, 0.0)
            begin = time.monotonic()
            self.command_until(lambda b=begin: self.speed() > speed
                               or time.monotonic() > b + 3.0, 'moving', *twist)

    def publish_until(self, publisher, message, condition, what, stamp=None):
        """Publish `message` until `condition`: a queue of one may drop it for a newer one."""
        def publish():
            if stamp is not None:
                message.header.stamp = stamp()
            publisher.publish(message)

        return self._repeat(publish, condition, what, 3.0)

    def _repeat(self, act, condition, what, timeout):
        due = [0.0]

        def step():
            if time.monotonic() >= due[0]:
                due[0] = time.monotonic() + 0.02
                act()
            return condition()

        return self.wait_for(step, what, timeout)

    def goal(self, *pose, frame='odom', stamp=None):
        """Publish one goal."""
        message = PoseStamped()
        message.header.stamp = stamp or self.now()
        message.header.frame_id = frame
        fill_pose(message.pose, pose)
        self.publisher(PoseStamped, 'goal_pose').publish(message)

    def call(self, kind, service, request=None):
        """Call a service and return its answer."""
        client = self.talker.create_client(kind, service)
        try:
            self.wait_for(client.service_is_ready, f'service {service}')
            answer = client.call_async(request or kind.Request())
            self.wait_for(answer.done, f'the answer of {service}')
            return answer.result()
        finally:
            self.talker.destroy_client(client)

    def set_parameter(self, node, name, value):
        """Set a parameter as another process would; return the SetParametersResult."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value)
                                                    .to_parameter_msg()])
        return self.call(SetParameters, f'{node}/set_parameters', request).results[0]

    def speed(self):
        """Return the true speed that no point of the simulated robot exceeds, m/s."""
        twist = self.truth[-1].twist.twist
        # casters stand about 0.35 m from the centre
        return (twist.linear.x**2 + twist.linear.y**2)**0.5 + 0.35 * abs(twist.angular.z)

    def pose(self):
        """Return the true (x, y, yaw) of the simulated robot."""
        return pose_of(self.truth[-1].pose.pose, 'truth')

    def seconds(self):
        """Return the stamp of the simulated robot's last truth, s."""
        stamp = self.truth[-1].header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    def close(self):
        """End everything; fails if a thread stays, or what the next robot would hear."""
        for name in list(self.nodes):
            self.remove(name)
        while self._replaced:
            self._end(self._replaced.pop())
        self.executor.remove_node(self.talker)
        self.talker.destroy_node()
        self.executor.shutdown(timeout_sec=1.0)
        self.context.try_shutdown()
        self._installed.close()
        for thread in set(threading.enumerate()) - self.threads:
            # those of clients of others end on their own
            thread.join(5.0)
        left = set(threading.enumerate()) - self.threads
        assert not left, f'threads are left: {left}'
        if self.participants is None:
            return
        if participants() > self.participants:
            # nodes whose constructor failed, in the trace of its error
            gc.collect()
        assert participants() <= self.participants, 'a node is left'
