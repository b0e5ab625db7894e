# SPDX-License-Identifier: Apache-2.0
"""
States of constrained motion: what the kernels of the general solver work on.

`n` is the number of bodies, `m` that of the constraints' rows, `ties` that of constraints.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from c3p_kernels.state import Array, Number, Parts, state
from c3p_multibody.constraints._row_kernels import PLACE, RELATIVE
from c3p_multibody.constraints._sweep_kernels import BODY, FRAME
from c3p_multibody.constraints.null_space import RANK_TOLERANCE
from c3p_multibody.constraints.packing import PackedRows
from c3p_multibody.trees import Tree

# columns of the numbers of a body, and rows of the vectors of a state: q, q̇, τ, viscous friction
# of the joints, and q̈ as a result
NUMBERS = 31
VECTORS = 5


@state
class ConstraintSpace(Parts):
    """Terms of a state and their solution, and the memory of the integrator."""

    sizes = 'n', 'm'
    frames: Annotated[Array, '1+n', FRAME]      # of `sweep`; the last one is the world's
    bodies: Annotated[Array, 'n', BODY]         # of `sweep`
    inertia: Annotated[Array, 'n', 'n']         # A
    lower: Annotated[Array, 'n', 'n']           # its Cholesky factor
    forces: Annotated[Array, 'n']               # c: Coriolis, centrifugal, gravity
    potential: Number                           # energy, J
    walk: Annotated[Array, 'n', 6]              # of `evaluate`
    relation: Annotated[Array, RELATIVE]        # of `evaluate`
    jacobian: Annotated[Array, 'm', 'n']        # B
    rate: Annotated[Array, 'm']                 # g
    bias: Annotated[Array, 'm']                 # Ḃq̇
    error: Annotated[Array, 'm']                # m or rad
    target: Annotated[Array, 'm']               # of a projection
    rows: Annotated[Array, 'm', 'n']            # orthonormal, from B L⁻ᵀ
    beside: Annotated[Array, 'n', 4]            # work memory of `backward_rows`
    factor: Annotated[Array, 'm', 'm']          # of these
    multipliers: Annotated[Array, 'm']          # λ
    unused: Annotated[Array, 'm']               # multipliers of projections of q and q̇
    moves: Annotated[Array, 'm']                # work memory of `reach`
    rank: Number                                # independent rows
    disagreement: Number                        # contradiction of dependent rows, m/s² or rad/s²
    shift: Annotated[Array, 'n']                # correction of q or q̇
    base_q: Annotated[Array, 'n']               # at the begin of a step
    base_qd: Annotated[Array, 'n']
    sum_q: Annotated[Array, 'n']                # weighted slopes of a step
    sum_qd: Annotated[Array, 'n']
    slope: Annotated[Array, 'n']                # of q in a stage


@state
class ConstrainedSystem(Parts):
    """A tree with constraints and its state: all numbers that `constrained` takes."""

    sizes = 'n', 'm', 'ties'
    least_row: float                            # relative length below which a row is dependent
    frequency: float                            # Baumgarte's, rad/s; 0 without
    numbers: Annotated[Array, 'n', NUMBERS]     # of trees.description.Arrays
    gravity: Annotated[Array, 3]                # m/s²
    places: Annotated[Array, 'ties', PLACE]     # of TieArrays
    vectors: Annotated[Array, VECTORS, 'n']     # q, q̇, τ, viscous friction, q̈
    space: ConstraintSpace


class SystemIntegers(NamedTuple):
    """
    Whole numbers of a ConstrainedSystem.

    Attributes
    ----------
    links : (n, 3) array
        Of trees.description.Arrays.
    ties : (k, 6) array
        Of TieArrays.
    order : (m,) array
        Of the orthonormal rows, written.
    """

    links: np.ndarray
    ties: np.ndarray
    order: np.ndarray


def system_of(tree: Tree, packed: PackedRows, frequency: float = 0.0
              ) -> tuple[ConstrainedSystem, SystemIntegers]:
    """Return what the kernels take of a `tree` with constraints; `frequency` is Baumgarte's."""
    m = len(packed.labels)
    system = ConstrainedSystem.new((tree.count, m, len(packed.ties)), least_row=RANK_TOLERANCE,
                                   frequency=frequency)
    system.numbers[:] = tree.arrays.numbers
    system.gravity[:] = tree.arrays.gravity
    system.places[:] = packed.places
    # the world does not turn
    system.space.frames[-1, [0, 4, 8]] = 1.0
    return system, SystemIntegers(tree.arrays.links, packed.ties, np.zeros(m, np.int64))
