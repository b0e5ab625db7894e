# SPDX-License-Identifier: Apache-2.0
"""
Ground surfaces z = g(x, y) with the derivatives that rolling needs.

One formula serves both sides (_kernels.py): arrays of places through ``height`` and
``derivatives``, compiled code through ``kind``, ``parameters`` and ``table``.
"""

from c3p_rough_ground.terrain.analytic import Flat, Hills, Incline, Plateau
from c3p_rough_ground.terrain.base import MOST_POINTS, Terrain, TerrainError, principal_curvatures
from c3p_rough_ground.terrain.heightmap import HeightMap
from c3p_rough_ground.terrain.mesh import HeightGrid, Mesh, grid_mesh, height_grid
from c3p_rough_ground.terrain.splines import SplineGround

__all__ = ['MOST_POINTS', 'Flat', 'HeightGrid', 'HeightMap', 'Hills', 'Incline', 'Mesh',
           'Plateau', 'SplineGround', 'Terrain', 'TerrainError', 'grid_mesh', 'height_grid',
           'principal_curvatures']
