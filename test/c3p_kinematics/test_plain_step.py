# SPDX-License-Identifier: Apache-2.0
"""The step of the odometry without a compiler, and in a copy: the same numbers."""

import io
import os
import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from robots import C3P
from source_tree import python_path

from c3p_kernels.compiled import COMPILED
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry

DT = 0.005
SAMPLES = 240


def numbers(estimate):
    """Return all numbers of an estimate in a row."""
    slip = estimate.slip
    grip = estimate.grip
    faults = estimate.faults
    parts = (estimate.pose, estimate.twist, estimate.pose_covariance, estimate.twist_covariance,
             estimate.residual, estimate.doubt, estimate.distance, slip.residual, slip.suspect,
             slip.slipping, slip.likelihood, slip.statistic, grip.excess, grip.held, grip.twist,
             faults.alarm, faults.probability, faults.statistic, faults.speed)
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])


def samples():
    """Yield time, angles and rates of a drive with a slip, a spin, a gap and a wrong encoder."""
    steering, wheel, twist = np.array([0.4, 1.9, -2.0]), np.zeros(3), np.zeros(3)
    for k in range(SAMPLES):
        twist = twist + np.clip([0.3 * np.sin(0.02 * k), 0.3, 0.4 * np.cos(0.03 * k)] - twist,
                                -0.02, 0.02)
        rolling, turning, _ = inverse(C3P, steering, twist)
        rolling = rolling + np.array([8.0, 0.0, 0.0]) * (60 <= k < 110) + 60.0 * (130 <= k < 138)
        steering, wheel = steering + DT * turning, wheel + DT * rolling
        seen = steering + np.array([0.0, 0.5, 0.0]) * (k >= 170)
        rates = (rolling, turning) if k % 11 else ()
        yield DT * k + 0.5 * (k >= 220), seen, wheel, *rates


def driven():
    """Return the numbers of all estimates."""
    odometry = Odometry(C3P)
    return np.array([numbers(odometry.step(*sample)) for sample in samples()])


def test_plain_python_has_the_numbers_of_the_machine_code():
    if not COMPILED:
        pytest.skip('without a compiler there is one of them')
    code = ('import sys, numpy as np, test_plain_step as t\n'
            'assert not t.COMPILED\nnp.save(sys.stdout.buffer, t.driven())')
    here = Path(__file__).parent
    child = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True,
                           env={**os.environ, 'NUMBA_DISABLE_JIT': '1',
                                'PYTHONPATH': python_path(here, here.parent)})
    plain, compiled = np.load(io.BytesIO(child.stdout)), driven()
    # a slip, a held twist and an alarm of the fault monitor are among them
    assert plain.shape == compiled.shape and compiled.shape[0] == SAMPLES
    np.testing.assert_allclose(plain, compiled, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('copied', [deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_a_copy_goes_on_by_itself_with_the_same_bits(copied):
    drive, odometry = list(samples()), Odometry(C3P)
    for sample in drive[:150]:
        odometry.step(*sample)
    other = copied(odometry)
    for sample in drive[150:]:
        ours, theirs = odometry.step(*sample), other.step(*sample)
        assert np.array_equal(numbers(ours), numbers(theirs))
    pose = odometry.pose
    other.reset((1.0, 2.0, 3.0))
    assert np.array_equal(odometry.pose, pose) and not np.array_equal(other.pose, pose)


def test_the_drive_of_these_tests_has_every_branch():
    odometry = Odometry(C3P)
    estimates = [odometry.step(*sample) for sample in samples()]
    assert any(e.slip.slipping for e in estimates) and any(e.grip.held for e in estimates)
    assert any(e.faults.alarm for e in estimates) and estimates[-1].gaps == 1
