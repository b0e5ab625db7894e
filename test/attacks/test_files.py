# SPDX-License-Identifier: Apache-2.0
"""
Damaged files of every kind that the suite opens, except bags (test_bag_files.py).

Each variant is read or refused by the suite's own error, in one line; it opens no file elsewhere,
runs nothing and connects to nothing. The variants are the same in every run; `pytest
--hypothesis-profile explore` tries fifty times as many.
"""

import pytest

pytest.importorskip('xacro', reason='pip install .[sim]')
pytest.importorskip('trimesh', reason='pip install .[view]')

from damage import damaged, variants  # noqa: E402
from file_kinds import plain_kinds, put, topics_kind  # noqa: E402
from trial import count, explain, outcome  # noqa: E402

SEED = 13
KINDS = {kind.name: kind for kind in plain_kinds()}
# of a kind with weight 1
BASE = 120


def attack(kind, folder):
    """Return the failures among damaged variants of a kind."""
    failures = []
    for number, source in variants(SEED, kind.name, count(BASE * kind.weight)):
        seed = source.choice(kind.seeds)
        path = put(kind, folder, damaged(seed, source, kind.text, kind.seeds))
        for use in kind.opens:
            if wrong := outcome(use, path, kind.refusals, [folder]):
                failures.append(explain(kind.name, number, wrong))
    return failures


@pytest.mark.parametrize('name', KINDS)
def test_sound_files_are_read_or_refused_as_they_should(name, tmp_path):
    kind = KINDS[name]
    for seed in kind.seeds:
        for use in kind.opens:
            assert outcome(use, put(kind, tmp_path, seed), kind.refusals, [tmp_path]) is None


@pytest.mark.parametrize('name', KINDS)
def test_damaged_files_end_in_success_or_in_one_line(name, tmp_path):
    assert attack(KINDS[name], tmp_path) == []


def test_damaged_topics_files_end_in_success_or_in_one_line(tmp_path):
    pytest.importorskip('rclpy', reason='pip install .[jazzy]')
    assert attack(topics_kind(), tmp_path) == []
