# SPDX-License-Identifier: Apache-2.0
"""Processes of a campaign: Ctrl-C in a terminal reaches their parent only."""

import signal

import pytest

from c3p_experiments.campaigns.workers import Workers, computing

pytest.importorskip('joblib', reason='needs the extra campaign: pip install .[campaign]')


def blocked(_number):
    """Return whether this process ignores Ctrl-C until its parent ends it."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_ctrl_c_reaches_the_parent_and_not_its_workers():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with computing(Workers(jobs=2)) as compute:
        assert all(compute(blocked, [(k,) for k in range(4)]))
        # while they run, the parent can be interrupted
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
