# SPDX-License-Identifier: Apache-2.0
"""A node whose constructor fails."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402

from c3p_ros.node import SuiteNode  # noqa: E402
from c3p_ros.orderly_node import OrderlyNode  # noqa: E402


class Half(SuiteNode):
    def __init__(self, **options):
        super().__init__('half', **options)
        self.create_publisher(Odometry, 'odom', 1)
        raise ValueError('gain = 2: must be less than 1')

    def destroy_node(self):
        raise AttributeError('a part that was never made')


class Quarter(Half):
    pass


@pytest.mark.parametrize('kind', [Half, Quarter])
def test_a_constructor_that_fails_leaves_no_publisher(context, kind):
    observer = OrderlyNode('observer', context=context)
    with pytest.raises(ValueError, match='gain = 2') as refused:
        kind(context=context)
    # the error, which holds the half node, is still there
    assert refused.value and observer.get_publishers_info_by_topic('odom') == []
    assert observer.get_node_names() == ['observer']
    observer.destroy_node()
