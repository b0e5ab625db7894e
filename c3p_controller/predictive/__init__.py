# SPDX-License-Identifier: Apache-2.0
"""Predictive control: the next second of motion, optimised in each cycle."""
