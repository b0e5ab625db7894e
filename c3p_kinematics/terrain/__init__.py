# SPDX-License-Identifier: Apache-2.0
"""
Ground surfaces z = g(x, y) with the derivatives that rolling needs.

Every terrain gives numbers twice: by numpy here (``height``, ``derivatives``), and to compiled
code by ``kind``, ``parameters`` and ``table`` (_kernels.py).
"""

from c3p_kinematics.terrain.analytic import Flat, Incline, Plateau
from c3p_kinematics.terrain.base import (
    MOST_POINTS,
    Terrain,
    TerrainError,
    principal_curvatures,
)
from c3p_kinematics.terrain.heightmap import HeightMap
from c3p_kinematics.terrain.hills import Hills
from c3p_kinematics.terrain.mesh import HeightGrid, Mesh, grid_mesh, height_grid
from c3p_kinematics.terrain.splines import SplineGround

__all__ = ['MOST_POINTS', 'Flat', 'HeightGrid', 'HeightMap', 'Hills', 'Incline', 'Mesh',
           'Plateau', 'SplineGround', 'Terrain', 'TerrainError', 'grid_mesh', 'height_grid',
           'principal_curvatures']
