# SPDX-License-Identifier: Apache-2.0
"""Blocks of the descriptions against what hardware of the suite sends to the topic system."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

from fake_ros2_control import (  # noqa: E402
    InterfaceError,
    Manager,
    StateBroadcaster,
    topic_systems,
)
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_description import load, robot_description  # noqa: E402
from c3p_description.model import CasterRobot  # noqa: E402
from c3p_description.reading.files import share_file  # noqa: E402
from c3p_hardware.joint_commands import TopicCommand  # noqa: E402
from c3p_ros.messages import JointCoding  # noqa: E402

ROBOTS = [path.stem for path in sorted(share_file('c3p_description/robots').glob('*.yaml'))]
CASTERS = [name for name in ROBOTS if isinstance(load(name), CasterRobot)]


class Wire:
    """Stands for a node: keeps what is published."""

    def __init__(self):
        self.sent = []

    def create_publisher(self, *_):
        return SimpleNamespace(publish=self.sent.append)

    def create_subscription(self, *_):
        return None

    def create_timer(self, *_, **__):
        return None

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: JointState().header.stamp
                                                           ))


def state_of(robot):
    """Return a joint state as the simulation and the hardware interface send it."""
    coding, n = JointCoding(robot), robot.count
    values = np.arange(1.0, 4 * n + robot.efforts + 1)
    steering, steering_rate, *wheels = np.split(values, range(n, 4 * n + 1, n))
    # wheels on one pivot have its angle
    pivot = [robot.steering_joints.index(name) for name in robot.steering_joints]
    position, velocity, effort = coding.encode(steering[pivot], steering_rate[pivot], *wheels)
    return JointState(name=coding.names, position=position.tolist(), velocity=velocity.tolist(),
                      effort=effort.tolist())


def systems_of(robot, wire, **arguments):
    return topic_systems(wire, robot_description(robot, {'hardware': 'topic', **arguments}))


@pytest.fixture(params=[*CASTERS, 'two driven'])
def robot(request, tmp_path):
    """Each caster robot of the suite, and one that a user derives."""
    if request.param in CASTERS:
        return request.param
    file = tmp_path / 'two.yaml'
    file.write_text('extends: c3p\nname: two\ncasters: {driven: [true, false, true]}\n')
    return str(file)


def test_every_value_that_the_hardware_sends_has_an_interface(robot):
    model, wire = load(robot), Wire()
    systems = systems_of(robot, wire)
    manager = Manager(wire, systems, [])
    for system in systems:
        system.latest = state_of(model)
    manager.cycle()
    assert not manager.failed
    (system,), sent = systems, state_of(model)
    found = system.states
    for field in ('position', 'velocity', 'effort'):
        assert [found[name][field] for name in sent.name] == list(getattr(sent, field))


def test_the_bridge_understands_what_the_block_commands(robot):
    model, wire = load(robot), Wire()
    system, = systems_of(robot, wire)
    for k, name in enumerate(system.commands):
        system.commands[name] = 0.1 * (k + 1)
    system.write()
    torque = TopicCommand(model).read(wire.sent[-1].name, wire.sent[-1].effort)
    wanted = [system.commands.get(joint) or 0.0 for joint in model.effort_joints]
    assert np.count_nonzero(wanted) == model.actuated.sum()
    assert torque == pytest.approx(wanted * model.effort_sign)


def test_a_value_without_an_interface_ends_the_component_and_the_broadcaster():
    """The stand-in itself: versions 4.46 and 5.16 deactivate both and do not try again."""
    wire = Wire()
    system, = systems_of('c3p', wire)
    for name in load('c3p').steering_joints:
        del system.states[name]['effort']
    manager = Manager(wire, [system], [StateBroadcaster(wire, system.states)])
    manager.cycle()
    system.latest = state_of(load('c3p'))
    with pytest.raises(InterfaceError, match="'steering_joint_1/effort'"):
        system.read()
    before = len(wire.sent)
    for _ in range(3):
        manager.cycle()
    assert len(manager.failed) == 1 and not manager.controllers and not manager.hardware
    assert len(wire.sent) == before


def test_states_are_nan_until_the_first_message_and_names_are_in_alphabetical_order():
    wire = Wire()
    system, = systems_of('c3p', wire)
    broadcaster = StateBroadcaster(wire, system.states, extra=())
    broadcaster.update()
    message = wire.sent[-1]
    assert message.name == sorted(load('c3p').steering_joints + load('c3p').wheel_joints)
    assert all(map(math.isnan, [*message.position, *message.velocity, *message.effort]))


def test_fields_may_be_empty_and_must_not_be_short():
    wire = Wire()
    wheels, = systems_of('c3p', wire)
    wheels.latest = JointState(name=['wheel_joint_1', 'wheel_joint_2'], position=[1.0, 2.0])
    wheels.read()
    assert wheels.states['wheel_joint_2']['position'] == 2.0
    assert math.isnan(wheels.states['wheel_joint_2']['velocity'])
    wheels.latest = JointState(name=['wheel_joint_1', 'wheel_joint_2'], position=[1.0])
    with pytest.raises(IndexError):
        wheels.read()
