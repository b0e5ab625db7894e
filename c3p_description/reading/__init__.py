# SPDX-License-Identifier: Apache-2.0
"""Readers of robot descriptions: YAML, xacro, URDF and meshes."""
