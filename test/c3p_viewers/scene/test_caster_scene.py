# SPDX-License-Identifier: Apache-2.0
"""The scene of a caster robot against kinematics and the geometry of its singularities."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse, wheel_jacobian
from c3p_kinematics.singularity import length_scale
from c3p_plots import style
from c3p_viewers.scene import colours
from c3p_viewers.scene.caster_scene import caster_scene
from c3p_viewers.scene.settings import SceneSettings, layer
from c3p_viewers.scene.shapes import Arc, Label, Shape

SEEDS = st.integers(0, 2**32 - 1)


def named(shapes):
    """Return shapes by name, after checking that names differ."""
    found = {shape.name: shape for shape in shapes}
    assert len(found) == len(shapes)
    return found


def numbers(shape):
    """Return all coordinates, lengths and colours of a shape."""
    return np.concatenate([np.ravel(part) for part in shape if not isinstance(part, str)])


def everything(robot, rng, settings=None):
    """Return a scene in which the robot does all at once, and what it does."""
    steering = rng.uniform(-np.pi, np.pi, robot.count)
    known = {'twist': rng.uniform(-1, 1, 3), 'wheel_torque': rng.uniform(-1, 1, robot.count),
             'residual': rng.uniform(-0.3, 0.3, (robot.count, 2)), 'suspect': 0, 'slipping': True}
    more = {} if settings is None else {'settings': settings}
    return named(caster_scene(robot, steering, **known, **more)), steering, known


def distance_from_line(point, ends):
    """Return the distance of a point from the infinite line through two points."""
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    off = np.asarray(point) - ends[0]
    return abs(along[0] * off[1] - along[1] * off[0])


@given(caster_robots(), SEEDS)
def test_every_shape_is_finite_in_base_link_and_has_a_layer(robot, seed):
    shapes, *_ = everything(robot, np.random.default_rng(seed))
    for name, shape in shapes.items():
        assert isinstance(shape, Shape) and shape.frame == 'base_link'
        assert np.isfinite(numbers(shape)).all(), name
        assert len(shape.colour) == 4 and all(0 <= c <= 1 for c in shape.colour)
        assert layer(name) in ('rolling_lines', 'unactuated', 'axle_lines', 'twist', 'slip',
                               'instantaneous_centre', 'torque')


@given(caster_robots(), SEEDS)
def test_rolling_lines_pass_through_pivots_and_contacts_of_driven_wheels(robot, seed):
    rng = np.random.default_rng(seed)
    driven = rng.random(robot.count) < 0.6
    driven[0] = True
    robot = dataclasses.replace(robot, driven=driven)
    shapes, steering, _ = everything(robot, rng)
    assert {name for name in shapes if name.startswith('rolling_line')} == {
        f'rolling_line_{i + 1}' for i in np.flatnonzero(driven)}
    for i in np.flatnonzero(driven):
        ends = shapes[f'rolling_line_{i + 1}'].points[:, :2]
        along = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        contact = robot.hip_position[i] - robot.caster_offset[i] * along
        for point in (robot.hip_position[i], contact):
            # rounding of lengths up to some metres
            assert distance_from_line(point, ends) < 1e-12
        np.testing.assert_allclose(ends.mean(axis=0), contact, atol=1e-12)


def test_parallel_lines_are_red_and_lose_the_push_across_them():
    # all along +Y
    shapes = named(caster_scene(C3P, [0.0, 0.0, 0.0]))
    red = colours.colour(colours.BAD)
    assert all(shapes[f'rolling_line_{i}'].colour == red for i in (1, 2, 3))
    assert shapes['sigma_min'].text == 'sigma_min 0.00 parallel'
    for side, sign in (('ahead', 1.0), ('back', -1.0)):
        arrow = shapes[f'unactuated_{side}']
        way = arrow.end - arrow.start
        np.testing.assert_allclose(way / np.linalg.norm(way), [sign, 0, 0], atol=1e-12)
    assert 'unactuated_arc' not in shapes


@given(SEEDS)
def test_lines_through_one_point_lose_the_turn_about_it(seed):
    rng = np.random.default_rng(seed)
    point = rng.uniform(-0.5, 0.5, 2)
    assume(np.hypot(*(C3P.hip_position - point).T).min() > 0.05)
    x, y = (point - C3P.hip_position).T
    # towards the point or away from it
    steering = np.arctan2(-x, y) + np.pi * rng.integers(0, 2, 3)
    shapes = named(caster_scene(C3P, steering))
    assert shapes['sigma_min'].text == 'sigma_min 0.00 concurrent'
    arc = shapes['unactuated_arc']
    np.testing.assert_allclose(arc.centre[:2], point, atol=1e-6)
    np.testing.assert_allclose(shapes['unactuated_point'].centre[:2], point, atol=1e-6)
    # the wheels do not see that motion
    turn = np.array([point[1], -point[0], 1.0])
    np.testing.assert_allclose(wheel_jacobian(C3P, steering) @ turn, 0.0, atol=1e-6)


@given(SEEDS)
def test_the_measure_fades_from_red_to_green_and_the_lost_motion_with_it(seed):
    steering = np.random.default_rng(seed).uniform(-np.pi, np.pi, 3)
    settings = SceneSettings()
    shapes = named(caster_scene(C3P, steering))
    sigma = float(shapes['sigma_min'].text.split()[1])
    lost = [shape for name, shape in shapes.items() if name.startswith('unactuated')]
    # the label has two decimals
    if sigma > settings.lost_sigma + 0.01:
        assert not lost
    elif sigma < settings.lost_sigma - 0.01:
        assert lost and 0.15 < lost[0].colour[3] <= 1.0
    if sigma > settings.safe_sigma + 0.01:
        assert shapes['rolling_line_1'].colour == colours.colour(colours.GOOD)


@given(caster_robots(), SEEDS)
def test_no_point_moves_at_the_instantaneous_centre(robot, seed):
    rng = np.random.default_rng(seed)
    shapes, _, known = everything(robot, rng)
    if 'icr' not in shapes:
        assert 'icr_far' in shapes or abs(known['twist'][2]) < 0.1
        return
    vx, vy, rate = known['twist']
    x, y, _ = shapes['icr'].centre
    # centres are at most some metres away
    assert abs(vx - rate * y) < 1e-12 and abs(vy + rate * x) < 1e-12
    # the label counts from the middle of the pivots
    distance = np.hypot(*([x, y] - robot.hip_position.mean(axis=0)))
    assert shapes['icr_label'].text == f'ICR {distance:.2f} m'


@given(SEEDS)
def test_an_axle_passes_the_centre_by_as_its_caster_turns(seed):
    rng = np.random.default_rng(seed)
    steering, twist = rng.uniform(-np.pi, np.pi, 3), rng.uniform(-1, 1, 3)
    assume(abs(twist[2]) > 0.1)
    shapes = named(caster_scene(C3P, steering, twist=twist))
    turning = inverse(C3P, steering, twist)[1]
    centre = np.array([-twist[1], twist[0]]) / twist[2]
    for i in range(3):
        ends = shapes[f'axle_line_{i + 1}'].points[:, :2]
        # the platform point over the contact moves across the wheel with −d θ̇_s, and circles about
        # the centre: ω times how far the axle passes it by
        along = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        contact = C3P.hip_position[i] - C3P.caster_offset[i] * along
        across = np.array([np.cos(steering[i]), np.sin(steering[i])])
        passes_by = (centre - contact) @ along
        assert distance_from_line(centre, ends) == pytest.approx(abs(passes_by), abs=1e-9)
        assert twist[2] * passes_by == pytest.approx(
            -C3P.caster_offset[i] * turning[i], abs=1e-9)
        assert distance_from_line(contact + across, ends) < 1e-12


def test_a_far_centre_is_pointed_at_and_a_translation_has_none():
    far = named(caster_scene(C3P, [0.3, 0.2, 0.1], twist=[0.3, 0.0, 0.01]))
    assert 'icr' not in far and far['icr_label'].text == 'ICR 30.00 m'
    way = far['icr_far'].end - far['icr_far'].start
    # left of the way
    np.testing.assert_allclose(way / np.linalg.norm(way), [0, 1, 0], atol=1e-12)
    straight = named(caster_scene(C3P, [0.3, 0.2, 0.1], twist=[0.3, 0.1, 1e-4]))
    assert not [name for name in straight if name.startswith('icr')] and 'twist' in straight


def test_at_rest_only_lines_axles_and_measure_are_drawn():
    resting = named(caster_scene(C3P, [0.5, 2.0, -1.5], twist=[0.004, 0.0, 0.01],
                                 wheel_torque=[0.0, 0.001, 0.0],
                                 residual=np.full((3, 2), 0.002)))
    assert set(resting) - {n for n in resting if n.startswith('unactuated')} == {
        'sigma_min', *(f'{kind}_line_{i}' for kind in ('rolling', 'axle') for i in (1, 2, 3))}


@given(caster_robots(min_casters=3), SEEDS)
def test_arrows_of_slip_and_torque_are_what_was_measured(robot, seed):
    shapes, steering, known = everything(robot, np.random.default_rng(seed))
    settings, size = SceneSettings(), length_scale(robot)
    for i in range(robot.count):
        along = np.array([-np.sin(steering[i]), np.cos(steering[i])])
        across = np.array([np.cos(steering[i]), np.sin(steering[i])])
        contact = robot.hip_position[i] - robot.caster_offset[i] * along
        torque = known['wheel_torque'][i]
        if f'torque_{i + 1}' in shapes:
            arrow = shapes[f'torque_{i + 1}']
            # these robots have no limit: one size for 1 N·m
            np.testing.assert_allclose((arrow.end - arrow.start)[:2], torque * size * along,
                                       atol=1e-12)
        else:
            assert abs(torque) < settings.least_torque
        slip = known['residual'][i] @ [along, across]
        if np.hypot(*slip) * settings.slip_time < 2 * size and f'slip_{i + 1}' in shapes:
            arrow = shapes[f'slip_{i + 1}']
            np.testing.assert_allclose(arrow.start[:2], contact, atol=1e-12)
            np.testing.assert_allclose((arrow.end - arrow.start)[:2], settings.slip_time * slip,
                                       atol=1e-12)


def test_the_wheel_that_slips_is_ringed_and_named():
    residual = np.array([[0.0, 0.0], [0.12, -0.05], [0.0, 0.0]])
    shapes = named(caster_scene(C3P, [0.5, 2.0, -1.5], residual=residual, suspect=1,
                                slipping=True))
    assert isinstance(shapes['suspect_2'], Arc)
    assert shapes['suspect_label_2'].text == 'wheel 2 slips 0.13 m/s'
    assert shapes['slip_2'].colour == colours.colour(colours.ALERT)
    assert not {'slip_1', 'slip_3', 'suspect_1'} & set(shapes)
    unknown = named(caster_scene(C3P, [0.5, 2.0, -1.5], residual=residual, suspect=-1,
                                 slipping=True))
    assert not [name for name in unknown if name.startswith('suspect')]
    assert unknown['slip_2'].colour[:3] == colours.caster_colour(1)[:3]


def test_a_wheel_without_motor_has_no_torque_even_if_it_is_no_number():
    robot = dataclasses.replace(C3P, driven=[True, False, True])
    shapes = named(caster_scene(robot, [0.5, 2.0, -1.5], wheel_torque=[0.5, np.nan, -0.5]))
    assert {'torque_1', 'torque_3'} <= set(shapes) and 'torque_2' not in shapes
    # two wheels cannot drive three directions
    assert shapes['sigma_min'].text.startswith('sigma_min 0.00')


@given(caster_robots(equal=True), SEEDS, st.floats(0.2, 5.0))
def test_a_larger_robot_has_the_same_scene_larger(robot, seed, factor):
    larger = CasterRobot(**{f.name: getattr(robot, f.name) for f in dataclasses.fields(robot)} | {
        'hip_position': factor * robot.hip_position,
        'caster_offset': factor * robot.caster_offset,
        'wheel_radius': factor * robot.wheel_radius})
    # thresholds in m/s do not grow: leave them out
    settings = SceneSettings(rest_speed=0.0, least_slip=0.0)
    steering = np.random.default_rng(seed).uniform(-np.pi, np.pi, robot.count)
    twist = np.random.default_rng(seed).uniform(-1, 1, 3)
    one, other = (named(caster_scene(r, steering, twist=twist * [k, k, 1], settings=settings))
                  for r, k in ((robot, 1.0), (larger, factor)))
    assert set(one) == set(other)
    for name, shape in one.items():
        if isinstance(shape, Label):
            np.testing.assert_allclose(factor * shape.position, other[name].position, rtol=1e-9,
                                       atol=1e-9)
        elif not isinstance(shape, Arc):
            places = np.ravel(shape[3]), np.ravel(other[name][3])
            np.testing.assert_allclose(factor * places[0], places[1], rtol=1e-9, atol=1e-9)


def test_the_ground_may_lie_below_the_frame():
    here = everything(C3P, np.random.default_rng(5))[0]
    below = everything(C3P, np.random.default_rng(5), SceneSettings(ground=-0.4))[0]
    assert set(here) == set(below)
    place = {'Line': 'points', 'Arrow': 'start', 'Ball': 'centre', 'Label': 'position',
             'Arc': 'centre'}
    for name, shape in here.items():
        field = place[type(shape).__name__]
        low, high = (np.asarray(getattr(s, field))[..., 2] for s in (below[name], shape))
        np.testing.assert_allclose(high - low, 0.4, atol=1e-12)


def test_colours_of_casters_are_those_of_the_figures():
    assert colours.CASTERS == style.CASTERS
    assert [colours.GOOD, colours.BAD] == [style.GOAL, style.ALERT]


@pytest.mark.parametrize('known, message', [
    ({'twist': [0.1, 0.2]}, r'twist has shape \(2,\)'),
    ({'twist': [0.1, np.nan, 0.0]}, 'twist.*finite'),
    ({'twist': [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]}, 'twist has shape'),
    ({'wheel_torque': [0.1, 0.2]}, 'wheel_torque has shape'),
    ({'wheel_torque': [0.1, np.inf, 0.0]}, 'wheel_torque.*finite'),
    ({'residual': [0.1, 0.2, 0.3]}, r'residual has shape \(3,\)'),
    ({'residual': np.full((3, 2), np.nan)}, 'residual.*finite')])
def test_what_cannot_be_is_named(known, message):
    with pytest.raises(ValueError, match=message):
        caster_scene(C3P, [0.0, 0.1, 0.2], **known)


@pytest.mark.parametrize('steering', [[0.0, 0.1], [0.0, np.nan, 0.1]])
def test_steering_that_cannot_be_is_named(steering):
    with pytest.raises(ValueError, match='steering'):
        caster_scene(C3P, steering)
