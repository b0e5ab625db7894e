# SPDX-License-Identifier: Apache-2.0
"""What rows say: shares, quantiles that failures do not improve, rank correlations, the worst."""

import numpy as np
import pytest
from matplotlib.image import imread

from c3p_experiments.campaigns.page import campaign_page, plain
from c3p_experiments.campaigns.spec import CampaignSpec
from c3p_experiments.campaigns.summary import (
    EFFECTS,
    chance,
    correlations,
    quantiles,
    summarise,
    text,
    worst,
)
from c3p_experiments.campaigns.table import Table

RANDOM = np.random.default_rng(4)


def rows_of(count, missed=()):
    """Return draws in which the final error grows with the latency and with nothing else."""
    rows = []
    for index, (latency, mass) in enumerate(RANDOM.uniform(size=(count, 2))):
        row = {'index': index, 'latency_s': latency, 'platform_mass_kg': mass, 'friction': None,
               'wheel_counts': 2000, 'reached': index not in missed, 'failure': ''}
        if index in missed:
            row['failure'] = 'PlantError: fallen'
        else:
            row |= {effect: float(np.exp(latency)) for effect in EFFECTS}
        rows.append(row)
    return Table.of(rows)


def column(values):
    """Return a table with the column x."""
    return Table.of({'index': i, 'x': value} for i, value in enumerate(values))


PARAMETERS = ('latency_s', 'platform_mass_kg', 'friction', 'wheel_counts')


def test_quantiles_are_values_that_occurred():
    table = column(RANDOM.permutation(200))
    assert quantiles(table, 'x') == {'p50': 99.0, 'p90': 179.0, 'p99': 197.0, 'max': 199.0}


def test_a_drive_without_a_value_counts_as_worst():
    table = column([*range(95), *5 * [None]])
    assert quantiles(table, 'x') == {'p50': 49.0, 'p90': 89.0, 'p99': None, 'max': None}
    assert quantiles(column(5 * [None]), 'x') is None and quantiles(column([1.0]), 'y') is None


def test_correlations_are_of_ranks_and_the_strongest_comes_first():
    found = correlations(rows_of(60, missed=(3, 7)), PARAMETERS, 'final_error_m')
    # a monotone function has ρ = 1 however curved it is; what does not vary is left out
    assert list(found) == ['latency_s', 'platform_mass_kg']
    assert found['latency_s'] == pytest.approx(1.0, abs=1e-12)
    assert abs(found['platform_mass_kg']) < 0.5


def test_rank_correlation_by_its_definition():
    rows = [{'index': 0, 'a': float(a), 'b': float(b)}
            for a, b in RANDOM.normal(size=(40, 2)) @ [[1, .7], [0, .7]]]
    ranks = [np.argsort(np.argsort([row[name] for row in rows])) for name in 'ab']
    # without ties: 1 − 6 Σd²/(N (N² − 1))
    expected = 1 - 6 * np.sum((ranks[0] - ranks[1])**2) / (40 * (40**2 - 1))
    assert correlations(Table.of(rows), ['a'], 'b')['a'] == pytest.approx(expected, abs=1e-12)


def test_too_few_draws_or_no_variation_have_no_correlation():
    assert correlations(rows_of(5), PARAMETERS, 'final_error_m') == {}
    same = Table.of({'index': i, 'a': float(i), 'b': 1.0} for i in range(20))
    assert correlations(same, ['a'], 'b') == {}


def test_one_in_a_hundred_exceeds_chance():
    x, y = RANDOM.normal(size=(2, 2000, 50))
    ranks = [np.argsort(np.argsort(values, axis=1), axis=1) - 24.5 for values in (x, y)]
    rho = np.sum(ranks[0] * ranks[1], axis=1) / np.sum(ranks[0]**2, axis=1)
    # binomial: 20 ± 4.5 of 2000
    assert 5 <= np.sum(np.abs(rho) > chance(50)) <= 40


def test_the_worst_are_those_that_missed_and_then_the_largest():
    table = rows_of(20, missed=(4,))
    found = worst(table, 'final_error_m', 3)
    assert found[0] == {'index': 4, 'final_error_m': None}
    values = sorted(table.column('final_error_m', 0.0), reverse=True)
    assert [row['final_error_m'] for row in found[1:]] == values[:2]


def test_the_share_that_reached_has_its_exact_interval():
    summary = summarise(rows_of(200, missed=(1,)), PARAMETERS)
    assert (summary['draws'], summary['reached']) == (200, 199)
    low, high = summary['reached_interval']
    # Clopper-Pearson by its definition: at the limits the tails have 2.5 %
    assert low**200 + 200 * low**199 * (1 - low) == pytest.approx(0.025, abs=1e-6)
    assert 1 - high**200 == pytest.approx(0.025, abs=1e-6)
    assert summary['failures'] == {'1': 'PlantError: fallen'}
    assert summary['quantiles']['final_error_m']['max'] is None
    assert 'reached 199 of 200 (99.5 %' in text(summary)
    assert 'depends on: latency_s +1.00' in text(summary)


def test_all_and_none_reached_have_an_interval_too():
    # (α/2)^(1/N)
    assert summarise(rows_of(10), PARAMETERS)['reached_interval'] == pytest.approx(
        [0.025**0.1, 1.0])
    none = summarise(rows_of(10, missed=range(10)), PARAMETERS)
    assert none['reached_interval'] == pytest.approx([0.0, 1 - 0.025**0.1])
    assert none['worst'] == {} and none['quantiles'] == {}


@pytest.mark.parametrize('count, missed, height', [(30, (2,), 3), (2, (0, 1), 2), (5, (), 2)])
def test_a_page_is_drawn_whatever_there_is(count, missed, height, tmp_path):
    rows = rows_of(count, missed)
    files = campaign_page(CampaignSpec(plant='analytic'), rows, summarise(rows, PARAMETERS),
                          tmp_path / 'page')
    assert [file.suffix for file in files] == ['.png', '.pdf']
    picture = imread(files[0])
    # something is drawn in each panel of the page, which is smaller without correlations
    assert picture.shape[0] == (2760 if height == 3 else 1980)
    panels = [np.array_split(row, 3, axis=1) for row in np.array_split(picture, height)]
    assert all((part[..., :3].min(axis=-1) < 0.5).mean() > 1e-3 for row in panels for part in row)


def test_columns_have_names_for_people():
    assert plain('platform_inertia_kgm2') == 'platform inertia [kg m²]'
    assert plain('pivot_factor') == 'pivot factor'
