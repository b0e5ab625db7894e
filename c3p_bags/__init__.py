# SPDX-License-Identifier: Apache-2.0
"""Runs on disk: record, play, repair, recompute and report, without a ROS 2 installation."""
