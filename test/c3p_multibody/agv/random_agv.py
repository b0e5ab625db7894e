# SPDX-License-Identifier: Apache-2.0
"""Vehicles with two driven wheels and one caster, all numbers different, for many tests."""

from hypothesis import strategies as st

from c3p_description.agv_model import Agv


def between(low, high):
    return st.floats(low, high, allow_nan=False)


@st.composite
def agvs(draw, friction=True):
    """Any vehicle that can be, with the fork's mass off the pivot."""
    across = draw(between(5e-4, 1e-2))
    first, second = draw(between(0.1, 2.0)), draw(between(0.1, 2.0))
    return Agv(
        'drawn', track=draw(between(0.2, 1.0)), wheel_radius=draw(between(0.03, 0.2)),
        axle_distance=draw(between(0.0, 0.3)), pivot_distance=draw(between(0.1, 0.4)),
        caster_offset=draw(between(0.01, 0.08)), platform_mass=draw(between(5.0, 50.0)),
        platform_inertia=(first, second, first + second), wheel_mass=draw(between(0.3, 4.0)),
        wheel_spin_inertia=draw(between(0.5, 2.0)) * across, wheel_yaw_inertia=across,
        link_mass=draw(between(0.0, 3.0)), link_com=draw(between(-0.05, 0.1)),
        link_inertia=draw(between(0.0, 0.05)),
        viscous=[draw(between(0.0, 0.5)) for _ in range(4)] if friction else 0.0)


# a caster angle, and rates of the driven wheels that are brisk
CASTERS = between(-4.0, 4.0)
RATES = st.tuples(between(-20.0, 20.0), between(-20.0, 20.0))
