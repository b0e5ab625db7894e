# SPDX-License-Identifier: Apache-2.0
"""A position controller alone; where it believes to be is what a test says."""

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from c3p_controller.position_controller_node import PositionControllerNode
from c3p_controller.ros.goal_interface import RESULTS
from c3p_ros.messages import fill_pose, fill_twist

NODE = 'position_controller'


class Place:
    """The node on a bench, with its results and commands."""

    def __init__(self, bench, listening=True, **parameters):
        # a busy machine must not lose the odometry that a test goes on sending
        self.bench = bench
        bench.add(PositionControllerNode, **{'odom_timeout': 10.0, **parameters})
        self.results = bench.collect(DiagnosticStatus, f'{NODE}/result', RESULTS)
        if listening:
            self.listen()
        self.pose, self.twist, self.shift = np.zeros(3), np.zeros(3), 0.0
        # the first odometry that arrives; goals are refused until then
        self.until(lambda: bench.nodes[NODE]._pose is not None, 'the odometry')

    def listen(self):
        """Take the commands from now on."""
        self.commands = self.bench.collect(TwistStamped, 'cmd_vel', 10)

    def odometry(self):
        message = Odometry(child_frame_id='base_link')
        message.header.frame_id = 'odom'
        message.header.stamp = self.bench.now(self.shift)
        fill_pose(message.pose.pose, self.pose)
        fill_twist(message.twist.twist, self.twist)
        self.bench.publisher(Odometry, 'odom').publish(message)

    def until(self, condition, what):
        """Send odometry at 50 Hz until `condition`."""
        return self.bench._repeat(self.odometry, condition, what, 15.0)

    def status(self, reason):
        """Return the values of the results with `reason`, as dictionaries."""
        return [{**{v.key: v.value for v in m.values}, 'level': m.level, 'message': m.message}
                for m in self.results if m.message.startswith(f'{reason}: ')]

    def goal(self, *pose, **options):
        """Send a goal that the node takes."""
        before = self.bench.nodes[NODE]._goals.life.number
        self.bench.goal(*pose, **options)
        self.until(lambda: self.bench.nodes[NODE]._goals.life.number > before, 'the goal')

    def ends(self, reason):
        """Wait for the only result with `reason`; return its values."""
        self.until(lambda: self.status(reason), f'{reason}; there were {self.results}')
        (values,) = self.status(reason)
        return values
