# SPDX-License-Identifier: Apache-2.0
"""The page of the elastic arm."""

import numpy as np
import pytest

from c3p_experiments.kelly.flexible import TABLE, rotating, run_flexible


def test_the_slew_keeps_its_energy_account_and_the_page_is_written(tmp_path):
    metrics = run_flexible(tmp_path, samples=12)
    assert metrics['reached'] and (tmp_path / 'flexible.png').stat().st_size > 10_000
    # the deflection stays small beside the 2 m of the beam, as the modes assume
    assert 0.02 < metrics['bending_after_m'] <= metrics['bending_max_m'] < 0.2


def test_shortening_makes_the_difference_between_stiffening_and_softening():
    out, inside, without = rotating((0, 2))
    assert out[1] == pytest.approx(TABLE[2], rel=1e-4)
    assert inside[1] == pytest.approx(np.sqrt(TABLE[2]**2 - 4.0), rel=1e-4) and without[1] < 3.0
