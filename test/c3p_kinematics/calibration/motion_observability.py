# SPDX-License-Identifier: Apache-2.0
"""
Observability of lengths and steering zeros from joint sensors, for n casters and each motion.

At every instant the 2n rolling equations have three unknowns, the twist. Without it 2n − 3 remain
that depend on the parameters; their derivatives over a motion have rank 5n − 4 at most, all
directions but those of `parameters.gauge`. Derivation and table: docs/calibration.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration import _window_kernels as kernels
from c3p_kinematics.calibration.parameters import NAMES, Prior, parameters_of
from c3p_kinematics.casters import batched, inverse

# singular value relative to the largest below which a direction is not observed: rounding
SEEN = 1e-9

# part of a parameter in a direction from which it is named
NAMED = 0.1


class Observability(NamedTuple):
    """
    Rank of a motion for the 5n parameters.

    Attributes
    ----------
    rank : int
        Number of observable directions, up to 5n − 4.
    singular : (5n,) array
        Singular values of the rows in units of the prior, decreasing: information per direction.
    directions : (5n, 5n) array
        Unit directions in units of the prior, one per row, in the same order.
    """

    rank: int
    singular: Array
    directions: Array

    def unseen(self) -> Array:
        """Return an orthonormal basis (5n − rank, 5n) of what the motion cannot teach."""
        return self.directions[self.rank:]

    def known(self) -> Array:
        """
        Return the part of each parameter (n, 5) that the motion observes, 0 to 1.

        1 − |unseen part|²; a parameter with a part in the gauge is below 1 for any motion.
        """
        return (1.0 - np.sum(self.unseen()**2, axis=0)).reshape(-1, kernels.PER_CASTER)

    def text(self) -> str:
        """Return rank and parameters without any information, in words."""
        none = [f'{name} of caster {i + 1}' for i, row in enumerate(self.known())
                for name, part in zip(NAMES, row, strict=True) if part < NAMED**2]
        rest = f'; nothing about {", ".join(none)}' if none else ''
        return f'{self.rank} of {len(self.singular)} directions{rest}'


def rows(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike) -> Array:
    """
    Return the derivatives of the redundant rolling equations (k, 2n − 3, 5n), m/s.

    Parameters
    ----------
    robot : CasterRobot
    steering : (k, n) array_like, rad
    twist : (k, 3) array_like, m/s and rad/s
        Of `base_link`; joint rates follow from it without slip.

    Raises
    ------
    ValueError
        A vector of the wrong size, or contact points that coincide.
    """
    n = robot.count
    _, (angles, twists) = batched(n, steering=(steering, n), twist=(twist, 3))
    wheel, steer, _ = inverse(robot, angles, twists)
    parameters = parameters_of(robot)
    factors = np.ascontiguousarray(robot.geometry[:, 4:])
    out = np.empty((len(angles), 2 * n - 3, 5 * n))
    residual = np.empty((n, 2))
    own = np.empty((n, 2, kernels.PER_CASTER))
    fitted = np.empty(3)
    velocity = np.empty((n, 2, 3))
    for k in range(len(angles)):
        if not kernels.rate_rows(parameters, angles[k], (wheel[k], steer[k]), factors,
                                 fitted, residual, own, velocity):
            raise ValueError(f'steering[{k}] = {angles[k].tolist()}: all contact points coincide')
        full = np.zeros((n, 2, n, kernels.PER_CASTER))
        full[np.arange(n), :, np.arange(n)] = own
        # complement of the columns of the twist
        basis = np.linalg.qr(velocity.reshape(2 * n, 3), mode='complete')[0][:, 3:]
        out[k] = basis.T @ full.reshape(2 * n, 5 * n)
    return out


def observability(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                  prior: Prior | None = None) -> Observability:
    """
    Return what a motion teaches about the parameters.

    Parameters
    ----------
    robot : CasterRobot
    steering, twist : (k, n) and (k, 3) array_like
        Instants of the motion, as in `rows`.
    prior : Prior, optional
        Units of the directions.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> observability(robot, [[0, 0, 0]], [[0, 0.3, 0]]).rank      # straight, casters trailing
    3
    >>> random = np.random.default_rng(0)
    >>> observability(robot, random.uniform(-3, 3, (50, 3)), random.normal(size=(50, 3))).rank
    11
    """
    deviation = (prior or Prior()).deviations(robot)
    matrix = rows(robot, steering, twist).reshape(-1, len(deviation)) * deviation
    # fewer rows than parameters: zeros complete the directions
    short = max(0, len(deviation) - len(matrix))
    matrix = np.concatenate([matrix, np.zeros((short, len(deviation)))])
    _, singular, directions = np.linalg.svd(matrix, full_matrices=False)
    rank = int(np.sum(singular > SEEN * singular[0])) if singular[0] > 0.0 else 0
    return Observability(rank, singular, directions)
