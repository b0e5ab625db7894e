# SPDX-License-Identifier: Apache-2.0
"""Faults of the motor cards against a robot that drives: trials, measures and their table."""
