# SPDX-License-Identifier: Apache-2.0
"""Small motions of a robot that is wired wrongly, over topics and on emulated cards."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import rclpy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_bringup.commission.by_itself import Motors, commission_by_itself  # noqa: E402
from c3p_bringup.commission.emulated import emulated_bus, emulated_plant  # noqa: E402
from c3p_bringup.commission.motors import (  # noqa: E402
    MotionError,
    MotionLoop,
    move_by_cards,
    move_by_topics,
)
from c3p_description.reading.loader import load_casters  # noqa: E402
from c3p_experiments.commissioning.wired import everything  # noqa: E402
from c3p_hardware.tools.parameter_file import hardware_values  # noqa: E402
from c3p_kinematics.commissioning.assignment import joint_of_motors  # noqa: E402
from c3p_kinematics.commissioning.motions import (  # noqa: E402
    WiringMotions,
    WiringMotionSettings,
)
from c3p_ros.node import LATEST  # noqa: E402
from c3p_ros.session import Session  # noqa: E402
from c3p_simulation.plants.wired_plant import channels_measured, efforts_of  # noqa: E402

C3P = load_casters('c3p')
TOPICS = ('joint_states', 'wheel_effort')
STEP = 0.01


class TopicRobot:
    """A robot behind a wiring that answers each effort with its next joint states."""

    def __init__(self, session, wiring):
        self.wiring = wiring
        self.plant = emulated_plant(C3P, [])
        self.node = session.add(rclpy.create_node, node_name='driver')
        self.publisher = self.node.create_publisher(JointState, TOPICS[0], LATEST)
        self.node.create_subscription(JointState, TOPICS[1], self.take, LATEST)
        # until the command has begun to answer, and where an effort is lost
        self.answered = True
        self.timer = self.node.create_timer(0.05, self.repeat)

    def repeat(self):
        if not self.answered:
            self.say(self.plant.sense())
        self.answered = False

    def take(self, message):
        order = [message.name.index(joint) for joint in C3P.wheel_joints]
        ordered = np.array(message.effort)[order]
        self.answered = True
        self.say(self.plant.step(efforts_of(C3P, self.wiring, ordered), STEP))

    def say(self, sample):
        angles = channels_measured(self.wiring, np.r_[sample.steering, sample.wheel_angle])
        message = JointState(name=[*C3P.steering_joints, *C3P.wheel_joints],
                             position=angles.tolist())
        message.header.stamp.sec, nanosec = divmod(round(1e9 * (1.0 + self.plant.time)), 10 ** 9)
        message.header.stamp.nanosec = nanosec
        self.publisher.publish(message)


def always():
    """Return whether a key is held that nobody lets go."""
    return True


@pytest.mark.real_time
def test_a_robot_on_topics_moves_and_its_wiring_is_found():
    wiring = everything(C3P, np.random.default_rng(11))
    shown = []
    with Session([]) as session:
        TopicRobot(session, wiring)

        def move(going):
            move_by_topics(C3P, TOPICS, MotionLoop(C3P, going, always, 300.0), shown.append,
                           session)

        found = commission_by_itself(C3P, WiringMotions(C3P), Motors(move, shown.append))
        told = [found.assignment, *(other for other, _ in found.others)]
        # turned by a third or mirrored it moves alike
        assert any(np.array_equal(one.encoder_of, wiring.encoder_of)
                   and np.array_equal(np.sign(one.gear), np.sign(wiring.gear))
                   and np.array_equal(one.motor_of, wiring.motor_of)
                   and np.array_equal(one.leads[3:], wiring.leads[3:]) for one in told)
        assert 'motor of wheel_joint_1 alone' in shown
        # somebody else commands as well
        session.add(rclpy.create_node, node_name='other').create_publisher(
            JointState, TOPICS[1], LATEST)
        with pytest.raises(MotionError, match='wheel_effort: . other publishers'):
            move(WiringMotions(C3P))


def test_cards_carry_the_motions_out_in_virtual_time(virtual_time, tmp_path):
    file = tmp_path / 'w.yaml'
    file.write_text('emulated_cards: {ros__parameters: {wiring: {exchanged_motors: [1 2]}}}\n'
                    'hardware_interface: {ros__parameters: {rate: 50.0}}')
    motions = WiringMotions(C3P, WiringMotionSettings(together=0, length=0.01, rest_time=0.2))
    shown = []
    with emulated_bus(C3P, emulated_plant(C3P, [file]), [file]) as (address, cards):
        move_by_cards(C3P, address, hardware_values([file]),
                      MotionLoop(C3P, motions, always, 60.0), shown.append)
        record = motions.record()
    assert len(record.time) > 100 and not motions.blocked
    assert list(dict.fromkeys(shown))[:2] == ['motor of wheel_joint_1 alone',
                                              'motor of wheel_joint_1 alone, back']
    # the first motion turns the wheel of the second caster: the motors are exchanged
    first = np.flatnonzero(record.ordered[:, 0])[:40]
    moved = np.ptp(record.measured[first], axis=0)[3:]
    assert int(np.argmax(moved)) == 1 and joint_of_motors(C3P)[0] == 3
    assert all(axis.drive.torque_actual == 0 for drive in cards.drives for axis in drive.axes)
