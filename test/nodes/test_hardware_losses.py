# SPDX-License-Identifier: Apache-2.0
"""Controller and bus are lost while a robot on motor cards drives: it stops, and is used again."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from card_bench import CRUISE, NODE, SOON, CardBench  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_hardware.canopen.cia402 import DriveState  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402

# silence_timeout and command_timeout of the schema, s
SILENCE, COMMAND = 0.05, 0.2
# from 0.24 m/s with stop_damping, and a tenth for cycles, s
BRAKED = 0.9 + 0.1


@pytest.fixture
def bench():
    bench = CardBench()
    yield bench
    bench.close()


def speed(bench):
    return float(np.hypot(*bench.cards.truth.twist[:2]))


def follow_until(bench, condition):
    """Send a cmd_vel of 0.25 m/s until `condition`; zero until the wheels are free."""
    def command():
        unlocked = bench.value('velocity_controller', 'locked') == 'no'
        if bench.motors() == 'disarmed':
            bench.enable()
        free = unlocked and bench.motors() == 'armed' and not bench.said_by_node('they brake')
        bench.command(0.0, 0.25 if free else 0.0, 0.0)

    bench._repeat(command, condition, 'driving', SOON)


@pytest.mark.real_time
def test_cards_that_vanish_are_a_dead_bus_and_are_used_again_when_they_are_back(bench):
    bench.add_cards()
    node = bench.add_interface(autostart='active')
    bench.drive()
    bench.remove('emulated_cards')
    bench.wait_for(lambda: bench.motors() == 'fault' and bench.said_by_node('bus: ', '~/recover'),
                   'the dead bus', 2 * SILENCE)
    refused = bench.enable()
    assert not refused.success and 'bus: ' in refused.message
    answer = bench.ask('recover')
    assert not answer.success and 'no response' in answer.message
    # the bus is closed now: everything is refused with a reason, nothing breaks
    assert not bench.enable().success and bench.ask('quick_stop') and bench.state() == 'active'
    bench.effort, bench.cruise = [0.0] * 3, False
    bench.add_cards()
    bench.joints.clear()
    answer = bench.ask('recover')
    assert answer.success, answer.message
    bench.wait_for(lambda: bench.joints, 'joint states')
    assert max(np.abs(bench.joints[-1].velocity)) < 0.05
    bench.rests(0.2)
    bench.drive()
    assert bench.rates() > 0.7 * CRUISE and node is bench.nodes[NODE]


@pytest.mark.real_time
def test_wheels_brake_when_the_controller_ends(bench):
    bench.effort = None
    bench.talker.destroy_publisher(bench.effort_pub)
    bench.add_cards()
    bench.add(SensedKinematicsNode)
    bench.add_interface(autostart='active')
    bench.add(VelocityControllerNode)
    bench.wait_until_unlocked()
    follow_until(bench, lambda: speed(bench) > 0.2)
    bench.remove('velocity_controller')
    bench.command_until(lambda: speed(bench) < 0.01, 'rest', 0.0, 0.25, 0.0,
                        timeout=COMMAND + BRAKED)
    bench.wait_for(lambda: bench.said_by_node('they brake'), 'the reason')
    # the drives hold the wheels: the interface itself is well
    assert bench.states() == {DriveState.OPERATION_ENABLED}
    # a controller that comes back begins with zeros, and is followed then
    bench.health.pop('velocity_controller')
    bench.add(VelocityControllerNode)
    follow_until(bench, lambda: speed(bench) > 0.1)
