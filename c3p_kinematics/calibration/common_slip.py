# SPDX-License-Identifier: Apache-2.0
"""
Slip that all wheels have in common, in a calibration.

Wheels that all turn further than they roll, by the same fraction, leave no residuals: they are
smaller wheels. Radii then contradict offsets and hips, whose ratios to them the joints observe.
The fraction ε enters the windows as the factor 1 + ε of all radii. It is an unknown of the fit
only where the drives show it: otherwise the ratio of radii to hips, which scales the yaw, would be
that of the description.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.calibration.parameters import FAR

# standard deviations by which radii contradict offsets and hips until slip of all wheels, the
# likelier cause, is an unknown
CONTRADICTS = 2.5

# noise factor from which wheels slip; all of them then have in common as much as a window differs
# from the others: this many times its deviation per path
SLIPS = 2.0
IN_COMMON = 2.0

# standard deviation of it that nothing shows where the prior of radii is wider: radii then follow
# from offsets and hips, and slip from nothing
UNSEEN = 0.03


def common_slip(information: Array, unknown: Array, radii: Array, noise: float, creep: float
                ) -> float:
    """
    Return the standard deviation of the slip that all wheels may have in common, 0 for none.

    With the information D of the data, H = D + 1 with the prior, and the direction g of the radii,
    the slip that is left at a minimum x without it is gᵀx / c with the variance 1 / c, c = gᵀ(D −
    D H⁻¹ D) g.

    Parameters
    ----------
    information : (k, k) array
        H at this minimum, in units of the prior.
    unknown : (k,) array
        x.
    radii : (m,) array
        First components of g: radii in standard deviations of their prior, 0 for others.
    noise, creep : float
        Factor s, and deviation of the path of a contact per its length.

    Examples
    --------
    >>> ratio = 1e4 * np.array([[1.0, -1.0], [-1.0, 1.0]])  # of a radius and a hip, to 1 %
    >>> apart = np.array([-4.0, 4.0])
    >>> [round(common_slip(ratio + np.eye(2), size * apart, np.array([100.0, 0.0]), 1.0, 0.002), 3)
    ...  for size in (1.0, 0.2)]
    [0.08, 0.0]
    """
    data = information - np.eye(len(information))
    direction = np.zeros(len(information))
    direction[:len(radii)] = radii
    pull = data @ direction
    curvature = direction @ pull - pull @ np.linalg.solve(information, pull)
    # at a minimum the data pull against x
    strength = abs(float(direction @ unknown))
    shown = strength / float(curvature) if strength**2 > CONTRADICTS**2 * curvature > 0.0 else 0.0
    # a single wheel that no lengths explain is not to be explained by slip of all
    if np.abs(unknown).max() > FAR:
        return 0.0
    return max(shown, IN_COMMON * creep * noise if noise > SLIPS else 0.0)


def unseen_slip(information: Array, radii: Array) -> Array:
    """
    Return the covariance (k, k), in units of the prior, of slip of all wheels by `UNSEEN`.

    The estimate does not contain it, and moves with it by ∂x/∂ε = −H⁻¹ D g (Schmidt's filter).

    Parameters
    ----------
    information, radii
        As of `common_slip`.

    Examples
    --------
    >>> wide = np.diag([1e6, 1.0])  # a radius that the data know, with a prior of 10 %
    >>> unseen_slip(wide, np.array([10.0])).round(3).tolist()
    [[0.09, 0.0], [0.0, 0.0]]
    """
    data = information - np.eye(len(information))
    moved = UNSEEN * np.linalg.solve(information, data[:, :len(radii)] @ radii)
    return np.outer(moved, moved)
