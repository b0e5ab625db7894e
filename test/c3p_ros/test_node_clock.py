# SPDX-License-Identifier: Apache-2.0
"""Messages before the first /clock, in a node with simulated time."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros import node as suite_node  # noqa: E402
from c3p_ros.cdr import EarlyMessageError, MessageError  # noqa: E402


def test_without_a_clock_messages_are_early_at_first_and_refused_later(bench, monkeypatch):
    node = bench.add(SensedKinematicsNode, use_sim_time=True)
    with pytest.raises(EarlyMessageError, match='no /clock yet'):
        node.check_fresh(1, 1.0)
    monkeypatch.setattr(suite_node, 'CLOCK_WAIT', 0.0)
    with pytest.raises(MessageError, match='no /clock yet') as refused:
        node.check_fresh(1, 1.0)
    assert not isinstance(refused.value, EarlyMessageError)
