# SPDX-License-Identifier: Apache-2.0
"""Dynamics of the vehicle with two driven wheels and a caster, against three derivations."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_agv import CASTERS, RATES, agvs
from scipy.integrate import solve_ivp

from c3p_description import load, robot_description
from c3p_description.model import GRAVITY
from c3p_multibody.agv.bodies import wheel_loads
from c3p_multibody.agv.dynamics import (
    LEVEL,
    bias,
    direct_dynamics,
    friction_torque,
    gravity_along,
    gravity_torque,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    state_rate,
)
from c3p_multibody.agv.kinematics import caster_map, caster_rates, rates_to_twist

AGV = load('agv')


def close(found, wanted, share):
    """As `assert_allclose`, relative to the largest entry."""
    size = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=share * size)


@functools.cache
def lagrange():
    """
    Lagrange's equations of all seven coordinates with multipliers, as functions of numbers.

    Positions of the five bodies in fixed axes; nothing of the code under test is used.
    """
    sp = pytest.importorskip('sympy')
    t = sp.Symbol('t')
    names = 'X Y beta q1 q2 q3 psi'
    q = [sp.Function(name)(t) for name in names.split()]
    x, y, beta, q1, q2, q3, psi = q
    l, r, a, b, d, mp, ip, mw, spin, yaw, ml, cl, il = p = sp.symbols(
        'l r a b d mp ip mw spin yaw ml cl il', positive=True)

    def place(right, ahead):
        return (x + right * sp.cos(beta) - ahead * sp.sin(beta),
                y + right * sp.sin(beta) + ahead * sp.cos(beta))

    def speed2(point):
        return point[0].diff(t)**2 + point[1].diff(t)**2

    def behind(trail):
        # along f₃ from the pivot
        return place(trail * sp.sin(psi), b - trail * sp.cos(psi))

    turn, swing = beta.diff(t), (beta + psi).diff(t)
    centres = [place(-l / 2, -a), place(l / 2, -a), behind(d)]
    energy = mp * speed2((x, y)) + ip * turn**2 + ml * speed2(behind(cl)) + il * swing**2
    rows = []
    for centre, angle, own, yawing in zip(centres, (q1, q2, q3), (0, 0, psi), (0, 0, psi),
                                          strict=True):
        energy += (mw * speed2(centre) + spin * angle.diff(t)**2
                   + yaw * (beta + yawing).diff(t)**2)
        # rolling: the centre moves by −r θ̇ along f, not along e
        e = (sp.cos(beta + own), sp.sin(beta + own))
        v = [c.diff(t) for c in centre]
        rows += [v[0] * e[0] + v[1] * e[1],
                 -v[0] * e[1] + v[1] * e[0] + r * angle.diff(t)]
    energy /= 2
    rates, plain, dots = [c.diff(t) for c in q], sp.symbols(names), sp.symbols('d:7')

    def numbers(expression):
        return expression.xreplace(dict(zip(rates, dots, strict=True))).xreplace(
            dict(zip(q, plain, strict=True)))

    energy, rows = numbers(energy), sp.Matrix([numbers(row) for row in rows])
    momenta = sp.Matrix([energy.diff(v) for v in dots])
    mass, matrix = momenta.jacobian(dots), rows.jacobian(dots)
    speeds = sp.Matrix(dots)
    # d/dt ∂T/∂q̇ without q̈, less ∂T/∂q; and Ḃ q̇
    force = momenta.jacobian(plain) * speeds - sp.Matrix([energy.diff(c) for c in plain])
    drift = (matrix * speeds).jacobian(plain) * speeds
    return sp.lambdify((plain, dots, p), [mass, force, matrix, drift], 'numpy', cse=True)


def of_lagrange(agv, psi, rates):
    """Return I and C θ̇ from the symbolic equations, projected on what the constraints leave."""
    twist, (third, turn) = rates_to_twist(agv, rates), caster_rates(agv, psi, rates)
    numbers = (agv.track, agv.wheel_radius, agv.axle_distance, agv.pivot_distance,
               agv.caster_offset, agv.platform_mass, agv.platform_inertia[2], agv.wheel_mass,
               agv.wheel_spin_inertia, agv.wheel_yaw_inertia, agv.link_mass, agv.link_com,
               agv.link_inertia)
    # β = 0: fixed axes along those of the platform
    mass, force, matrix, drift = (np.array(part, float) for part in lagrange()(
        (0, 0, 0, 0, 0, 0, psi), (*twist, *rates, third, turn), numbers))
    np.testing.assert_allclose(matrix @ [*twist, *rates, third, turn], 0, atol=1e-11)
    # q̇ = S θ̇ from B S = 0 with the driven joints free; q̈ = S θ̈ + particular
    driven, others = [3, 4], [0, 1, 2, 5, 6]
    whole = np.zeros((7, 2))
    whole[driven] = np.eye(2)
    whole[others] = np.linalg.lstsq(matrix[:, others], -matrix[:, driven], rcond=None)[0]
    particular = np.zeros(7)
    particular[others] = np.linalg.lstsq(matrix[:, others], -drift[:, 0], rcond=None)[0]
    return whole.T @ mass @ whole, whole.T @ (mass @ particular + force[:, 0])


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_inertia_and_velocity_forces_equal_lagranges_equations(agv, psi, rates):
    mass, force = of_lagrange(agv, psi, rates)
    close(mass_matrix(agv, psi), mass, 1e-11)
    # rates up to 20 rad/s; forces cancel in part, so relative to centripetal ones
    size = np.abs(mass).max() * np.dot(rates, rates) / min(1.0, agv.caster_offset) + 1e-12
    np.testing.assert_allclose(bias(agv, psi, rates), force, rtol=0, atol=1e-11 * size)


def pinocchio_projected(text, agv, psi, rates):
    """Return I and Cθ̇ from Pinocchio's tree on a planar base, projected on rolling."""
    pin = pytest.importorskip('pinocchio')
    model = pin.buildModelFromXML(text, pin.JointModelPlanar())
    data = model.createData()
    names = ('wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3', 'caster_joint')
    joints = {name: model.joints[model.getJointId(name)] for name in names}
    q = pin.neutral(model)
    q[joints['caster_joint'].idx_q:][:2] = math.cos(psi), math.sin(psi)
    # base_link: x forward, in the middle of the axle
    maps = np.zeros((model.nv, 2))
    speed, yaw = rates_to_twist(agv, np.eye(2))[:, 1], rates_to_twist(agv, np.eye(2))[:, 2]
    maps[0], maps[2] = speed, yaw
    for name, row in zip(names, np.vstack([np.eye(2), caster_map(agv, psi)]), strict=True):
        maps[joints[name].idx_v] = row
    v = maps @ rates
    # the caster's map changes with ψ alone; complex steps would do, central differences suffice
    h = 1e-6
    change = (caster_map(agv, psi + h) - caster_map(agv, psi - h)) / (2 * h)
    turning = np.zeros(model.nv)
    turning[[joints['wheel_joint_3'].idx_v, joints['caster_joint'].idx_v]] = (
        change @ rates * caster_rates(agv, psi, rates)[1])
    force = pin.rnea(model, data, q, v, turning)
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    return maps.T @ mass @ maps, maps.T @ force


def test_equations_equal_pinocchio_on_the_urdf():
    pytest.importorskip('xacro')
    text = robot_description('agv')
    rng = np.random.default_rng(4)
    for _ in range(20):
        psi, rates = rng.uniform(-4, 4), rng.uniform(-20, 20, 2)
        mass, force = pinocchio_projected(text, AGV, psi, rates)
        close(mass_matrix(AGV, psi), mass, 1e-12)
        # differences with a step of 1e-6 leave about 1e-10
        close(bias(AGV, psi, rates), force, 1e-8)


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES, rise=RATES)
def test_power_of_motors_and_friction_is_the_rate_of_the_energy(agv, psi, rates, rise):
    torque = inverse_dynamics(agv, psi, rates, rise)
    power = np.dot(torque, rates) + np.dot(friction_torque(agv, psi, rates), rates)
    h = 1e-6
    turn = caster_rates(agv, psi, rates)[1]
    # as short a step as turns the caster by h at most
    h /= 1 + abs(turn)
    after, before = (kinetic_energy(agv, psi + sign * h * turn, np.add(rates, sign * h *
                                                                       np.array(rise)))
                     for sign in (1, -1))
    # rounding of the energies over the step
    scale = 1e-15 * max(float(after), 1e-3) / h + 1e-8 * (abs(power) + 1)
    assert abs((after - before) / (2 * h) - power) < 20 * scale


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_friction_loses_what_four_dampers_lose(agv, psi, rates):
    all_rates = np.array([*rates, *caster_rates(agv, psi, rates)])
    lost = float(np.sum(agv.viscous * all_rates**2))
    assert np.dot(friction_torque(agv, psi, rates), rates) == pytest.approx(-lost, rel=1e-10,
                                                                            abs=1e-12)


@given(agv=agvs(), psi=CASTERS, rates=RATES, rise=RATES)
def test_direct_dynamics_inverts_inverse_dynamics(agv, psi, rates, rise):
    torque = inverse_dynamics(agv, psi, rates, rise)
    mass = mass_matrix(agv, psi)
    assert np.linalg.eigvalsh(mass).min() > 0
    # I is as bad as 1e3; the torques may be far larger than what is left of them
    room = 1e-12 * np.abs(torque).max() / np.linalg.eigvalsh(mass).min() + 1e-11
    np.testing.assert_allclose(direct_dynamics(agv, psi, rates, torque), rise, rtol=0, atol=room)
    state = np.array([0.0, 0.0, *rates, psi])
    found = state_rate(agv, state, torque)
    np.testing.assert_allclose(found[:2], rates)
    np.testing.assert_allclose(found[2:4], rise, rtol=0, atol=room)
    assert found[4] == pytest.approx(caster_rates(agv, psi, rates)[1], rel=1e-10, abs=1e-10)


def test_batches_equal_single_states_and_bad_vectors_are_named():
    psi, rates = np.linspace(-3, 3, 6).reshape(2, 3), np.random.default_rng(0).normal(size=(3, 2))
    whole = inverse_dynamics(AGV, psi, rates, [0.1, -0.2])
    assert whole.shape == (2, 3, 2)
    np.testing.assert_array_equal(whole[1, 2], inverse_dynamics(AGV, psi[1, 2], rates[2],
                                                                [0.1, -0.2]))
    with pytest.raises(ValueError, match=r'rates has shape \(3,\)'):
        bias(AGV, 0.0, [1, 2, 3])
    with pytest.raises(ValueError, match='torque.*finite'):
        direct_dynamics(AGV, 0.0, [1, 2], [np.inf, 0])


# on a plane with gravity (gx, gy) along it: angles of the plane and of the heading
PLANES = st.tuples(st.floats(0.0, 0.5), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))


@settings(max_examples=40)
@given(agv=agvs(), psi=CASTERS, rates=RATES, plane=PLANES)
def test_weight_has_the_power_of_all_bodies_going_downhill(agv, psi, rates, plane):
    slope, uphill, heading = plane
    pull = gravity_along(slope, uphill, heading)
    assert np.linalg.norm(pull) == pytest.approx(GRAVITY)
    # height of the common centre of mass, by differences of positions along the motion
    twist = rates_to_twist(agv, rates)
    steer = caster_rates(agv, psi, rates)[1]
    h = 1e-6

    def rise(t):
        """Σ m z after the time t, from the definition of each body's place."""
        yaw = heading + twist[2] * t
        right, ahead = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
        middle = np.array([np.cos(heading), np.sin(heading)]) * twist[0] * t
        middle = middle + np.array([-np.sin(heading), np.cos(heading)]) * twist[1] * t
        behind = np.sin(psi + steer * t) * right - np.cos(psi + steer * t) * ahead
        up = np.sin(slope) * np.array([np.cos(uphill), np.sin(uphill)])
        return sum(mass * up @ (middle + base[0] * right + (base[1] - agv.axle_distance) * ahead
                                + trail * behind) for mass, base, trail in parts(agv))

    power = -GRAVITY * (rise(h) - rise(-h)) / (2 * h)
    found = gravity_torque(agv, psi, pull) @ np.asarray(rates)
    scale = agv.total_mass * GRAVITY * (np.abs(twist).max() + 1.0)
    assert found == pytest.approx(power, abs=1e-8 * scale)


def test_a_vehicle_on_a_slope_keeps_its_energy():
    # rolls freely down and around for 3 s, scipy's integrator; X and Y beside the state
    agv, slope, uphill = replace(AGV, viscous=0.0), 0.15, 0.7

    def pull(state):
        return gravity_along(slope, uphill, state[7])

    def rate(_, state):
        rates, psi, yaw = state[2:4], state[4], state[7]
        twist = rates_to_twist(agv, rates)
        c, s = np.cos(yaw), np.sin(yaw)
        return np.concatenate([rates, direct_dynamics(agv, psi, rates, [0, 0], pull(state)),
                               [caster_rates(agv, psi, rates)[1]],
                               [c * twist[0] - s * twist[1], s * twist[0] + c * twist[1]],
                               [twist[2]]])

    def energy(state):
        yaw, psi = state[7], state[4]
        right, ahead = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
        behind = np.sin(psi) * right - np.cos(psi) * ahead
        up = np.sin(slope) * np.array([np.cos(uphill), np.sin(uphill)])
        height = sum(mass * up @ (state[5:7] + base[0] * right + trail * behind
                                  + (base[1] - agv.axle_distance) * ahead)
                     for mass, base, trail in parts(agv))
        return kinetic_energy(agv, psi, state[2:4]) + GRAVITY * height

    start = np.array([0.0, 0.0, -2.0, 1.0, 0.3, 0.0, 0.0, 0.4])
    run = solve_ivp(rate, (0.0, 3.0), start, rtol=1e-10, atol=1e-10)
    energies = [energy(state) for state in run.y.T]
    # the integrator's tolerance over thousands of steps
    assert np.ptp([kinetic_energy(agv, s[4], s[2:4]) for s in run.y.T]) > 0.1
    assert np.ptp(energies) < 1e-7


@pytest.mark.parametrize(('torque', 'gravity'), [([0.0, 0.0, 0.0], LEVEL), ([0.0, 0.0], [0, 0])])
def test_vectors_of_the_wrong_size_are_named(torque, gravity):
    with pytest.raises(ValueError, match='torque|gravity'):
        direct_dynamics(AGV, 0.0, [0.0, 0.0], torque, gravity)


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES, torque=RATES, plane=PLANES)
def test_wheel_loads_and_weight_move_the_whole_vehicle(agv, psi, rates, torque, plane):
    pull = gravity_along(*plane)
    loads = wheel_loads(agv, psi, rates, torque, pull).forces
    # nothing but the ground holds the vehicle up and pushes it
    assert loads[:, 2].sum() == pytest.approx(-agv.total_mass * pull[2], rel=1e-9)
    rise = direct_dynamics(agv, psi, rates, torque, pull)
    terms = np.array([mass * np.array(acceleration_terms(agv, psi, rates, rise, base, trail))
                      for mass, base, trail in parts(agv)])
    # differences of the caster's map leave 1e-10 of its terms
    np.testing.assert_allclose(loads[:, :2].sum(axis=0) + agv.total_mass * pull[:2],
                               terms.sum(axis=(0, 1)), rtol=0,
                               atol=1e-8 * (np.abs(loads).max() + np.abs(terms).max()))


def parts(agv):
    """Mass, place from the middle of the axle, and how far behind it along f₃, of each body."""
    pivot = np.array([0.0, agv.pivot_lever])
    return [(agv.wheel_mass, np.array([-agv.track / 2, 0.0]), 0.0),
            (agv.wheel_mass, np.array([agv.track / 2, 0.0]), 0.0),
            (agv.wheel_mass, pivot, agv.caster_offset), (agv.link_mass, pivot, agv.link_com),
            (agv.platform_mass, np.array([0.0, agv.axle_distance]), 0.0)]


def cross(yaw, place):
    return yaw * np.array([-place[1], place[0]])


def acceleration_terms(agv, psi, rates, rise, base, trail):
    """Inertial acceleration of a body: of the axle, own, Coriolis, Euler, centripetal."""
    (_, speed, yaw), (_, dv, dw) = (rates_to_twist(agv, x) for x in (rates, rise))
    e, f = np.array([math.cos(psi), math.sin(psi)]), np.array([-math.sin(psi), math.cos(psi)])
    turn, h = caster_rates(agv, psi, rates)[1], 1e-5
    change = (caster_map(agv, psi + h) - caster_map(agv, psi - h))[1] / (2 * h)
    turn_rate = change @ rates * turn + caster_map(agv, psi)[1] @ rise
    place, own = base - trail * f, trail * turn * e
    return (np.array([-yaw * speed, dv]), trail * (turn_rate * e + turn**2 * f),
            2 * cross(yaw, own), cross(dw, place), -yaw**2 * place)
