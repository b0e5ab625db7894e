# SPDX-License-Identifier: Apache-2.0
"""Experiments with temporary constraints (Kelly): grasp, berthing, chain."""
