# SPDX-License-Identifier: Apache-2.0
"""Simple shapes that explain the motion of a robot, for every viewer."""
