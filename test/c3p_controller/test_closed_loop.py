# SPDX-License-Identifier: Apache-2.0
"""The whole cascade on the analytic plant, from steering angles easy and singular."""

import math

import numpy as np
import pytest
from closed_loop import ROBOT, drive

# start of the casters in degrees; 0 is singular: X is not actuated at all
DRIVES = {
    'across_4_m': ((4, 0, 0), [0, 0, 0]),
    'along_4_m': ((0, 4, 0), [0, 0, 0]),
    'backwards_4_m': ((-4, 0, 0), [0, 0, 0]),
    'backwards_along_y': ((0, -3, 0), [0, 0, 0]),
    'diagonal': ((3, 3, 0), [0, 0, 0]),
    'aligned_with_x': ((4, 0, 0), [-90, -90, -90]),
    'all_casters_reversed': ((4, 0, 0), [90, 90, 90]),
    'casters_apart': ((4, 0, 0), [0, 120, 240]),
    'casters_concurrent_at_the_centre': ((3, 1, 0), [-60, 60, 180]),
    'casters_at_random': ((-2, 3, 0), [37, -121, 74]),
    'leg_of_the_triangle': ((-3, -3.5, 0), [-90, -90, -90]),
    'one_metre': ((1, 0, 0), [0, 0, 0]),
    'with_a_right_angle': ((3, 0, math.pi / 2), [0, 0, 0]),
    'with_a_turn_back': ((3, 2, -2.5), [0, 0, 0]),
    'turn_on_the_spot': ((0, 0, 2.0), [0, 0, 0]),
    'turn_from_where_yaw_is_lost': ((0, 0, -2.0), [-60, 60, 180]),
}


@pytest.mark.parametrize('name', DRIVES)
def test_goal_is_reached_in_time_and_the_line_is_kept(name):
    goal, steering = DRIVES[name]
    run = drive(goal, np.radians(steering))
    figures = (f'path {run.path_error:.3f} m, final {run.final_error:.3f} m, arrived '
               f'{run.arrived} s, yaw {run.poses[-1, 2]:.3f} of {goal[2]:.3f} rad')
    assert run.arrived is not None and run.arrived <= 20.0, figures
    assert run.path_error <= 0.10, figures
    assert run.final_error <= 0.05, figures
    assert np.all(np.abs(run.torques) <= ROBOT.torque_limit), figures


def test_the_same_drive_twice_gives_the_same_bits():
    one, other = (drive((1, 0.5, 0), [0.0, 0.3, 0.6]) for _ in range(2))
    assert np.array_equal(one.poses, other.poses) and np.array_equal(one.torques, other.torques)
