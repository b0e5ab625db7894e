# SPDX-License-Identifier: Apache-2.0
"""
Any message at any subscriber of a robot that drives: nothing is raised, and it drives afterwards.

Callbacks are called directly, off the clock. ``--hypothesis-profile explore`` gives 25 000
messages to each subscriber instead of some hundred.
"""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import joints, stamped  # noqa: E402
from damaged_messages import EXTREMES, Attack, count  # noqa: E402
from geometry_msgs.msg import AccelStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from wired import deliver  # noqa: E402
from wired_robot import RATE, WiredRobot  # noqa: E402

# law of the velocity controller, parameters of the position controller; nodes that are attacked
LAWS = {'mpc': ('mpc', {}, ('sensed', 'velocity', 'position', 'simulation')),
        'paper': ('paper', {}, ('velocity', 'position', 'dynamics')),
        'printed': ('paper', {'paper_law': 'printed'}, ('position',))}


@pytest.fixture(scope='module')
def robot(request):
    """One robot for all attacks on it: what a message has harmed stays harmed."""
    law, parameters, _ = LAWS[request.param]
    robot = WiredRobot(law, **parameters)
    robot.unlock()
    yield robot
    robot.close()


def check_drives(robot, law):
    """A robot that any message was sent to drives to a goal, as one that was just started."""
    robot.cancel()
    # what was commanded is stale by then, and whatever had a stamp of the time to come is past
    robot.cycle(int(1.0 * RATE))
    robot.unlock()
    before, goal = robot.pose, 0.3
    if law == 'printed':
        # it turns away from its line where it is close: that it commands is all to be had
        robot.goal(1.0, 0.0, 0.0)
        robot.cycle(int(0.5 * RATE))
        assert robot.last['cmd_vel'].twist.linear.x > 0.1
        return
    reason, _ = robot.drive(goal, 0.0, 0.0, seconds=12.0)
    assert reason == 'reached', robot.results
    assert abs(float(np.hypot(*(robot.pose - before)[:2])) - goal) < 0.06


@pytest.mark.parametrize('robot, part', [
    (law, part) for law, (_, _, parts) in LAWS.items() for part in parts],
    indirect=['robot'], scope='module')
def test_the_chain_outlives_any_message(robot, part, request):
    law = request.node.callspec.params['robot']
    node, sent = getattr(robot, part), robot.published['wheel_effort']
    robot.goal(1.0, 0.0, 0.0)
    Attack(20261123, robot.cycle)(node, robot.now)
    # clean cycles went on between the messages
    assert robot.published['wheel_effort'] - sent >= count() // 20
    check_drives(robot, law)


@pytest.mark.parametrize('robot', ['paper'], indirect=True, scope='module')
@pytest.mark.parametrize('stamp', EXTREMES)
def test_a_whole_cycle_of_an_impossible_stamp_harms_nothing(robot, stamp):
    robot.cycle()
    for subscription, message in (('joint_states', joints(stamp)),
                                  ('odom', stamped(Odometry, stamp)),
                                  ('reference_acceleration', stamped(AccelStamped, stamp))):
        for taker in robot.subscriptions(subscription):
            deliver(taker, type(message), message)
    assert robot.dynamics.diagnostics.refused('joint_states') > 0 or stamp.nanosec < 10**9
    robot.cycle(5)
    check_drives(robot, 'paper')
