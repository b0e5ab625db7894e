# SPDX-License-Identifier: Apache-2.0
"""Closed-form torque law: controllability and allocation without an optimiser."""
