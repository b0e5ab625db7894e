# SPDX-License-Identifier: Apache-2.0
"""Robots on random mixes of wheels, and motions of them, by their own derivation."""

import numpy as np

from c3p_description.model import CasterRobot, ModelError

# steered without offset, caster, fixed without and with offset, beside the pivot, two on a pivot
KINDS = ('steered', 'caster', 'fixed', 'fixed behind', 'beside', 'caster beside', 'twin',
         'twin caster')
# that stand at their pivot, or do not steer, or beside it
BELOW = ('steered', 'fixed', 'beside', 'twin')
FIXED = ('fixed', 'fixed behind')
BESIDE = ('beside', 'caster beside', 'twin', 'twin caster')


def mixed_robot(seed, most=6):
    """Return a robot of 2 to `most` pivots, with wheels and encoders that measure its motion."""
    rng = np.random.default_rng(seed)
    while True:
        kind = rng.choice(KINDS, int(rng.integers(2, most + 1)))
        # the second of two wheels on a pivot has all of the first but radius and side
        second = np.concatenate([[False, True] if name.startswith('twin') else [False]
                                 for name in kind])
        kind = np.repeat(kind, [2 if name.startswith('twin') else 1 for name in kind])
        n = len(kind)
        first = np.arange(n) - second
        lateral = np.where(np.isin(kind, BESIDE), rng.uniform(-0.06, 0.06, n)[first], 0.0)
        try:
            return CasterRobot(
                name='mix', hip_position=rng.uniform(-0.5, 0.5, (n, 2))[first],
                caster_offset=np.where(np.isin(kind, BELOW), 0.0,
                                       rng.uniform(0.02, 0.06, n)[first]),
                wheel_radius=rng.uniform(0.03, 0.1, n), platform_mass=10.0, platform_inertia=1.0,
                platform_com=(0.0, 0.0), link_mass=0.5, link_com=0.0, link_inertia=1e-3,
                wheel_mass=0.2, wheel_spin_inertia=1e-4, wheel_yaw_inertia=1e-4,
                fixed=np.isin(kind, FIXED), steering_zero=rng.uniform(-3.0, 3.0, n)[first],
                steering_encoder=(rng.uniform(size=n) < 0.7)[first],
                wheel_encoder=rng.uniform(size=n) < 0.7,
                slip_angle=np.radians(rng.uniform(0.5, 3.0, n))[first],
                lateral_offset=np.where(second, -lateral, lateral))
        except ModelError:
            # this mix does not measure the motion
            continue


def contact(robot, i, angle, twist, turning):
    """
    Return the velocity of the contact of wheel `i` that turns with `turning` [rad/s], (2,) m/s.

    The pivot's velocity, and that of the contact about the pivot: complex numbers, no rows.
    """
    pivot = complex(*robot.hip_position[i])
    forward = 1j * np.exp(1j * angle)
    # the axle is to the right of the rolling direction
    behind = -robot.caster_offset[i] * forward - 1j * robot.lateral_offset[i] * forward
    velocity = complex(twist[0], twist[1]) + 1j * twist[2] * pivot
    velocity += 1j * (twist[2] + turning) * behind
    local = velocity / forward
    # to the left of the rolling direction is against the axle
    return np.array([local.real, -local.imag])
