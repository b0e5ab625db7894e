# SPDX-License-Identifier: Apache-2.0
"""Constrained motion over time: closed solutions, conserved quantities, drift and account."""

import math

import numpy as np
import pytest
from mechanisms import closed, four_bar, free_body
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from c3p_multibody.constraints import (
    ConstrainedMotion,
    ConstraintError,
    Distance,
    KnifeEdge,
    MotionSettings,
    Point,
    RollingWheel,
    Weld,
    evaluate,
)
from c3p_multibody.trees import Body, Joint, Tree, momentum

START = 0.5


def crank_energy(crank):
    """Return inertia seen by the crank and potential energy of the four-bar, by its geometry."""
    h = 1e-6
    rates = (closed(crank + h) - closed(crank - h)) / (2 * h)
    q = closed(crank)
    tip = 0.3 * np.array([math.cos(crank), math.sin(crank)])
    turn = q[0] + q[1]
    centre = tip + 0.45 * np.array([math.cos(turn), math.sin(turn)])
    speed = (0.3 * np.array([-math.sin(crank), math.cos(crank)])
             + 0.45 * (1 + rates[1]) * np.array([-math.sin(turn), math.cos(turn)]))
    inertia = (1.0 * 0.3**2 / 3 + 2.0 * speed @ speed + 2.0 * 0.9**2 / 12 * (1 + rates[1])**2
               + 1.5 * 0.6**2 / 3 * rates[2]**2)
    height = 1.0 * 0.15 * math.sin(crank) + 2.0 * centre[1] + 1.5 * 0.3 * math.sin(q[2])
    return inertia, 9.81 * height


def test_four_bar_moves_as_its_energy_says_without_drift():
    tree, cut = four_bar()
    motion = ConstrainedMotion(tree, closed(START), np.zeros(3), [cut])
    motion.advance(10.0)
    record = motion.record
    assert np.max(np.abs(record.energy_error)) < 1e-8
    ends = [evaluate(tree, [cut], q, qd) for q, qd in zip(record.q[::100], record.qd[::100],
                                                          strict=True)]
    assert max(np.max(np.abs(rows.error)) for rows in ends) < 1e-12
    # the angles are those of the closed linkage, and the crank's speed follows from the energy
    for k in (500, 3000, 9999):
        q = record.q[k]
        other = closed(q[0])
        np.testing.assert_allclose(np.cos(q), np.cos(other), atol=1e-11)
        inertia, height = crank_energy(q[0])
        speed = math.sqrt(max(0.0, 2 * (crank_energy(START)[1] - height) / inertia))
        # numerical slopes of the geometry are right to 1e-9
        assert abs(record.qd[k, 0]) == pytest.approx(speed, abs=1e-6)


def test_the_time_of_a_swing_is_that_of_the_energy_integral():
    tree, cut = four_bar()
    motion = ConstrainedMotion(tree, closed(START), np.zeros(3), [cut])
    motion.advance(0.3)
    begin = crank_energy(START)[1]

    def slowness(u):
        # crank = START + s u² takes the root at the begin away
        crank = START + (motion.q[0] - START) * u * u
        inertia, height = crank_energy(crank)
        return 2 * u * abs(motion.q[0] - START) / math.sqrt(2 * (begin - height) / inertia)

    assert quad(slowness, 0, 1, epsabs=1e-9)[0] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize(('stabilisation', 'drift'), [('projection', 1e-15), ('baumgarte', 1e-8),
                                                      ('none', 1e-6)])
def test_what_the_stabilisations_leave_of_a_coarse_four_bar(stabilisation, drift):
    tree, cut = four_bar()
    motion = ConstrainedMotion(tree, closed(START), np.zeros(3), [cut],
                               settings=MotionSettings(2e-3, stabilisation=stabilisation))
    motion.advance(4.0)
    assert motion.error() < drift
    # each next one leaves at least ten times more
    assert motion.error() > drift / 1e4 or stabilisation == 'projection'


def test_a_rod_on_a_free_mass_is_a_pendulum():
    tree = free_body(1.3, kind='planar', gravity=(0, -9.81, 0))
    rod = Distance(body='body', length=2.0, name='string')
    motion = ConstrainedMotion(tree, [2.0, 0, 0], [0, 0, 0.7], [rod])
    motion.advance(1.0)
    angle = solve_ivp(lambda t, y: [y[1], -9.81 / 2 * math.cos(y[0])], (0, 1), [0, 0],
                      rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(motion.q[:2], 2 * np.array([np.cos(angle[0]), np.sin(angle[0])]),
                               atol=1e-9)
    # nothing turns the mass, and the tension is m (g·r̂ + l θ̇²)
    assert motion.qd[2] == pytest.approx(0.7, rel=1e-14)
    tension = 1.3 * (9.81 * -np.sin(angle[0]) + 2 * angle[1]**2)
    assert motion.record.multiplier('string, along')[-1] == pytest.approx(-tension, rel=1e-8)


def test_a_knife_edge_on_a_slope_writes_a_cycloid():
    # turning with ω: x = (g'/(2ω²)) sin²(ωt), y = (g'/(2ω²)) (ωt − ½ sin 2ωt), downhill along x
    slope, omega = 2.0, 1.5
    tree = free_body(1.0, kind='planar', gravity=(slope, 0, 0))
    motion = ConstrainedMotion(tree, np.zeros(3), [0, 0, omega], [KnifeEdge(body='body')])
    motion.advance(3.0)
    record = motion.record
    turn, size = omega * record.time, slope / (2 * omega**2)
    np.testing.assert_allclose(record.q[:, 0], size * np.sin(turn)**2, atol=1e-11)
    np.testing.assert_allclose(record.q[:, 1], size * (turn - 0.5 * np.sin(2 * turn)), atol=1e-11)


def disc(radius, mass):
    """Return a thin disc whose axle is y of its own, free in the world."""
    tree = free_body(mass, (mass * radius**2 / 4, mass * radius**2 / 2, mass * radius**2 / 4))
    return tree, RollingWheel(body='body', radius=radius, axle=(0, 1, 0))


def test_a_disc_rolls_steadily_on_a_circle_at_its_lean():
    radius, mass, lean, spin = 0.3, 2.0, 0.25, 9.0
    tree, wheel = disc(radius, mass)
    # ω = Ω ẑ + s u with the axle u at the height sin λ. Moments about the centre, with the spin
    # w = s + Ω sin λ about the axle and the centre's speed r w:
    # (I_a + m r²) w Ω cos λ − I_t Ω² sin λ cos λ = −m g r sin λ
    transverse, axial = mass * radius**2 / 4, mass * radius**2 / 2

    def balance(omega):
        return ((axial + mass * radius**2) * (spin + omega * math.sin(lean)) * omega
                * math.cos(lean) - transverse * omega**2 * math.sin(lean) * math.cos(lean)
                + mass * 9.81 * radius * math.sin(lean))

    omega = brentq(balance, -4.0, 0.0, xtol=1e-15)
    q = np.array([0, 0, radius * math.cos(lean), 0, 0, lean])
    motion = ConstrainedMotion(tree, q, start_rates(lean, omega, spin, radius), [wheel])
    motion.advance(1.0)
    record = motion.record
    axle = np.array([leaning(q) for q in record.q])
    np.testing.assert_allclose(axle, math.sin(lean), atol=1e-7)
    np.testing.assert_allclose(record.q[:, 2], radius * math.cos(lean), atol=1e-7)
    # the centre runs on a circle
    path = record.q[:, :2]
    a, b, c = path[0], path[len(path) // 3], path[2 * len(path) // 3]
    middle = np.linalg.solve(2 * np.array([b - a, c - a]), [b @ b - a @ a, c @ c - a @ a])
    np.testing.assert_allclose(np.linalg.norm(path - middle, axis=1),
                               np.linalg.norm(a - middle), atol=1e-7)
    assert np.max(np.abs(record.energy_error)) < 1e-6


def leaning(q):
    """Return the height of the axle's tip, sin of the lean, of a yaw-pitch-roll chain."""
    return math.cos(q[4]) * math.sin(q[5])


def start_rates(lean, precession, spin, radius):
    """Return q̇ of a disc at yaw 0, pitch 0 and this roll: ω = Ω ẑ + s u, rolling."""
    axle = np.array([0, math.cos(lean), math.sin(lean)])
    turn = np.array([0, 0, precession]) + spin * axle
    # the lowest point of the wheel, from its centre
    down = radius * np.array([0, math.sin(lean), -math.cos(lean)])
    velocity = -np.cross(turn, down)
    # ω = ẑ ψ̇ + ŷ θ̇ + x̂ φ̇ at yaw = pitch = 0
    return np.array([*velocity, turn[2], turn[1], turn[0]])


def test_friction_of_the_joints_is_booked():
    tree, cut = four_bar()
    motion = ConstrainedMotion(tree, closed(START), np.zeros(3), [cut], damping=0.1)
    motion.advance(2.0)
    assert motion.record.friction[-1] > 0.1
    assert np.max(np.abs(motion.record.energy_error)) < 1e-8


def test_a_rod_that_is_drawn_in_speeds_a_mass_up_and_its_work_is_booked():
    tree = free_body(2.0, kind='planar', gravity=(0, 0, 0))
    rod = Distance(body='body', length=1.0, rate=-0.25)
    motion = ConstrainedMotion(tree, [1.0, 0, 0], [-0.25, 3.0, 0], [rod])
    motion.advance(2.0)
    # drawn in to half a metre: angular momentum stays
    assert np.linalg.norm(motion.q[:2]) == pytest.approx(0.5, abs=1e-12)
    (x, y), (vx, vy) = motion.q[:2], motion.qd[:2]
    assert x * vy - y * vx == pytest.approx(3.0, rel=1e-9)
    record = motion.record
    assert record.driven[-1] == pytest.approx(2.0 / 2 * (36 - 9), rel=1e-9)
    assert np.max(np.abs(record.energy_error)) < 1e-8
    # a start along the constraint is no impact; one across it is
    assert motion.energy_loss == pytest.approx(0.0, abs=1e-14)
    hit = ConstrainedMotion(tree, [1.0, 0, 0], [-0.75, 3.0, 0], [rod])
    assert hit.record.events[0].name == 'start'
    assert hit.energy_loss == pytest.approx(0.75**2 - 0.25**2, rel=1e-12)


def test_grasp_carry_and_release_keep_momentum_and_account():
    joints = [Joint('arm'), Joint('block', 'planar')]
    tree = Tree.from_connection([-1, -1], [Joint('tug', 'planar'), joints[1]],
                                [Body('tug', 3.0, inertia=np.eye(3)),
                                 Body('load', 1.0, inertia=0.2 * np.eye(3))], (0, 0, 0))
    motion = ConstrainedMotion(tree, [0, 0, 0, 0.5, 0.2, 0.3], [1.0, 0, 0.2, -0.5, 0, 0])
    before = momentum(tree, motion.q, motion.qd)
    motion.advance(0.1)
    # where they are then
    weld = Weld.here(tree, motion.q, 'load', 'tug', name='grip')
    hit = motion.add(weld)
    assert hit.energy_loss > 0.1
    motion.advance(0.5)
    relative = motion.record.q[-1] - motion.record.q[-200]
    motion.remove('grip')
    motion.advance(0.2)
    assert relative[2] == pytest.approx(relative[5], abs=1e-12)
    np.testing.assert_allclose(momentum(tree, motion.q, motion.qd), before, atol=1e-12)
    assert np.max(np.abs(motion.record.energy_error)) < 1e-12
    assert [event.kind for event in motion.record.events] == ['add', 'remove']
    assert motion.energy_loss == pytest.approx(hit.energy_loss)
    # λ is there only while the grip is
    force = motion.record.multiplier('grip, x')
    assert np.isnan(force[0]) and np.isnan(force[-1]) and np.isfinite(force).any()


def test_torques_may_come_from_a_law_and_their_work_is_booked():
    tree = Tree.from_connection([-1], [Joint('hinge', axis=(0, 1, 0))],
                                [Body('rod', 1.0, (0, 0, -0.5), 0.1 * np.eye(3))])
    motion = ConstrainedMotion(tree, [0.0], [0.0], settings=MotionSettings(2e-3),
                               torque=lambda time, q, qd: 8.0 * (1.0 - q) - 2.0 * qd)
    motion.advance(1.0)
    record = motion.record
    assert record.work[-1] == pytest.approx(record.kinetic[-1] + record.potential[-1]
                                            - record.potential[0], abs=1e-9)
    motion.advance(9.0)
    # where spring and weight balance
    assert 8.0 * (1 - motion.q[0]) == pytest.approx(9.81 * 0.5 * math.sin(motion.q[0]), abs=1e-6)


def test_a_law_is_asked_once_in_the_steps_that_it_holds():
    tree = free_body(kind='planar', gravity=(0, 0, 0))
    asked = []

    def law(time, q, qd):
        asked.append(time)
        return [1.0 if len(asked) % 2 else -1.0, 0, 0]

    motion = ConstrainedMotion(tree, np.zeros(3), np.zeros(3), torque=law,
                               settings=MotionSettings(hold=5))
    motion.advance(0.02)
    np.testing.assert_allclose(asked, [0, 0.005, 0.01, 0.015], atol=1e-15)
    assert motion.qd[0] == pytest.approx(0.0, abs=1e-15)
    assert len(motion.record.time) == 21


def test_what_cannot_be_is_refused_in_words():
    tree, cut = four_bar()
    q = closed(START)
    with pytest.raises(ConstraintError, match=r'cut, [xy] \(row [01]\) has an error of'):
        ConstrainedMotion(tree, q + [0, 0, 0.1], np.zeros(3), [cut])
    with pytest.raises(ConstraintError, match='step = 0'):
        MotionSettings(step=0)
    with pytest.raises(ConstraintError, match='hold = 0'):
        MotionSettings(hold=0)
    with pytest.raises(ConstraintError, match='stabilisation'):
        MotionSettings(stabilisation='hope')
    with pytest.raises(ConstraintError, match='expected a Contact'):
        ConstrainedMotion(tree, q, np.zeros(3), contacts=[Point(body='crank')])
    motion = ConstrainedMotion(tree, q, np.zeros(3), [cut])
    with pytest.raises(ConstraintError, match="'grip' is not in force; in force: cut"):
        motion.remove('grip')
