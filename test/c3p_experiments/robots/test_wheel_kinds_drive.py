# SPDX-License-Identifier: Apache-2.0
"""The battery of robots on modules, fixed wheels and twins."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller import AUTO, chosen_law
from c3p_description import load
from c3p_description.wheels import farthest_wheel
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.robots.ability import ability_of
from c3p_experiments.robots.battery import drive, eight, ring_centres, tasks
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import pace_of
from c3p_kinematics.module_commands import allowed_twist
from c3p_kinematics.se2 import to_body

KINDS = ('swerve', 'amr', 'twin', 'tricycle_agv')


@pytest.mark.parametrize(('plant', 'name'), [
    *(('mujoco', name) for name in KINDS), ('analytic', 'amr')])
def test_each_kind_does_drives_of_the_battery_on_both_plants(name, plant):
    robot = load(name)
    ability = ability_of(robot)
    assert not ability.obstacles()
    pace = pace_of(robot, ability.travel)
    bench = RobotBench(robot, Conditions(plant=plant, controller=chosen_law(AUTO, robot)), name)
    for task in tasks(robot, pace):
        if task.name in ('sideways', 'spin', 'steering_5'):
            outcome = drive(bench, task, pace)
            assert outcome.reached, (task.name, outcome.failure)
            assert outcome.metrics['ground_truth_final_error_m'] < 0.01


def test_the_ability_of_other_wheels_is_that_of_aligned_ones():
    for name in KINDS:
        ability = ability_of(load(name))
        assert ability.freedoms == (2 if load(name).fixed.any() else 3)
        assert not ability.heading_free
        assert ability.travel.along.min() > 0.1 and ability.travel.turn.min() > 0.1
    # rows along of two wheels and one axle across: nothing is spare
    assert ability_of(load('amr')).isolation.equations == 1
    # eight rows along, four across
    assert ability_of(load('twin')).isolation.equations == 9


def displaced(name, by):
    """Return the robot `name` with its frame moved by −`by` (2,): its wheels stand there."""
    robot = load(name)
    return replace(robot, hip_position=robot.hip_position + by,
                   platform_com=robot.platform_com + by)


def test_a_figure_eight_of_an_axle_begins_in_its_direction():
    travel = eight(load('swerve'), 1.0).at(np.zeros(1))[1][0]
    np.testing.assert_allclose(travel[:2], [0.0, 1.0], atol=1e-12)
    travel = eight(load('amr'), 1.0).at(np.zeros(1))[1][0]
    np.testing.assert_allclose(travel[:2], [1.0, 0.0], atol=1e-12)
    assert ring_centres(load('amr'), 2.0) == [pytest.approx((0.0, 2.0)),
                                              pytest.approx((0.0, -2.0))]


@pytest.mark.parametrize('by', [[0.2, 0.0], [-0.3, 0.1]])
def test_the_eight_of_an_axle_does_not_slide_wherever_the_frame_is(by):
    """Rings of another point than the axle's would be 17° off the wheels of a LIMO."""
    robot = displaced('amr', by)
    path = eight(robot, 0.8)
    poses, rates = path.at(np.linspace(0.0, path.length, 50))
    for pose, rate in zip(poses, rates, strict=True):
        twist = to_body(pose[2], rate)
        np.testing.assert_allclose(allowed_twist(robot, twist), twist, atol=1e-9)
    middle = poses[:, :2] + np.array([
        [np.cos(yaw) * by[0] - np.sin(yaw) * by[1], np.sin(yaw) * by[0] + np.cos(yaw) * by[1]]
        for yaw in poses[:, 2]])
    gaps = np.abs(np.linalg.norm(middle[:, None] - np.array(ring_centres(robot, 0.8)), axis=2)
                  - 0.8).min(axis=1)
    assert gaps.max() < 1e-9


def test_a_robot_whose_axle_is_elsewhere_drives_its_figure_eight():
    robot = displaced('amr', [0.2, 0.0])
    pace = pace_of(robot, ability_of(robot).travel)
    task, = [one for one in tasks(robot, pace) if one.name == 'figure_eight']
    outcome = drive(RobotBench(robot, Conditions(controller=chosen_law(AUTO, robot))), task, pace)
    assert outcome.reached, outcome.failure
    # the curvature of the rings begins at once, which no motor can: 14 cm, and 11 cm around an
    # origin on the axle, to which the pivots are nearer
    assert outcome.metrics['ground_truth_path_error_max_m'] < 0.16


def test_fixed_wheels_with_rounded_angles_bar_one_motion():
    """Axles 0.3 µrad aslant are two lines on paper, and one axle on the floor."""
    amr = load('amr')
    aslant = replace(amr, steering_zero=np.where(amr.fixed, -1.570796, amr.steering_zero))
    assert ability_of(aslant).freedoms == 2


def test_one_pivot_in_the_origin_has_a_pace():
    """Two differential wheels behind one pivot, as the HSR has them."""
    twin = load('twin')
    fields = {name: getattr(twin, name)[:2] for name in (
        'caster_offset', 'wheel_radius', 'link_mass', 'link_com', 'link_inertia', 'wheel_mass',
        'wheel_spin_inertia', 'wheel_yaw_inertia', 'steering_sign', 'steering_zero', 'wheel_sign',
        'lateral_offset')}
    robot = replace(twin, hip_position=np.zeros((2, 2)), steering_joints=('s', 's'),
                    wheel_joints=('l', 'r'), steered=True, steering_torque_limit=10.0, **fields)
    assert farthest_wheel(robot) == pytest.approx(np.hypot(0.01, 0.039))
    pace = pace_of(robot, ability_of(robot).travel)
    assert 0.0 < pace.yaw_rate < 10.0 and pace.length > 0.0 and pace.radius > 0.0
