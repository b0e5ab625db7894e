# SPDX-License-Identifier: Apache-2.0
"""The page of operations and times of methods."""

import pytest

from c3p_experiments.kelly.methods import first_more, printed, run_methods


def test_the_printed_formulas_give_the_printed_numbers_for_six_joints():
    # totals that are quoted beside the formulas
    assert printed('newton_euler', 6) == (852, 738)
    assert printed('hollerbach', 6) == (2195, 1719)
    assert printed('featherstone', 6) == (1533, 1415)
    assert printed('armstrong', 6) is None


@pytest.mark.parametrize(('more', 'less', 'first'), [
    ([1, 2, 3], [2, 2, 2], 7), ([3, 3, 3], [2, 2, 2], 3), ([1, 1, 1], [2, 2, 2], None)])
def test_the_crossing_is_where_one_exceeds_the_other_for_good(more, less, first):
    assert first_more(more, less, (3, 5, 7)) == first


def test_the_page_is_written_and_methods_agree(tmp_path):
    metrics = run_methods(tmp_path, (2, 6))
    assert metrics['reached'] and (tmp_path / 'methods.png').stat().st_size > 10_000
    forward = {name: row['multiplications'][1] for name, row in metrics['methods'].items()}
    assert forward['walker_orin_1'] > forward['walker_orin_2'] > forward['walker_orin_3']
    assert forward['featherstone'] < forward['armstrong']
