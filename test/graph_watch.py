# SPDX-License-Identifier: Apache-2.0
"""Two robots in one graph: goals for both, and whose sample every message comes from."""

import os
import struct
import time

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from c3p_ros.messages import fill_pose
from c3p_ros.orderly_node import OrderlyNode

try:
    from rclpy.experimental import EventsExecutor as WatchExecutor
except ImportError:
    from rclpy.executors import SingleThreadedExecutor as WatchExecutor

# messages of the control chain: each has the stamp of the joint states that it answers
CHAIN = {'odom': Odometry, 'wheel_effort': JointState, 'cmd_vel': TwistStamped}
SAMPLES = 'joint_states'
# what all robots of a graph share: the first names its node, nobody of the chain reads the others
COMMON = {'/diagnostics', '/rosout', '/parameter_events'}
DEEP = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def stamp_of(data):
    """Return the stamp (ns) of a serialized message with a header: all else would take longer."""
    seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
    return seconds * 1_000_000_000 + nanoseconds


class GraphWatch:
    """Listens in every namespace and keeps stamps, ends of goals and names of diagnostics."""

    def __init__(self, *namespaces):
        self.namespaces = namespaces
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = OrderlyNode('watch', context=self.context)
        self.executor = WatchExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.stamps = {(space, topic): set() for space in namespaces
                       for topic in (SAMPLES, *CHAIN)}
        self.truth, self.odom, self.said, self.health = {}, {}, {}, {}
        self.ends, self.goals = {space: [] for space in namespaces}, {}
        for space in namespaces:
            self._listen(space)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, 100)

    def _listen(self, space):
        for topic, kind in {SAMPLES: JointState, **CHAIN}.items():
            self.node.create_subscription(
                kind, f'/{space}/{topic}',
                lambda data, key=(space, topic): self.stamps[key].add(stamp_of(data)), DEEP,
                raw=True)
        for topic, place in (('ground_truth/odom', self.truth), ('odom', self.odom)):
            self.node.create_subscription(
                Odometry, f'/{space}/{topic}', lambda m, place=place: place.update(
                    {space: (m.pose.pose.position.x, m.pose.pose.position.y)}), 1)
        self.node.create_subscription(
            DiagnosticStatus, f'/{space}/position_controller/result',
            lambda m: self.ends[space].append(m), LATCHED)
        self.goals[space] = self.node.create_publisher(PoseStamped, f'/{space}/goal_pose', 1)

    def _on_health(self, message):
        for status in message.status:
            name = status.name.split(':')[0]
            self.health[name] = status
            if status.level != DiagnosticStatus.OK:
                self.said.setdefault(name, []).append(status.message)

    def wait(self, condition, what, timeout=120.0):
        """Spin until `condition`; fail with what all nodes have said."""
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {timeout} s; {self.said}'
            self.executor.spin_once(timeout_sec=0.02)

    def value(self, space, node, key):
        """Return a figure of the diagnostics of a node."""
        status = self.health.get(f'{space}/{node}')
        return None if status is None else next(
            (v.value for v in status.values if v.key == key), None)

    def ready(self):
        """Return whether every robot may be sent a goal."""
        return all(self.value(space, 'velocity_controller', 'locked') == 'no'
                   and space in self.truth
                   and self.goals[space].get_subscription_count() == 1
                   and self.stamps[space, 'odom'] for space in self.namespaces)

    def drive(self, goals):
        """
        Send each robot its goal, {namespace: (x, y, yaw)}, until it has been reached.

        A pause of the machine locks a chain. The goal is then given up for want of progress, and
        somebody at the robot would send it again.
        """
        for _ in range(4):
            missed = [space for space in goals if not self.reached(space)]
            for space in missed:
                self.ends[space].clear()
                message = PoseStamped()
                message.header.frame_id = 'odom'
                fill_pose(message.pose, goals[space])
                self.goals[space].publish(message)
            self.wait(lambda: all(self.ends.values()), 'the ends of both goals')
        assert all(self.reached(space) for space in goals), (self.ends, self.said)

    def reached(self, space):
        """Return whether the last goal of a robot was reached."""
        return bool(self.ends[space]) and self.ends[space][-1].message.startswith('reached: ')

    def counts(self):
        """
        Return {(namespace, topic): (messages, of the own robot, of another)}.

        A sample that this listener missed makes a message nobody's, never another's.
        """
        counted = {}
        for (space, topic), stamps in self.stamps.items():
            others = set().union(*(self.stamps[s, SAMPLES] for s in self.namespaces if s != space))
            counted[space, topic] = (len(stamps), len(stamps & self.stamps[space, SAMPLES]),
                                     len(stamps & others))
        return counted

    def strangers(self):
        """Return the topics that nodes of a robot publish or hear outside its namespace."""
        found = set()
        for name, space in self.node.get_node_names_and_namespaces():
            if space.strip('/') not in self.namespaces:
                continue
            for ends in (self.node.get_publisher_names_and_types_by_node,
                         self.node.get_subscriber_names_and_types_by_node):
                found |= {(f'{space}/{name}', topic) for topic, _ in ends(name, space)
                          if not topic.startswith(f'{space}/')}
        return {(node, topic) for node, topic in found if topic not in COMMON}

    def close(self):
        """Leave the network."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def check_two_robots(watch, starts, goals):
    """Assert that both robots reach their own goals from their own starts and nothing strays."""
    assert watch.strangers() == set()
    for space, start in starts.items():
        assert max(abs(np.subtract(watch.truth[space], start))) < 1e-3, (space, watch.truth)
    watch.drive(goals)
    # this listener may be behind, and who has arrived stays; the odometry, because a machine that
    # stands still keeps samples from it
    watch.wait(lambda: all(max(abs(np.subtract(watch.odom[space], goal[:2]))) < 0.06
                           for space, goal in goals.items()), f'arrival at {goals}')
    counted = watch.counts()
    for (space, topic), (count, own, others) in counted.items():
        assert others == 0, f'/{space}/{topic}: {others} of {count} messages are of another robot'
        # a busy machine makes this listener miss some; enough to tell whose they are
        assert own > 10, (space, topic, counted)
    return counted
