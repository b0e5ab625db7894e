# SPDX-License-Identifier: Apache-2.0
"""The closed loop without ROS: plant, odometry, controller and what is measured."""
