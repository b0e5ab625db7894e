# SPDX-License-Identifier: Apache-2.0
"""Requests to drive slowly at the nodes: a scanner, and Nav2 with a stand-in for its message."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from module_robot import ModuleRobot  # noqa: E402
from std_msgs.msg import Bool, Float64  # noqa: E402

from c3p_controller.module_controller_node import ModuleControllerNode  # noqa: E402
from c3p_controller.ros import speed_inputs  # noqa: E402
from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_description.reading.loader import load_casters  # noqa: E402


def test_modules_drive_slowly_unless_a_scanner_permits_more(bench):
    robot = load_casters('swerve')
    stub = bench.add(lambda **options: ModuleRobot(robot, context=options['context']))
    bench.add(ModuleControllerNode, robot='swerve', start_silence=0.2,
              **{'reduced.speed_limit': 0.15})
    bench.command_until(lambda: bench.value('module_controller', 'locked') == 'no', 'unlocking',
                        0.0, 0.0, 0.0)
    scanner = bench.publisher(Bool, 'reduced_speed')
    bench.wait_for(scanner.get_subscription_count, 'discovery')

    def speed(permits):
        for _ in range(60):
            bench.command(0.6, 0.0, 0.0)
            if permits is not None:
                scanner.publish(Bool(data=not permits))
            bench.run(0.02)
        return float(np.hypot(*stub.axes.twist[:2]))

    assert speed(None) == pytest.approx(0.15, abs=0.005)
    assert speed(True) == pytest.approx(0.6, abs=0.02)
    assert speed(False) == pytest.approx(0.15, abs=0.005)
    assert speed(True) == pytest.approx(0.6, abs=0.02)
    # the scanner ends
    assert speed(None) == pytest.approx(0.15, abs=0.005)
    assert bench.value('module_controller', 'fault_codes') == 'C3P-MC-0075'


def test_limits_of_nav2_reach_the_torque_law(bench, monkeypatch):
    # any message that is installed: nav2_msgs is not
    monkeypatch.setattr(speed_inputs, 'SpeedLimit', Float64)
    node = bench.add(VelocityControllerNode)
    bench.wait_for(lambda: bench.talker.count_subscribers('speed_limit'), 'the subscription')
    assert bench.talker.count_subscribers('reduced_speed') == 0
    take = node._speed._on_limit

    def limits():
        found = node._law.settings.limits
        return found.speed, found.yaw_rate

    assert limits() == (0.8, 2.0)
    take(SimpleNamespace(percentage=True, speed_limit=25.0))
    assert limits() == pytest.approx((0.2, 0.5))
    take(SimpleNamespace(percentage=False, speed_limit=-1.0))
    assert limits() == pytest.approx((0.2, 0.5))
    assert node.diagnostics.refused('speed_limit') == 1
    # a parameter that changes meanwhile does not end the limit, in percent
    assert bench.set_parameter('velocity_controller', 'speed_limit', 0.4).successful
    assert limits() == pytest.approx((0.1, 0.5))
    take(SimpleNamespace(percentage=False, speed_limit=0.0))
    assert limits() == (0.4, 2.0)
