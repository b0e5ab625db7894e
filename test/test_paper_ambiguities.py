# SPDX-License-Identifier: Apache-2.0
"""What docs/papers/el_shenawy.md says of the papers' readings, by scripts/paper_ambiguities.py."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))
from paper_ambiguities import (  # noqa: E402
    fusion_laws,
    ideal_triangle,
    position_laws,
    straight,
    triangle,
    turn_back,
)

PAGE = (Path(__file__).parents[1] / 'docs/papers/el_shenawy.md').read_text(encoding='utf-8')
LAWS = {law.name: law for law in fusion_laws()}
POSITIONS = {law.name: law for law in position_laws()}


def printed(law, of, columns):
    """Return what the page says of a law in the table with this number of columns."""
    rows = [[cell.strip() for cell in line.split('|')[1:-1]] for line in PAGE.split('\n')
            if line.startswith(f'| {law.name} |')]
    row = next(r for r in rows if len(r) == columns)
    return row[of]


def test_every_reading_stands_in_the_page_in_its_order():
    for laws in (LAWS, POSITIONS):
        places = [PAGE.index(f'\n| {name} |') for name in laws]
        assert len(places) == len(laws) > 10


@pytest.mark.parametrize('name', ['Ψ at rest: zero', 'Ψ at rest: computed, one argument'])
def test_an_indicator_of_zero_at_rest_never_starts(name):
    found = straight(LAWS[name])
    assert found.arrived is None and found.path_error == 0.0 and found.final_error == 4.0
    assert printed(LAWS[name], 4, 9) == '400.0'


def test_exponents_above_zero_leave_the_line():
    plain, both = straight(LAWS['λ = 0, 0 (Table I)']), straight(LAWS['λ = 1, 1'])
    assert both.path_error > 5.0 * plain.path_error
    # rounding differs between computers, and the start is an unstable place
    for law, found in ((LAWS['λ = 0, 0 (Table I)'], plain), (LAWS['λ = 1, 1'], both)):
        assert 100 * found.path_error == pytest.approx(float(printed(law, 2, 9)), rel=0.05)
        assert found.arrived == pytest.approx(float(printed(law, 3, 9)), rel=0.02)


@pytest.mark.parametrize('name', ['λ = 1, 1', 'cosine as printed',
                                  'cosine as printed, λ = 0.5, 0.5, stop'])
def test_turning_back_the_cosine_as_printed_pushes_on_or_lets_go(name):
    way = turn_back(LAWS[name])
    assert (way is None) == ('as printed' in name)
    assert printed(LAWS[name], 8, 9) == ('never' if way is None else f'{100 * way:.1f}')


@pytest.mark.parametrize('name, legs, error', [
    ('Table I, K_y = 0', 0, 0.0), ('K_y = 0.5', 3, 0.144), ('our line form', 3, 0.0),
    ('ϑ of the goal itself, one argument, stop', 2, 0.001), ('every letter', 2, 0.866)])
def test_an_ideal_robot_on_the_triangle(name, legs, error):
    law = POSITIONS[name]
    found = ideal_triangle(law.position())
    assert found[0] == legs and found[1] == pytest.approx(error, abs=0.001)
    assert printed(law, 9, 11) == f'{legs} of 3'
    assert float(printed(law, 10, 11)) == pytest.approx(100 * error, abs=0.11)


def test_the_casters_on_leg_3_tell_which_gains_the_paper_drove_with():
    # Fig. 10a shows −225°; the line itself needs −220.6°
    both, line = (triangle(POSITIONS[name]) for name in ('K_y = 0.5', 'our line form'))
    assert math.degrees(both.heading) == pytest.approx(-225.0, abs=1.5)
    assert math.degrees(line.heading) == pytest.approx(-220.6, abs=1.5)
    assert both.legs == line.legs == 3
    # 5 cm of each are the border of the zone in which a leg begins
    assert both.path_error > 0.14 and line.path_error < 0.05
    for name, found in (('K_y = 0.5', both), ('our line form', line)):
        assert 100 * found.path_error == pytest.approx(float(printed(POSITIONS[name], 6, 11)),
                                                       abs=1.0)
