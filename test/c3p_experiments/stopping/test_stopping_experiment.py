# SPDX-License-Identifier: Apache-2.0
"""Stops on the contact plant end within the formula, and the tables of docs/stopping.md."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / 'scripts'))
import write_stopping as write  # noqa: E402

pytest.importorskip('mujoco', reason='needs the extra mujoco')

from c3p_description import load  # noqa: E402
from c3p_experiments.robots.stops import stop_lines, stops_json  # noqa: E402
from c3p_experiments.stopping.experiment import (  # noqa: E402
    PARTS,
    RUNS,
    cases_of,
    other_jobs,
    summary,
    table_jobs,
)
from c3p_experiments.stopping.trial import StopTrial, stop  # noqa: E402
from c3p_hardware.stopping import StopCase  # noqa: E402


@pytest.mark.parametrize('part', [part for part in PARTS if part not in ('process', 'computer')])
def test_a_stop_ends_within_the_formula(part):
    one = stop(('c3p', part, StopCase(0.3, 10.0, 0.0, 0.5), 7))
    # the formula is a bound, and not a wide one
    assert 0.4 * one.formula < one.distance <= one.formula


def test_a_slope_that_is_too_steep_is_rolled_down_as_the_formula_states():
    one = stop(('c3p', 'node', StopCase(0.3, 0.0, math.radians(8.0), 0.8), 7))
    assert math.isinf(one.formula) and math.isinf(one.distance)


def test_jobs_have_seeds_of_their_own_and_are_as_many_as_the_progress_expects():
    jobs = [*table_jobs('c3p', 4, 0), *other_jobs(0)]
    assert len(jobs) == RUNS and len({(job[0], job[1], job[3]) for job in jobs}) == RUNS


def test_summaries_count_what_is_beyond_rolls_on_and_has_fallen():
    case = StopCase(0.5)
    some = [StopTrial('c3p', 'bus', case, way, formula, 1.0) for way, formula in (
        (0.1, 0.2), (0.3, 0.2), (math.inf, math.inf), (math.nan, 0.2), (math.inf, 0.2))]
    found = summary(some)
    assert (found['stops'], found['fallen'], found['beyond'], found['rolled_on']) == (4, 1, 2, 1)
    assert cases_of(some[:2]) == [{
        'part': 'bus', 'speed_mps': 0.5, 'load_kg': 0.0, 'slope_deg': 0.0, 'friction': 0.6,
        'p50_m': 0.2, 'p99_m': 0.3, 'worst_m': 0.3, 'formula_m': 0.2}]


def test_a_robot_has_its_table_in_text_and_json():
    robot = load('c3p')
    lines = stop_lines(robot)
    assert len(lines) == 1 + len(PARTS) and 'motor: quick stop (1)' in lines[1]
    assert 'rolls on' in lines[-1]
    found = stops_json(robot)
    assert [row['part'] for row in found] == list(PARTS)
    assert found[-1]['distances'][-1]['distance_m'] is None
    assert f'{found[0]["distances"][1]["distance_m"]:.2f}' in lines[1]


def test_the_page_has_the_present_reactions():
    page = write.PAGE.read_text(encoding='utf-8')
    assert '\n'.join(write.parts()) in page
    assert all(f'### {part.capitalize()}: ' in page for part in PARTS)
