# SPDX-License-Identifier: Apache-2.0
"""
Wrong wiring of joints, with emulated cards behind the parameters of a robot that is wired well.

Straight ahead with parallel casters exchanged parts are not visible; a curve shows them within
centimetres, and a turn on the spot does.
"""

import pytest
from miswired import ASIDE, TURN, MiswiredRobot, robots

from c3p_hardware.supervisor import ArmState

C3P = robots()['c3p']
CURVE = (0.25, 0.12, 0.12)
EXCHANGED = {'drive_ids': (2, 1, 3)}
MODULES = {**EXCHANGED, 'encoder_ids': (12, 11, 13)}

# wiring: words of the message; of several explanations one of these must be among them
WRONG = {
    'wheels exchanged': (EXCHANGED, 'wheel_joint_1 and wheel_joint_2 are exchanged'),
    'modules exchanged': (MODULES, 'wheel_joint_2 with steering_joint_2 are exchanged'),
    'encoders exchanged': ({'encoder_ids': (12, 11, 13)},
                           'steering_joint_1 and steering_joint_2 are exchanged'),
    'all motors reversed': ({'wheel_direction': (-1,)}, 'all wheels are reversed'),
    'all encoders reversed': ({'steering_direction': (-1,)}, 'all steering encoders are reversed'),
    'motor 1 reversed': ({'wheel_direction': (-1, 1, 1)},
                         'wheel_joint_1 is reversed (drives.directions)'),
    'encoder 1 reversed': ({'steering_direction': (-1, 1, 1)},
                           'steering_joint_1 is reversed (encoders.directions)'),
    'zero 1 off by 90°': ({'steering_zero_counts': (1024, 0, 0)}, 'the zero of steering_joint_1'),
    'zero 1 off by 180°': ({'steering_zero_counts': (2048, 0, 0)}, 'the zero of steering_joint_1'),
    'zero 1 off by 20°': ({'steering_zero_counts': (228, 0, 0)}, 'the angle of steering_joint_1'),
}


def drive(virtual_time, wiring, twist, seconds=4.0):
    """Drive until a fault; return whether there was one, the faults, and the way, m."""
    robot = MiswiredRobot(virtual_time, C3P, wiring, twist)
    try:
        robot.arm()
        stopped = robot.run(lambda: robot.link.state == ArmState.FAULT, seconds)
        return stopped, '; '.join(robot.link.faults), robot.way(0.0, float('inf'))
    finally:
        robot.close()


@pytest.mark.parametrize('name', WRONG)
def test_wrong_wiring_is_named_and_no_encoder_is_accused(virtual_time, name):
    wiring, words = WRONG[name]
    stopped, text, way = drive(virtual_time, wiring, CURVE)
    assert stopped and way < 0.6
    assert text.startswith('wiring: ') and words in text and '`c3p commission`' in text
    # no part that is wired well
    assert 'joint_3' not in text
    assert 'encoder of' not in text and 'quick stop' not in text


@pytest.mark.parametrize('name', ['wheels exchanged', 'modules exchanged', 'encoders exchanged',
                                  'all motors reversed', 'all encoders reversed'])
@pytest.mark.parametrize('twist', [TURN, ASIDE])
def test_a_turn_on_the_spot_and_a_motion_aside_show_it(virtual_time, name, twist):
    wiring, words = WRONG[name]
    stopped, text, way = drive(virtual_time, wiring, twist)
    assert stopped and way < 0.3
    assert text.startswith('wiring: ') and words in text and 'joint_3' not in text


@pytest.mark.parametrize('wiring', [{}, {'gear_ratio': (15.4, 14.0, 14.0)}])
def test_what_is_no_wrong_wiring_is_not_called_so(virtual_time, wiring):
    stopped, text, _ = drive(virtual_time, wiring, CURVE, 2.5)
    assert not stopped and not text
