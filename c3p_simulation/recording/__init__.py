# SPDX-License-Identifier: Apache-2.0
"""Runs as arrays and as bags, written and read without a ROS 2 installation."""
