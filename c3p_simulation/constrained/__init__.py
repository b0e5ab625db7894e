# SPDX-License-Identifier: Apache-2.0
"""Experiments with constraints that come and go: a grasp, a berthing, a chain on the ground."""
