# SPDX-License-Identifier: Apache-2.0
"""Calibration of lengths and steering zeros from bags."""
