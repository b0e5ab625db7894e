# SPDX-License-Identifier: Apache-2.0
"""Experiment: odometry that calibrates itself, on robots whose descriptions are wrong."""
