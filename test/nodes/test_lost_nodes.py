# SPDX-License-Identifier: Apache-2.0
"""Each node ends during a drive: the robot stops in time, and its return does not move it."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from ros_bench import CHAIN  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

AT_REST = 0.01
FACTORIES = {factory.__module__.split('.')[-1].removesuffix('_node'): factory for factory in CHAIN}

# seconds from the end of the node to rest, and the node that reports the reason: the watchdog of
# the schema, braking from at most 0.5 m/s, and a tenth for cycles and watch periods
VICTIMS = {
    # cmd_vel_timeout 0.5 s, then stop_acceleration 1 m/s²
    'position_controller': (0.5 + 0.5 + 0.1, 'velocity_controller', 'no command for longer'),
    # chain_timeout 0.2 s, then the wheels brake with stop_damping
    'sensed_kinematics': (0.2 + 0.9 + 0.1, 'velocity_controller', 'no odom'),
    # command_timeout 0.2 s of the gate, then the same braking
    'velocity_controller': (0.2 + 0.9 + 0.1, 'simulation', 'they brake'),
}


def rests(bench, seconds):
    """Fail when the robot moves within `seconds`."""
    assert not bench.time.advance(seconds, lambda: bench.speed() > AT_REST), bench.story()


@pytest.mark.parametrize('victim', VICTIMS)
def test_a_node_that_ends_stops_the_robot_and_its_return_does_not_move_it(
        in_process_robot, victim):
    bench, (within, witness, reason) = in_process_robot, VICTIMS[victim]
    bench.goal(0.0, 3.0, 0.0, frame='base_link')
    bench.wait_for(lambda: bench.speed() > 0.45, 'driving')
    bench.remove(victim)
    bench.wait_for(lambda: bench.speed() < AT_REST, f'rest after the end of {victim}', within)
    bench.wait_for(lambda: reason in bench.health[witness].message, f'{witness}: {reason!r}', 1.1)
    rests(bench, 0.7)
    bench.add(FACTORIES[victim])
    rests(bench, 1.0)
    # a goal that is still held is cancelled; then the robot drives again
    bench.call(Trigger, 'position_controller/cancel')
    bench.wait_until_unlocked()
    bench.goal(0.0, 0.5, 0.0, frame='base_link')
    bench.wait_for(lambda: bench.speed() > 0.1, 'driving again')
