# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of robots whose wheels close kinematic chains through the ground."""
