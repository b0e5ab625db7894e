# SPDX-License-Identifier: Apache-2.0
"""Velocity and position control of caster robots: the papers' cascade, consistent and limited."""
