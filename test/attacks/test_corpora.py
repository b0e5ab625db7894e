# SPDX-License-Identifier: Apache-2.0
"""Inputs kept by scripts/fuzz_readers.py: read, or refused by the documented error."""

import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

sys.path.insert(0, str(Path(__file__).parents[2] / 'scripts'))
from fuzz_readers import CORPORA, LONGEST, TARGETS  # noqa: E402


@pytest.mark.parametrize('name', TARGETS)
def test_kept_inputs_and_seeds_are_read_or_refused_by_the_documented_error(name):
    target = TARGETS[name]
    use = target.make()
    kept = sorted((CORPORA / name).glob('*'))
    assert kept and all(path.stat().st_size <= LONGEST for path in kept)
    for data in (*target.seeds(), *(path.read_bytes() for path in kept)):
        use(data)
