# SPDX-License-Identifier: Apache-2.0
"""Samples of the live page: what they contain, and which of them a page receives."""

import json

import numpy as np
import pytest
from robots import C3P

from c3p_viewers.dashboard.samples import History, Seen, sample
from c3p_viewers.sources.moment import Moment


def test_a_slow_browser_misses_nothing_and_a_new_run_begins_anew():
    history = History()
    for k in range(3):
        history.add({'t': float(k)})
    seen, first, status = history.after(Seen(), 100)
    assert [s['t'] for s in first] == [0.0, 1.0, 2.0] and status is None
    history.add({'t': 3.0})
    history.set_status({'a': 1})
    seen, then, status = history.after(seen, 100)
    assert [s['t'] for s in then] == [3.0] and status == {'a': 1}
    # the same status again is not new
    history.set_status({'a': 1})
    assert history.after(seen, 100) == (seen, [], None)
    # a simulation that was started again has an earlier time
    history.add({'t': 0.5})
    assert [s['t'] for s in history.after(Seen(), 100)[1]] == [0.5]
    assert [s['t'] for s in history.after(seen, 100)[1]] == [0.5]


def test_a_sample_is_json_without_topics_and_with_numbers_that_are_not_finite():
    bare = Moment(1.0, *np.zeros((4, 3)))
    shown = sample(C3P, bare)
    assert shown['p'] is None and shown['q'] is None and shown['s'] == [0.0, 0.0, 0.0]
    # all casters across X: no force along it
    assert shown['m'] == 0.0 and np.abs(shown['d'][1:]).max() < 1e-9 < abs(shown['d'][0])
    full = bare._replace(torque=np.array([1.0, np.nan, np.inf]), residual=np.ones((3, 2)),
                         pose=np.zeros(3), suspect=1)
    text = json.dumps(sample(C3P, full), allow_nan=False)
    assert json.loads(text)['q'] == [1.0, None, None]
    assert json.loads(text)['r'] == pytest.approx([2**0.5] * 3, abs=1e-5)
