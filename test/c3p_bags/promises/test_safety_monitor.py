# SPDX-License-Identifier: Apache-2.0
"""The safety monitor as a node, beside a mux with an e-stop."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import TwistStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_bags.promises.safety_monitor_node import SafetyMonitorNode  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_ros.messages import fill_twist  # noqa: E402


def command(bench, speed):
    """Return a command of now."""
    message = TwistStamped()
    message.header.stamp = bench.now()
    fill_twist(message.twist, (speed, 0.0, 0.0))
    return message


def test_a_command_past_the_mux_is_named_with_evidence_time_and_code(bench):
    node = bench.add(SafetyMonitorNode, period=0.05)
    bench.add(TwistMuxNode, start_silence=0.0)
    keys = bench.publisher(TwistStamped, 'cmd_vel_keyboard')
    stop = bench.publisher(Bool, 'e_stop')
    past = bench.publisher(TwistStamped, 'cmd_vel')
    bench.wait_for(lambda: node._judged.mux, 'the parameters of the mux')
    bench.publish_until(stop, Bool(data=False), lambda: bench.value(
        'twist_mux', 'lock priority') == '0', 'the release')
    # what the mux passes breaks nothing
    bench.publish_until(keys, command(bench, 0.0), lambda: bench.value(
        'twist_mux', 'driving') == 'keyboard', 'a zero')
    for _ in range(10):
        keys.publish(command(bench, 0.2))
        bench.run(0.05)
    assert node._broken == {} and 'no-resume' in node._seen
    stop.publish(Bool(data=True))
    bench.run(0.5)
    for _ in range(5):
        past.publish(command(bench, 0.2))
        bench.run(0.05)
    bench.wait_for(lambda: bench.value('safety_monitor', 'lock-stops broken'), 'the promise')
    status = bench.health['safety_monitor']
    assert status.level == b'\x02' and 'although e_stop was pressed; first at ' in status.message
    assert bench.value('safety_monitor', 'fault_codes') == 'C3P-PR-0010'
    answer = bench.call(Trigger, 'safety_monitor/clear')
    assert answer.success and answer.message == 'cleared: lock-stops'
    bench.wait_for(lambda: bench.health['safety_monitor'].level == b'\x00', 'it is cleared')


def test_a_torque_above_the_limit_needs_no_parameters(bench):
    node = bench.add(SafetyMonitorNode, period=0.05)
    names = [*node.robot.effort_places]
    effort = bench.publisher(JointState, 'wheel_effort')
    message = JointState(name=names, effort=[2.0 * float(node.robot.effort_limit[0])] * len(names))
    bench.publish_until(effort, message, lambda: 'torque-limits' in node._broken, 'the promise')
    assert node._broken['torque-limits'].evidence == 'a torque of 2 times its limit'
