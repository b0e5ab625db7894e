# SPDX-License-Identifier: Apache-2.0
"""What docs/papers/el_shenawy.md says of singular starts, by scripts/singular_start.py."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))
from singular_start import (  # noqa: E402
    ACROSS,
    RADIAL,
    WEIGHT,
    across_laws,
    our_law,
    printed_law,
    radial_laws,
    run,
)

from c3p_description import load  # noqa: E402
from c3p_dynamics.caster_dynamics import inverse_dynamics, mass_matrix  # noqa: E402
from c3p_kinematics.casters import wheel_jacobian  # noqa: E402

PSEUDO_INVERSE = our_law('w_s = 0', weight=0.0, friction=False, friction_compensation=0.0,
                         escape_jerk=0.0)


@pytest.mark.parametrize('friction', [False, True])
def test_default_leaves_parallel_casters_aligns_and_arrives(friction):
    found = run(our_law('default', friction=friction,
                        friction_compensation=0.65 if friction else 0.0), *ACROSS)
    assert found.left < 1.0
    assert found.aligned is not None and found.aligned < 4.0
    assert found.arrived is not None and found.arrived < 18.0
    assert found.path_error < 0.06


def test_default_leaves_even_when_friction_is_not_compensated():
    found = run(our_law('default', friction_compensation=0.0), *ACROSS, most=6.0)
    assert found.left < 1.0 and found.aligned < 4.0


@pytest.mark.parametrize('friction', [False, True])
def test_pseudo_inverse_stays_at_parallel_casters(friction):
    found = run(replace(PSEUDO_INVERSE, friction=friction), *ACROSS, most=10.0)
    np.testing.assert_allclose(found.steering, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.pose, 0.0, atol=1e-9)


def test_pseudo_inverse_stays_at_casters_that_are_turned_alike():
    found = run(PSEUDO_INVERSE, ACROSS[0], np.full(3, 1e-3), most=10.0)
    np.testing.assert_allclose(found.steering, 1e-3, atol=1e-9)


def test_pseudo_inverse_takes_ten_times_as_long_when_an_error_tells_the_casters_apart():
    # 1e-12 rad is enough: parallel casters are an unstable place, but a slow one to leave
    found = run(replace(PSEUDO_INVERSE, offset=1e-12), *ACROSS, most=16.0)
    assert found.left is not None and found.left > 5.0


def test_papers_law_leaves_without_friction_but_not_on_the_line():
    found = run(printed_law(0.1), *ACROSS)
    assert found.left < 0.5
    assert found.aligned is None and found.arrived is None
    # paper I, Fig. 9: 4 cm
    assert found.path_error > 1.0


def test_wheel_loop_brakes_the_papers_escape():
    way = [run(printed_law(gain), *ACROSS, most=2.0).pose[-1, 0] for gain in (0.0, 0.1, 0.5)]
    assert way[0] > way[1] > way[2] and way[2] < 0.6 * way[0]


def test_papers_law_creeps_against_friction():
    found = run(printed_law(0.1, friction=True), *ACROSS, most=10.0)
    # neither a centimetre in two seconds nor ten in ten, of the four metres asked for
    assert abs(found.pose[400, 0]) < 0.01 and abs(found.pose[-1, 0]) < 0.1
    assert found.left is not None and np.degrees(np.abs(found.steering)).max() < 20.0


def test_papers_weight_leaves_the_line_where_the_default_keeps_it():
    found = run(our_law('w_s = 1', weight=1.0), *ACROSS)
    default = run(our_law('default'), *ACROSS)
    assert found.aligned is None or found.aligned > 10.0
    assert found.path_error > 2.0 * default.path_error


@pytest.mark.parametrize('law', [
    radial_laws()[0], PSEUDO_INVERSE, our_law('no push', escape_jerk=0.0),
    our_law('no push', friction=False, escape_jerk=0.0)], ids=lambda law: law.name)
def test_no_reading_turns_where_the_rolling_lines_meet_at_the_centre(law):
    found = run(law, *RADIAL, most=10.0)
    np.testing.assert_allclose(found.torque, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.steering - RADIAL[1], 0.0, atol=1e-9)


@pytest.mark.parametrize('friction', [False, True])
def test_push_leaves_where_the_rolling_lines_meet_at_the_centre(friction):
    found = run(our_law('default', friction=friction), *RADIAL)
    # the push begins after a second of standing
    assert 1.0 < found.left < 2.0
    assert found.arrived is not None and found.arrived < 10.0
    assert found.path_error < 0.05


@pytest.mark.parametrize('weight', [1.0, WEIGHT, 1e-4, 1e-6])
def test_yaw_moment_of_a_side_force_tends_to_minus_d_times_the_force(weight):
    robot, steering, asked = load('c3p'), np.zeros(3), [0.5, 0.0, 0.0]
    torque = inverse_dynamics(robot, steering, np.zeros(3), asked, weight)
    moment = wheel_jacobian(robot, steering).T @ torque
    limit = -robot.caster_offset[0] * (mass_matrix(robot, steering) @ asked)[0]
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-12)
    # what is missing is w_s times as large as what is there: half of the limit at w_s = 1
    assert moment[2] == pytest.approx(limit / (1.0 + weight), rel=5e-4)


def test_papers_page_names_tests_that_exist_and_shows_the_table_as_it_is_printed():
    root = Path(__file__).parents[1]
    page = (root / 'docs/papers/el_shenawy.md').read_text(encoding='utf-8')
    tests = '\n'.join(path.read_text() for path in root.glob('test/**/test_*.py'))
    for name in re.findall(r'`(test_\w+)`', page):
        assert f'def {name}(' in tests, f'docs/papers/el_shenawy.md names {name}'
    # the laws in their order; the figures have bounds above
    for law in (*across_laws(), *radial_laws()):
        assert f'| {law.name} | {"yes" if law.friction else "no"} |' in page
