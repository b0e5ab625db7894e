# SPDX-License-Identifier: Apache-2.0
"""Readers of trees of bodies from files."""

from c3p_multibody.trees.reading.urdf import tree_from_urdf

__all__ = ['tree_from_urdf']
