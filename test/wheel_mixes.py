# SPDX-License-Identifier: Apache-2.0
"""Robots on random mixes of wheels, and motions of them, by their own derivation."""

import numpy as np

from c3p_description.model import CasterRobot, ModelError

# steered without offset, caster, fixed without and with offset
KINDS = ('steered', 'caster', 'fixed', 'fixed behind')


def mixed_robot(seed, most=6):
    """Return a robot of 2 to `most` wheels of any kinds and encoders that measure its motion."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(2, most + 1))
        kind = rng.choice(KINDS, n)
        fixed = np.isin(kind, ('fixed', 'fixed behind'))
        offset = np.where(np.isin(kind, ('steered', 'fixed')), 0.0, rng.uniform(0.02, 0.06, n))
        try:
            return CasterRobot(
                name='mix', hip_position=rng.uniform(-0.5, 0.5, (n, 2)), caster_offset=offset,
                wheel_radius=rng.uniform(0.03, 0.1, n), platform_mass=10.0, platform_inertia=1.0,
                platform_com=(0.0, 0.0), link_mass=0.5, link_com=0.0, link_inertia=1e-3,
                wheel_mass=0.2, wheel_spin_inertia=1e-4, wheel_yaw_inertia=1e-4, fixed=fixed,
                steering_zero=rng.uniform(-3.0, 3.0, n),
                steering_encoder=rng.uniform(size=n) < 0.7,
                wheel_encoder=rng.uniform(size=n) < 0.7,
                slip_angle=np.radians(rng.uniform(0.5, 3.0, n)))
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
    behind = -robot.caster_offset[i] * forward
    velocity = complex(twist[0], twist[1]) + 1j * twist[2] * pivot
    velocity += 1j * (twist[2] + turning) * behind
    local = velocity / forward
    # to the left of the rolling direction is against the axle
    return np.array([local.real, -local.imag])
