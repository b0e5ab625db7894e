# SPDX-License-Identifier: Apache-2.0
"""Parts of the node sensed_kinematics that are not odometry itself."""
