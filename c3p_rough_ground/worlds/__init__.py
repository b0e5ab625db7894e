# SPDX-License-Identifier: Apache-2.0
"""Terrains from files, and their export to Gazebo and MuJoCo."""
