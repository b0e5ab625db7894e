# SPDX-License-Identifier: Apache-2.0
"""Caster kinematics, sensed forward solution, singularity measures, slip and odometry."""
