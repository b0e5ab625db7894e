# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ROS 2's package launch_ros where it is not installed; see launch."""
