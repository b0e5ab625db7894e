# SPDX-License-Identifier: Apache-2.0
"""Checks of ``c3p doctor``: computer, ROS graph, robot and CAN bus."""
