# SPDX-License-Identifier: Apache-2.0
"""A steering encoder that is stuck is named where an analog sensor makes it tremble."""

import numpy as np
import pytest
from robots import C3P
from test_fault_monitor import AT, broken, drive, watched

from c3p_kinematics.fault_report import SURE


@pytest.mark.parametrize('seed', range(4))
def test_a_stuck_steering_encoder_that_trembles_is_named(seed):
    """A joint that hardly turns is set to its analog sensor, with a noise of 2 mrad."""
    rng = np.random.default_rng([seed, 9])
    steering, wheel, _ = drive(C3P, 80 + seed, AT + 500)
    shown, _ = broken('steering encoder stuck', steering, wheel, 2, rng)
    trembling = rng.normal(0.0, 0.002, len(shown))
    for k in range(1, len(shown)):
        if rng.random() > 0.3:
            trembling[k] = trembling[k - 1]
    shown[AT:, 2] += trembling[AT:]
    named = [r for r in watched(C3P, shown, wheel)[AT:]
             if r.caster >= 0 and r.confidence >= SURE]
    assert len(named) > 100 and all(r.caster == 2 for r in named)
    # where the predicted turn comes back to the encoder, a drift is as likely
    assert np.mean([r.kind == 'steering encoder stuck' for r in named]) > 0.8
