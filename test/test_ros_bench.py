# SPDX-License-Identifier: Apache-2.0
"""The bench finds nodes that are left behind, and says where it cannot."""

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import ros_bench  # noqa: E402

from c3p_ros.middleware import Middleware, of_this_process  # noqa: E402


def test_a_participant_that_is_left_behind_fails_the_test():
    if not of_this_process().fast_dds:
        pytest.skip(f'participants of {of_this_process().identifier} are not counted')
    bench, context = ros_bench.Bench(), rclpy.Context()
    rclpy.init(context=context)
    left = rclpy.create_node('left_behind', context=context)
    try:
        with pytest.raises(AssertionError, match='a node is left'):
            bench.close()
    finally:
        left.destroy_node()
        context.try_shutdown()


def test_participants_of_another_middleware_are_not_counted_and_that_is_said(monkeypatch):
    monkeypatch.setattr(ros_bench, 'of_this_process', lambda: Middleware('rmw_zenoh_cpp'))
    with pytest.warns(UserWarning, match='not found with rmw_zenoh_cpp'):
        assert ros_bench.participants() is None
        bench = ros_bench.Bench()
    # other threads are looked at all the same
    bench.close()
