# SPDX-License-Identifier: Apache-2.0
"""A goal over the bus of the motor cards, and the same goal without one."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from card_bench import NODE, CardBench  # noqa: E402
from ros_bench import CHAIN, Bench  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from c3p_ros.node import LATCHED  # noqa: E402

GOAL = (1.0, 0.0, 0.0)
# a plant over the bus ends where the same plant ends without one, m and rad
SAME_PLACE = 0.02


def drive(bench):
    """Drive; return the true pose at the end and the largest distance from the line."""
    reached = bench.collect(Bool, 'position_controller/goal_reached', LATCHED)
    bench.wait_until_unlocked()
    off, count = [], len(reached)
    bench.goal(*GOAL)
    bench.wait_for(lambda: off.append(abs(bench.pose()[1])) or (
        len(reached) > count and reached[-1].data), 'arrival', 30.0)
    bench.run(2.0)
    return bench.pose(), max(off)


@pytest.mark.real_time
@pytest.mark.slow
def test_a_drive_over_the_bus_ends_where_the_same_drive_without_one_ends():
    bench = Bench()
    try:
        bench.add_robot(velocity_controller={'acceleration_limit': 0.5})
        direct, off = drive(bench)
    finally:
        bench.close()
    assert off < 0.01
    bench = CardBench()
    # the controllers command, not the bench
    bench.effort = None
    bench.talker.destroy_publisher(bench.effort_pub)
    try:
        bench.add_cards()
        bench.add_interface(autostart='active')
        for factory in CHAIN:
            bench.add(factory)
        bench.wait_until_unlocked()
        bench.wait_for(lambda: bench.enable().success, 'arming')
        over, off = drive(bench)
        bench.wait_for(lambda: float(bench.value(NODE, 'sync_rate_hz') or 0.0), 'the figures')
        # 200 Hz; SYNC, 3 + 3 samples and 3 orders in a cycle, heartbeats and the slow PDOs besides
        assert float(bench.value(NODE, 'sync_rate_hz')) == pytest.approx(200.0, rel=0.01)
        assert 10 * 200 < float(bench.value(NODE, 'frames_per_s')) < 12 * 200
        # ten frames of about 110 bits are 22 % of 1 Mbit/s
        assert 0.15 < float(bench.value(NODE, 'bus_load')) < 0.3
        assert bench.value(NODE, 'faults') == bench.value(NODE, 'missed_cycles') == '0'
        assert bench.value(NODE, 'overruns') == '0'
    finally:
        bench.close()
    assert off < 0.02
    np.testing.assert_allclose(over, direct, rtol=0, atol=SAME_PLACE)
    print(f'over the bus the robot ends {1e3 * np.linalg.norm((over - direct)[:2]):.2f} mm from '
          'where it ends without')
