# SPDX-License-Identifier: Apache-2.0
"""A whole simulated robot of wired nodes: one cycle of the simulation is one call."""

import numpy as np
from geometry_msgs.msg import PoseStamped
from std_srvs.srv import Trigger
from wired import START, Wired

from c3p_controller.position_controller_node import PositionControllerNode
from c3p_controller.velocity_controller_node import VelocityControllerNode
from c3p_dynamics.inverse_dynamics_node import InverseDynamicsNode
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode
from c3p_ros.messages import fill_pose
from c3p_simulation.simulation_node import SimulationNode

# cycles per second
RATE = 200.0


class WiredRobot(Wired):
    """
    Chain and simulation; `controller` and `position` name the laws.

    The simulation goes on when it gets the torques of its cycle, and no faster or slower.
    """

    def __init__(self, controller, position=None, **position_parameters):
        super().__init__()
        self._sampled, self._begins = [], START
        # the simulated robot acts at once; the papers' law need not be as gentle as on tyres
        law = {'mpc.latency': 0.0, 'acceleration_limit': 0.4}
        self.velocity = self.add(VelocityControllerNode, controller=controller,
                                 start_silence=0.2, **law)
        self.position = self.add(PositionControllerNode, controller=position or controller,
                                 **position_parameters)
        # the joints of the simulation are of one instant, with its stamp
        self.sensed = self.add(SensedKinematicsNode, **SYNCHRONOUS)
        if controller == 'paper':
            self.dynamics = self.add(InverseDynamicsNode)
        self.simulation = self.add(SimulationNode, lockstep=True, publish_clock=True, rate=RATE,
                                   ground_truth=False)
        # it would go on by itself where this computer stands still for a second
        self.simulation._on_watch = lambda: None
        self.results = []
        self.position._goals._publisher.publish = self.results.append

    def _take(self, topic, kind, message):
        super()._take(topic, kind, message)
        if topic == 'joint_states':
            # the answer to a cycle begins the next one, which has to wait for its time
            self._sampled.append(self._queue.pop())
            self._begins = self._readers[kind](message).stamp

    def cycle(self, count=1):
        """Let `count` cycles pass; one that was not answered is followed all the same."""
        for _ in range(count):
            if not self._sampled:
                self.simulation._step_on()
            self._queue.extend(self._sampled)
            self._sampled.clear()
            self.time = self._begins
            self.settle()
            self.watch()

    @property
    def pose(self):
        """The true pose (3,) of the simulated robot."""
        return self.simulation.plant.truth().pose

    @property
    def twist(self):
        """The true twist (3,) of the simulated robot."""
        return self.simulation.plant.truth().twist

    def unlock(self):
        """Let cycles pass until the velocity controller follows commands."""
        for _ in range(int(3 * RATE)):
            self.cycle()
            if not self.velocity.interlock.lock and self.simulation._gate.open:
                return
        raise AssertionError(f'locked: {self.velocity.interlock.lock}; the gate: '
                             f'{self.simulation._gate.reason}')

    def goal(self, *pose, frame='base_link'):
        """Give a goal to the position controller."""
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = self.now(), frame
        fill_pose(message.pose, np.array(pose, float))
        (subscription,) = self.subscriptions('goal_pose')
        subscription.callback(message)

    def cancel(self):
        """Let the position controller forget its goal."""
        self.position._goals._on_cancel(None, Trigger.Response())

    def ended(self):
        """Return (reason, message) of the last goal that ended."""
        message = self.results[-1]
        return message.message.split(':')[0], message.message

    def drive(self, *pose, seconds=8.0, frame='base_link'):
        """Drive to a goal; return the reason of its end, and how long it took in cycles."""
        self.results.clear()
        self.goal(*pose, frame=frame)
        for cycle in range(int(seconds * RATE)):
            if self.results:
                return self.ended()[0], cycle
            self.cycle()
        return 'still on its way', int(seconds * RATE)
