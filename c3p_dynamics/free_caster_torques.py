# SPDX-License-Identifier: Apache-2.0
"""Torques for an acceleration against the push of casters whose angles are estimated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_dynamics.wheel_dynamics import inverse
from c3p_kinematics.free_casters import FreeCasters

# angles of each caster over which the torques are averaged
POSSIBLE = 16


def expected_torque(casters: FreeCasters, steering: ArrayLike, twist: ArrayLike,
                    steering_rate: ArrayLike, accel: ArrayLike, steering_accel: ArrayLike
                    ) -> Array:
    """
    Return the torques (robot.efforts,) of `inverse`, N·m, expected over the casters' angles.

    The inertia, bore and pivot friction of free casters push the platform where they turn, about
    τ_bore/d each. Forces of a caster add to those of others, so that their mean over the possible
    angles is the expected force: all of it where the angle is known, and nothing of what may point
    either way where it is not.

    Parameters
    ----------
    casters : FreeCasters
        Belief about the angles of free casters.
    steering : (n,) array_like, rad
        Angles of the other wheels; those of free casters do not matter, and may be nan.
    twist, steering_rate, accel, steering_accel
        As of `inverse`, of one motion; the reference rather than a noisy measurement.

    Raises
    ------
    ValueError, ModelError
        As of `inverse`.

    Examples
    --------
    >>> from c3p_description import load
    >>> casters = FreeCasters(load('amr'))
    >>> torque = expected_torque(casters, [0.0] * 6, [0.2, 0.0, 0.0], 0.0, [0.5, 0.0, 0.0], 0.0)
    >>> bool(abs(torque[0] - torque[1]) < 1e-9)  # left and right: nothing is known
    True
    """
    possible = casters.possible(POSSIBLE)
    angles = np.where(casters.free, possible, np.asarray(steering, float))
    torque: Array = inverse(casters.robot, angles, twist, steering_rate, accel, steering_accel
                            ).mean(axis=0)
    return torque
