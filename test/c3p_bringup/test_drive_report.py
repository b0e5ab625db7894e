# SPDX-License-Identifier: Apache-2.0
"""Report of a drive by another process: the same metrics and files, also without that process."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup.drive_report import Job, Reporter, write  # noqa: E402

GOLDEN = Path(__file__).parents[1] / 'data' / 'golden_bag'


def job(out):
    """Return the job of the golden bag, with a goal that it misses."""
    return Job(GOLDEN, 'c3p', (9.0, 0.0, 0.0), (0.02, 0.02), out)


def same(a, b):
    """Compare metrics but for the files."""
    assert a.keys() == b.keys()
    for key in a.keys() - {'files'}:
        assert a[key] == b[key] or np.isnan(a[key]) and np.isnan(b[key]), key


@pytest.fixture(scope='module')
def here(tmp_path_factory):
    """Return metrics and files that this process writes."""
    return write(job(tmp_path_factory.mktemp('here')), lambda found: 'too far')


def check_files(metrics):
    for kind, start in (('picture', b'\x89PNG'), ('picture_pdf', b'%PDF')):
        assert Path(metrics['files'][kind]).read_bytes()[:4] == start


def test_the_other_process_writes_the_same(here, tmp_path):
    """The reason for a missed goal is asked for where the drive is known."""
    asked = []
    with Reporter() as reporter:
        reporter.start()
        there = reporter.write(job(tmp_path), lambda found: asked.append(found) or 'too far')
    same(there, here)
    assert there['missed'] == 'too far' and asked[0]['reached'] is False
    check_files(there)


@pytest.mark.parametrize('started', [False, True])
def test_the_report_is_written_without_that_process(here, tmp_path, started):
    """It was not started, or has been killed."""
    with Reporter() as reporter:
        if started:
            reporter.start()
            os.kill(reporter._process.pid, signal.SIGKILL)
            while reporter._process.running:
                pass
        there = reporter.write(job(tmp_path), lambda found: 'too far')
    same(there, here)
    check_files(there)


def test_an_error_of_the_report_is_raised_here(tmp_path):
    with Reporter() as reporter:
        reporter.start()
        with pytest.raises(ValueError, match='no_such_robot'):
            reporter.write(job(tmp_path)._replace(robot='no_such_robot'), lambda found: '')


def test_a_process_that_has_nothing_to_write_ends_at_once():
    with Reporter() as reporter:
        reporter.start()
    assert reporter._process.code == -signal.SIGKILL
