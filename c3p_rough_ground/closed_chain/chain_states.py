# SPDX-License-Identifier: Apache-2.0
"""
States of the kernels of closed chains.

Sizes: m joints, n wheels, `links` of all chains, `settling` joints, 3 n − 6 `equations` of the
input constraints, and `stages` of the method of integration. A state of a vehicle is p (3),
quaternion (4), θ (m) and η (5) of each wheel.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Parts, state
from c3p_rough_ground.closed_chain._scan_kernels import ACROSS, ROUND


@state
class ChainWork(Parts):
    """Geometry and equations of one state of a vehicle."""

    sizes = 'm', 'n', 'links', 'settling', 'equations'

    frame: Annotated[Array, '1+m', 12]      # axes x, y, z and origin of each body in {G}, m; the
                                            # first is the platform
    contact: Annotated[Array, 'n', 51]      # columns in _geometry_kernels.py
    column: Annotated[Array, 'links', 3]    # velocity of the contact point by a unit rate of each
                                            # joint of its chain, m or 1
    rows: Annotated[Array, 'equations', '1+m']  # input constraints
    normal: Annotated[Array, 'n', '4+settling']  # equations of the closure along the normals
    note: Annotated[Array, 6]               # margin (smallest eigenvalue of Kw + K*, 1/m), its
                                            # wheel, angular velocity of the platform in {G} (3),
                                            # smallest to largest pivot of the input constraints


@state
class ChainMemory(Parts):
    """Memory of a run."""

    sizes = 'm', 'n', 'links', 'settling', 'equations', 'stages'

    work: ChainWork
    stage: Annotated[Array, 'stages', '7+m+5n']  # rates of the stages of a step
    state: Annotated[Array, '7+m+5n']       # accepted
    trial: Annotated[Array, '7+m+5n']       # a step later
    saved: Annotated[Array, '7+m+5n']       # at the last search for a second contact
    rate: Annotated[Array, '7+m+5n']        # of `trial`
    delta: Annotated[Array, '7+m+5n']       # Newton step of the closure
    desired: Annotated[Array, 'm']          # θ̇_d, rad/s or m/s
    grid: Annotated[Array, ROUND, ACROSS]   # gaps of a wheel, m
    found: Annotated[Array, 'n', 3]         # deepest point of each wheel: gap m, angle, v


cut_work = ChainWork.cut
cut_memory = ChainMemory.cut
