# SPDX-License-Identifier: Apache-2.0
"""Kinematics of the vehicle with two driven wheels and a caster: rigid bodies, rates, circles."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from c3p_description import load
from c3p_multibody.agv.circle import (
    Circle,
    caster_on_circle,
    floor_path,
    joint_path,
    steady_caster,
)
from c3p_multibody.agv.kinematics import (
    acceleration_to_accelerations,
    caster_jacobians,
    caster_map,
    caster_rates,
    consistent_twist,
    least_squares_rates,
    platform_map,
    pose_rate,
    rates_to_acceleration,
    rates_to_twist,
    twist_to_rates,
)

AGV = load('agv')
RATES = st.tuples(st.floats(-20, 20), st.floats(-20, 20))
ANGLES = st.floats(-10, 10)
# a dozen operations on numbers up to 1e3
ROUNDING = 1e-12


def point_velocity(twist, point):
    """Velocity of a point of the platform, from C: v + ω k × p."""
    return np.array([twist[0] - twist[2] * point[1], twist[1] + twist[2] * point[0]])


@given(rates=RATES)
def test_contacts_of_the_driven_wheels_stand_still(rates):
    twist = rates_to_twist(AGV, rates)
    for side, rate in zip((-0.5, 0.5), rates, strict=True):
        centre = point_velocity(twist, (side * AGV.track, -AGV.axle_distance))
        # the wheel's own motion at the contact: θ̇ i × (−r k) = θ̇ r j
        np.testing.assert_allclose(centre + [0, rate * AGV.wheel_radius], 0, atol=ROUNDING)


@given(rates=RATES, psi=ANGLES)
def test_contact_of_the_caster_stands_still(rates, psi):
    twist, (spin, turn) = rates_to_twist(AGV, rates), caster_rates(AGV, psi, rates)
    e, f = np.array([math.cos(psi), math.sin(psi)]), np.array([-math.sin(psi), math.cos(psi)])
    # O₃ = A₃ − d f₃ turns about A₃ with ω + ψ̇, and k × (−f) = e
    centre = (point_velocity(twist, (0, AGV.pivot_distance))
              + (twist[2] + turn) * AGV.caster_offset * e)
    np.testing.assert_allclose(centre + spin * AGV.wheel_radius * f, 0, atol=ROUNDING)


@given(rates=RATES, psi=ANGLES)
def test_closure_of_the_paper_gives_the_rates_of_the_caster(rates, psi):
    active, passive = caster_jacobians(AGV, psi)
    found = caster_rates(AGV, psi, rates)
    np.testing.assert_allclose(active @ rates + passive @ found, 0, atol=ROUNDING)
    np.testing.assert_allclose(caster_map(AGV, psi) @ rates, found, rtol=0, atol=1e-10)
    assert np.linalg.det(passive) == pytest.approx(-AGV.wheel_radius * AGV.caster_offset)


@given(rates=RATES)
def test_rates_and_consistent_twists_are_inverse(rates):
    twist = rates_to_twist(AGV, rates)
    np.testing.assert_allclose(twist, consistent_twist(AGV, twist[1], twist[2]), atol=ROUNDING)
    np.testing.assert_allclose(twist_to_rates(AGV, twist), rates, atol=1e-11)


def test_a_twist_that_slips_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match='slip sideways, with 0.0505.*consistent_twist'):
        twist_to_rates(AGV, [0.0, 0.5, 0.5])
    with pytest.raises(ValueError, match='last dimension must be 3'):
        twist_to_rates(AGV, [0.0, 0.5])
    with pytest.raises(ValueError, match='every number must be finite'):
        rates_to_twist(AGV, [0.0, np.nan])


@given(rates=RATES, unit=st.sampled_from([1e-3, 0.01, 0.0254, 1.0, 1000.0]))
def test_least_squares_of_a_consistent_twist_is_exact_in_any_unit(rates, unit):
    twist = rates_to_twist(AGV, rates)
    # the generalized inverse is as good as the map's condition, up to 1e4 here
    np.testing.assert_allclose(least_squares_rates(AGV, twist, unit), rates, atol=1e-8)


@given(slip=st.floats(-1, 1), speed=st.floats(-1, 1), yaw=st.floats(-1, 1),
       unit=st.sampled_from([1e-3, 0.1, 1.0]))
def test_least_squares_adds_radians_to_metres(slip, speed, yaw, unit):
    twist = [slip - AGV.axle_distance * yaw, speed, yaw]
    # minimum over ω̂ of (ω̂ − ω)² + (ẋ + a ω̂)²/u², by hand
    a = AGV.axle_distance
    fitted = (yaw - a * twist[0] / unit**2) / (1 + a**2 / unit**2)
    found = rates_to_twist(AGV, least_squares_rates(AGV, twist, unit))
    np.testing.assert_allclose(found, consistent_twist(AGV, speed, fitted), atol=1e-10)


def test_least_squares_in_millimetres_hardly_turns():
    # C instead of the axle on the tangent of a circle
    twist = [0.0, 0.5, 0.5]
    metres, millimetres = (rates_to_twist(AGV, least_squares_rates(AGV, twist, unit))[2]
                           for unit in (1.0, 1e-3))
    assert metres == pytest.approx(0.5 / (1 + 0.101**2))
    assert millimetres == pytest.approx(0.5 / (1 + 101**2), rel=1e-6)


@given(rates=RATES, accelerations=RATES, heading=ANGLES)
def test_acceleration_is_the_derivative_of_the_velocity_in_fixed_axes(rates, accelerations,
                                                                      heading):
    h, yaw = 1e-5, rates_to_twist(AGV, rates)[2]

    def velocity(time):
        return pose_rate(AGV, heading + yaw * time, np.add(rates, time * np.array(accelerations)))

    found = (velocity(h) - velocity(-h)) / (2 * h)
    wanted = rates_to_acceleration(AGV, rates, accelerations)
    c, s = math.cos(heading), math.sin(heading)
    turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ wanted
    # h² and ε/h, for accelerations up to 500 m/s² that turn with up to 5 rad/s
    np.testing.assert_allclose(found, turned, rtol=0, atol=1e-5)
    np.testing.assert_allclose(acceleration_to_accelerations(AGV, rates, wanted), accelerations,
                               atol=1e-9)


def test_accelerations_equal_the_printed_rate_of_the_map():
    l, r, a = AGV.track, AGV.wheel_radius, AGV.axle_distance
    rates = np.array([-3.0, 5.0])
    # eq. (7b), with rows ẋ, ẏ, ω
    printed = r**2 / l**2 * (rates[0] - rates[1]) * np.array([[l/2, l/2], [-a, a], [0, 0]])
    np.testing.assert_allclose(rates_to_acceleration(AGV, rates, [0, 0]), printed @ rates,
                               atol=ROUNDING)
    # eq. (7d) with an inverse is not possible: T′ has three rows
    assert platform_map(AGV).shape == (3, 2)


def test_sweep_has_the_printed_coefficients_and_rests_at_both_ends():
    circle = Circle()
    printed = [0, 0, 0, 20 * math.pi / 60**3, -30 * math.pi / 60**4, 12 * math.pi / 60**5]
    np.testing.assert_allclose(circle.coefficients, printed, rtol=1e-14)
    time = np.linspace(0, 60, 13)
    polynomial = np.polynomial.Polynomial(printed)
    for found, wanted in zip(circle.sweep(time), (polynomial, polynomial.deriv(),
                                                  polynomial.deriv(2)), strict=True):
        np.testing.assert_allclose(found, wanted(time), atol=ROUNDING)
    for ends in circle.sweep(np.array([-1.0, 0.0, 60.0, 61.0]))[1:]:
        assert not ends.any()


# radius and start of every kind: forward, backward, narrow, from beyond the unstable angle
@pytest.mark.parametrize('radius', [1.0, -1.0, 0.3, -0.05])
@pytest.mark.parametrize('start', [0.0, 2.5, 3.3, -2.0, -3.3, 7.0])
def test_caster_in_closed_form_follows_its_differential_equation(radius, start):
    def rate(_, psi):
        return (AGV.pivot_lever * np.cos(psi) - radius * np.sin(psi)) / AGV.caster_offset - 1

    angle = np.linspace(0, 0.6, 31)
    wanted = solve_ivp(rate, (0, 0.6), [start], 'DOP853', angle, rtol=1e-12, atol=1e-12).y[0]
    # what the integrator may leave
    np.testing.assert_allclose(caster_on_circle(AGV, radius, angle, start), wanted, atol=1e-9)


@given(radius=st.floats(-3, 3), start=st.floats(-20, 20))
def test_caster_tends_to_the_steady_turn_from_anywhere(radius, start):
    steady = steady_caster(AGV, radius)
    # at the other root of c cos ψ − R sin ψ = d it would stay
    other = 2 * math.atan2(AGV.pivot_lever, radius) + math.pi - steady
    assume(abs(math.remainder(start - other, 2 * math.pi)) > 1e-3)
    end = float(caster_on_circle(AGV, radius, 50.0, start))
    assert abs(math.remainder(end - steady, 2 * math.pi)) < 1e-9
    twist = consistent_twist(AGV, radius, 1.0)
    assert abs(caster_rates(AGV, steady, twist_to_rates(AGV, twist))[1]) < 1e-9


def test_caster_flips_when_the_vehicle_drives_backward():
    ends = [float(caster_on_circle(AGV, radius, 10.0, 0.1)) for radius in (2.0, -2.0)]
    assert abs(ends[0]) < 0.2 and abs(abs(ends[1]) - math.pi) < 0.2


def test_a_circle_too_narrow_for_the_caster_is_refused():
    narrow = load('agv')
    object.__setattr__(narrow, 'caster_offset', 0.4)
    with pytest.raises(ValueError, match='wider than caster_offset'):
        steady_caster(narrow, 0.1)


@pytest.mark.parametrize('radius', [1.0, -0.7])
def test_joints_on_the_circle_drive_along_the_circle(radius):
    circle = Circle(radius, 10.0, 2.0, caster_start=0.4)
    time = np.linspace(0, 10, 41)
    path = joint_path(AGV, circle, time)

    def right(t, state):
        at = joint_path(AGV, circle, t)
        return [*pose_rate(AGV, state[2], at.rates), *at.rates,
                caster_rates(AGV, state[5], at.rates)[1]]

    start = [*floor_path(AGV, circle, 0.0)[1], 0.0, 0.0, 0.0, 0.4]
    run = solve_ivp(right, (0, 10), start, 'DOP853', time, rtol=1e-11, atol=1e-12).y
    sweep = circle.sweep(time)
    np.testing.assert_allclose(run[:2].T, floor_path(AGV, circle, sweep.angle)[1], atol=1e-9)
    np.testing.assert_allclose(run[2], sweep.angle, atol=1e-9)
    np.testing.assert_allclose(run[3:5].T, path.angles, atol=1e-8)
    np.testing.assert_allclose(run[5], path.caster, atol=1e-9)


def test_circle_refuses_what_no_drive_is():
    for wrong in ({'duration': 0.0}, {'radius': math.inf}, {'caster_start': math.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Circle(**wrong)
