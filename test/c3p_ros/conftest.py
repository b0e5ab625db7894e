# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of rclpy's parts."""

import pytest


@pytest.fixture
def context():
    """A context of its own, which ends with the test."""
    rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced '
                                                'one')
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    context.try_shutdown()
