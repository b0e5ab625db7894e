# SPDX-License-Identifier: Apache-2.0
"""Logs of other robots as bags: CSV, WPILOG and ROS 1, by a mapping."""
