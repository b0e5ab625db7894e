# SPDX-License-Identifier: Apache-2.0
"""Campaigns whose workers are killed have the rows of undisturbed ones."""

import os
import signal
from pathlib import Path

import pytest
from campaign_tasks import fatal

from c3p_experiments.campaigns import campaign
from c3p_experiments.campaigns.draw import CLOCKS, run_draw
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.parallel.workers import Workers

# drives of one second
SPEC = CampaignSpec(controller='paper', plant='analytic', goal=(0.0, 0.4, 0.0), timeout=1.0)


def test_a_campaign_whose_worker_is_killed_has_the_rows_of_an_undisturbed_one(tmp_path):
    whole = [run_draw(SPEC, index) for index in range(8)]
    hit = []

    def progress(done, reached):
        # the processes that this one started: one of them computes, or is about to
        if done in (2, 5):
            children = Path('/proc/self/task').glob('*/children')
            pids = [int(pid) for file in children for pid in file.read_text().split()
                    if b'parallel.worker' in Path(f'/proc/{pid}/cmdline').read_bytes()]
            hit.append(max(pids))
            os.kill(max(pids), signal.SIGKILL)

    if not Path('/proc/self/task').is_dir():
        pytest.skip('needs /proc')
    result = campaign.run_campaign(SPEC, 8, tmp_path, Workers(jobs=2), progress=progress)
    assert len(set(hit)) == 2

    def lasting(rows):
        return [{name: value for name, value in row.items() if not name.startswith(CLOCKS)}
                for row in rows]

    assert lasting(result.rows) == lasting(whole)


def test_a_draw_that_ends_every_worker_is_a_row_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(campaign, 'run_draw', fatal)
    rows = campaign.run_campaign(SPEC, 4, tmp_path, Workers(jobs=2)).rows
    assert [row['index'] for row in rows] == [0, 1, 2, 3]
    assert rows[1]['failure'] == 'worker ended with exit code 7, 3 times'
    assert not rows[1]['reached'] and rows[1]['latency_s'] == draw(SPEC, 1).latency
    assert all(row['failure'].startswith('quick') for row in rows if row['index'] != 1)
