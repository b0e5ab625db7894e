# SPDX-License-Identifier: Apache-2.0
"""Experiment: odometry and its monitors with the sensors of real robots, property by property."""
