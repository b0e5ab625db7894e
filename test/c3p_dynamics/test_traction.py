# SPDX-License-Identifier: Apache-2.0
"""Wheel loads against a balance of moments and the contact plant; bounds of the wheel torques."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import caster_robots

from c3p_description import load
from c3p_description.model import GRAVITY, ModelError
from c3p_dynamics.traction import (
    least_loads,
    torque_bounds,
    traction_report,
    traction_torque,
    wheel_loads,
)

C3P = load('c3p')
SQUARE = replace(
    C3P, hip_position=[(0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2)],
    steering_joints=(), wheel_joints=(),
    **{name: 0.04 for name in ('caster_offset', 'wheel_radius')},
    **{name: float(getattr(C3P, name)[0]) for name in (
        'link_mass', 'link_com', 'link_inertia', 'wheel_mass', 'wheel_spin_inertia',
        'wheel_yaw_inertia', 'torque_limit', 'steering_sign', 'wheel_sign')},
    driven=True, steering_zero=0.0,
    friction=replace(C3P.friction, **{name: 0.0 for name in (
        'pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb',
        'scrub_coulomb')}))


@given(robot=caster_robots(), data=st.data())
def test_loads_carry_the_weight_at_the_centre_of_mass(robot, data):
    steering = np.array(data.draw(st.lists(st.floats(-np.pi, np.pi), min_size=robot.count,
                                           max_size=robot.count)))
    loads = wheel_loads(robot, steering)
    assert (loads >= 0.0).all()
    if robot.count < 3 or not (loads > 0.0).all():
        return
    weight = GRAVITY * robot.total_mass
    assert loads.sum() == pytest.approx(weight, rel=1e-9)
    contact = robot.hip_position - robot.caster_offset[:, None] * np.column_stack(
        [-np.sin(steering), np.cos(steering)])
    link = robot.hip_position + (robot.link_com / robot.caster_offset)[:, None] * (
        contact - robot.hip_position)
    centre = (robot.platform_mass * robot.platform_com + robot.link_mass @ link
              + robot.wheel_mass @ contact) / robot.total_mass
    # moments about the centre of mass vanish; per weight and metre
    assert np.abs(loads @ (contact - centre)).max() <= 1e-9 * weight


def test_loads_of_the_c3p_are_those_of_the_contact_plant():
    mujoco = pytest.importorskip('mujoco', reason='needs MuJoCo')
    assert mujoco
    from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
    plant = MujocoPlant('c3p')
    for steering in ([0.0, 0.0, 0.0], [0.3, -1.2, 2.0], [np.pi / 2] * 3):
        plant.reset(steering=steering)
        for _ in range(200):
            plant.step(np.zeros(3), 0.005)
        # tyres sink in by 25 µm, which tilts the robot: less than 0.1 N
        np.testing.assert_allclose(wheel_loads(C3P, np.array(steering)), plant.wheel_load,
                                   atol=0.1)


def test_four_equal_wheels_share_the_weight_equally_when_offsets_cancel():
    steering = np.arctan2(-SQUARE.hip_position[:, 0], SQUARE.hip_position[:, 1])
    np.testing.assert_allclose(wheel_loads(SQUARE, steering),
                               GRAVITY * SQUARE.total_mass / 4, rtol=1e-9)


def test_least_loads_are_below_those_of_every_straight_drive():
    least = least_loads(SQUARE)
    for angle in np.linspace(-np.pi, np.pi, 97):
        # the grid of directions misses the worst one by at most 1 - cos(7.5°)
        assert (least <= wheel_loads(SQUARE, np.full(4, angle)) * 1.01).all()


@pytest.mark.parametrize('limit', [0.5, 1.2, 3.0, 1e4, np.inf])
def test_bounds_are_the_smaller_of_motor_and_tyre(limit):
    robot = replace(C3P, torque_limit=limit)
    np.testing.assert_allclose(torque_bounds(robot),
                               np.minimum(limit, traction_torque(robot)))
    assert np.isfinite(torque_bounds(robot)).all()


def test_an_undriven_wheel_has_the_bound_zero():
    assert torque_bounds(replace(C3P, driven=[True, False, True]))[1] == 0.0


def test_a_wheel_beside_the_centre_of_mass_has_no_load_and_is_reported():
    robot = replace(C3P, platform_com=(0.0, 0.9), torque_limit=5.0)
    assert torque_bounds(robot)[2] == 0.0
    assert 'wheel_joint_3 carries less than 5%' in traction_report(robot)


def test_the_report_compares_motor_and_tyre_only_when_the_motor_is_stronger():
    assert traction_report(C3P) == ''
    text = traction_report(replace(C3P, torque_limit=[1.2, np.inf, 6.0]))
    assert text.startswith('wheel_joint_2, wheel_joint_3: torque limit 6 to inf N·m, tyres '
                           'transmit 1.5 N·m')
    assert 'casters.tyre_friction' in text


@pytest.mark.parametrize(('field', 'value'), [
    ('tyre_friction', 0.0), ('tyre_friction', np.nan), ('traction_margin', 0.0),
    ('traction_margin', 1.2), ('traction_margin', np.nan)])
def test_impossible_traction_is_refused_by_name(field, value):
    with pytest.raises(ModelError, match=field):
        replace(C3P, **{field: value})
