# SPDX-License-Identifier: Apache-2.0
"""Calibration of the lengths and steering zeros of a caster robot from its joint sensors."""
