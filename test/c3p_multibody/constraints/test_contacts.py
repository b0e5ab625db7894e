# SPDX-License-Identifier: Apache-2.0
"""Contacts that close and open: instants, restitution, Zeno, release, several at once."""

import numpy as np
import pytest
from mechanisms import free_body
from scipy.optimize import brentq

from c3p_multibody.constraints import ConstrainedMotion, Contact, MotionSettings
from c3p_multibody.trees import Body, Joint, Tree

G = 9.81


def ball(height, speed=0.0, **options):
    """Return a mass that falls on the ground."""
    tree = Tree.from_connection([-1], [Joint('height', 'prismatic')], [Body('ball', 1.0)])
    return ConstrainedMotion(tree, [height], [speed], contacts=[Contact(body='ball', **options)])


def test_impacts_come_when_the_parabolas_end():
    motion = ball(1.0, restitution=0.8)
    motion.advance(2.0)
    fall = np.sqrt(2 / G)
    times = [event.time for event in motion.record.events]
    # each flight takes 0.8 of the one before
    expected = fall * (1 + 2 * np.cumsum([0, 0.8, 0.64]))
    np.testing.assert_allclose(times[:3], expected, atol=1e-12)
    assert motion.record.events[0].energy_loss == pytest.approx(0.36 * G, rel=1e-12)
    assert motion.record.events[0].impulse[0] == pytest.approx(1.8 * np.sqrt(2 * G), rel=1e-12)
    assert np.max(np.abs(motion.record.energy_error)) < 1e-12


def test_zenos_ball_comes_to_rest_and_its_whole_energy_is_on_the_stairs():
    motion = ball(1.0, restitution=0.5)
    motion.advance(2.0)
    # all flights: √(2h/g) (1 + e)/(1 − e)
    last = motion.record.events[-1].time
    assert last == pytest.approx(np.sqrt(2 / G) * 3, abs=1e-3)
    assert motion.q[0] == pytest.approx(0.0, abs=1e-12) and motion.qd[0] == 0.0
    assert len(motion.closed) == 1
    loss = motion.record.loss
    assert np.all(np.diff(loss) >= 0) and loss[-1] == pytest.approx(G, rel=1e-9)
    assert motion.record.multiplier('contact ball-world, z')[-1] == pytest.approx(G, rel=1e-12)


def test_a_perfect_ball_bounces_for_ever_without_loss():
    motion = ball(0.2, restitution=1.0)
    motion.advance(3.0)
    assert motion.energy_loss == pytest.approx(0.0, abs=1e-12)
    assert len(motion.record.events) == 1 + int((3.0 / np.sqrt(0.4 / G) - 1) // 2)


def test_a_guard_ends_bouncing_even_where_slow_impacts_bounce():
    tree = Tree.from_connection([-1], [Joint('height', 'prismatic')], [Body('ball', 1.0)])
    motion = ConstrainedMotion(tree, [0.01], [0.0],
                               contacts=[Contact(body='ball', restitution=0.5)],
                               settings=MotionSettings(rest_speed=0.0))
    motion.advance(0.3)
    assert motion.closed and motion.qd[0] == 0.0
    assert len(motion.record.events) < 40


def test_a_mass_slides_off_a_swinging_table_when_its_force_would_turn_negative():
    # a table (heavy, driven by a spring) takes a mass up; it lifts off where a = −g
    stiffness, amplitude = 400.0, 0.06
    tree = Tree.from_connection(
        [-1, -1], [Joint('table', 'prismatic'), Joint('mass', 'prismatic')],
        [Body('table', 1e3), Body('mass', 1e-3)], (0, 0, -G))
    total = 1e3 + 1e-3

    def spring(time, q, qd):
        return [1e3 * G - 1e3 * stiffness * q[0], 0.0]

    motion = ConstrainedMotion(tree, [-amplitude, -amplitude], [0, 0], torque=spring,
                               contacts=[Contact(body='mass', base='table')],
                               settings=MotionSettings(1e-4))
    assert len(motion.closed) == 1
    motion.advance(0.14)
    opened, = (event for event in motion.record.events if event.kind == 'open')
    # x = −A cos ωt lifts off at x = g/ω², but for held torques (half a step) and the small mass
    omega = np.sqrt(stiffness * 1e3 / total)
    expected = brentq(lambda t: -amplitude * np.cos(omega * t) - G / omega**2, 0.07, 0.15)
    assert opened.time == pytest.approx(expected, abs=2e-4)
    force = motion.record.multiplier('contact mass-table, z')
    assert np.nanmin(force) > -1e-9
    assert not motion.closed


def falling_rod(**options):
    tree = free_body(1.0, (0.1, 0.1, 1 / 12), kind='planar', gravity=(0, -G, 0))
    ends = [Contact(body='body', point=(side * 0.5, 0, 0), normal=(0, 1, 0), **options,
                    name=f'end {side}') for side in (-1, 1)]
    return tree, ends


def test_a_rod_drops_flat_on_both_ends_at_once():
    tree, ends = falling_rod(restitution=0.5)
    motion = ConstrainedMotion(tree, [0, 0.5, 0], [0.1, 0, 0], contacts=ends)
    motion.advance(0.5)
    first = motion.record.events[:2]
    assert [event.name for event in first] == ['end -1', 'end 1']
    assert first[0].impulse[0] == pytest.approx(first[1].impulse[0], rel=1e-9)
    assert motion.q[2] == pytest.approx(0.0, abs=1e-9)
    assert motion.energy_loss == pytest.approx(0.75 * G * 0.5, rel=1e-9)


def test_a_rod_that_drops_askew_clatters_and_lies_down():
    tree, ends = falling_rod(restitution=0.4)
    motion = ConstrainedMotion(tree, [0, 1.0, 0.4], [0.3, 0, 0], contacts=ends)
    motion.advance(3.0)
    record = motion.record
    heights = np.array([record.q[:, 1] + side * 0.5 * np.sin(record.q[:, 2])
                        for side in (-1, 1)])
    assert np.min(heights) > -1e-9
    assert len(motion.closed) == 2
    np.testing.assert_allclose(motion.q[1:], 0.0, atol=1e-9)
    # nothing acts along the ground
    assert motion.qd[0] == pytest.approx(0.3, abs=1e-12)
    assert np.max(np.abs(record.energy_error)) < 1e-10
    assert record.loss[-1] == pytest.approx(G, rel=1e-9)


def test_a_rough_contact_does_not_slip():
    tree, _ = falling_rod()
    foot = Contact(body='body', point=(-0.5, 0, 0), normal=(0, 1, 0), rough=True)
    # a rod that stands nearly upright and falls about its foot
    lean = 1.4
    q = [0.5 * np.cos(lean), 0.5 * np.sin(lean), lean]
    motion = ConstrainedMotion(tree, q, np.zeros(3), contacts=[foot])
    motion.advance(0.8)
    feet = motion.record.q[:, 0] - 0.5 * np.cos(motion.record.q[:, 2])
    np.testing.assert_allclose(feet, 0.0, atol=1e-9)
    # energy about the foot: ½ (m l²/3) ω² = m g (l/2) (sin lean − sin θ)
    fallen = 3 * G * (np.sin(lean) - np.sin(motion.q[2]))
    assert motion.qd[2]**2 == pytest.approx(fallen, rel=1e-8)


def test_a_redundant_table_stands_still():
    # four legs, three needed: dependent rows
    tree = free_body(4.0, (0.3, 0.3, 0.5))
    legs = [Contact(body='body', point=(x, y, -0.4)) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    motion = ConstrainedMotion(tree, [0, 0, 0.4, 0, 0, 0], np.zeros(6), contacts=legs)
    motion.advance(0.2)
    np.testing.assert_allclose(motion.q, [0, 0, 0.4, 0, 0, 0], atol=1e-10)
    assert motion.energy_loss == pytest.approx(0.0, abs=1e-15)
