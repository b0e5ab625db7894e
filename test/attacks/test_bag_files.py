# SPDX-License-Identifier: Apache-2.0
"""
Damaged bags, and bags of damaged messages, through everything that opens one.

As test_files.py: read or refused in one line, and nothing else.
"""

import shutil

import pytest

pytest.importorskip('xacro', reason='pip install .[sim]')

from bag_kinds import OPENS, bags, lay, write_plain  # noqa: E402
from damage import damaged, variants  # noqa: E402
from trial import count, explain, outcome  # noqa: E402

from c3p_bags.storage.bag_writer import BagError  # noqa: E402
from c3p_description.model import ModelError  # noqa: E402

SEED = 13
REFUSALS = (BagError, ModelError)
# of a kind; each variant goes through one opener, and through all of them in turn
BASE = 4
KINDS = ('mcap', 'zstd', 'unindexed', 'sqlite', 'packed_messages', 'packed_files')


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    return bags(tmp_path_factory.mktemp('sound'))


def tried(bag, name, folder):
    wrong = outcome(OPENS[name], bag, REFUSALS, [folder])
    shutil.rmtree(folder / 'repaired', ignore_errors=True)
    return wrong and f'{name}: {wrong}'


@pytest.mark.parametrize('kind', KINDS)
def test_sound_bags_are_read(sound, tmp_path, kind):
    bag = lay(sound[1][kind], tmp_path / 'bag')
    if kind not in ('mcap', 'sqlite'):
        assert tried(bag, 'run', tmp_path) is None
        OPENS['run'](bag)
        return
    # what is no bag of a tricycle is refused, and packed ones are not repaired
    for name in ('look', 'robot', 'objects', 'run', 'recompute', 'report'):
        OPENS[name](bag)
    if not kind.startswith('packed_'):
        OPENS['repair'](bag)
    for name in OPENS:
        assert tried(bag, name, tmp_path) is None


@pytest.mark.parametrize('part', ['storage', 'metadata'])
@pytest.mark.parametrize('kind', KINDS)
def test_damaged_bags_end_in_success_or_in_one_line(sound, tmp_path, kind, part):
    files = sound[1][kind]
    name = next(n for n in files if (n == 'metadata.yaml') == (part == 'metadata'))
    failures = []
    for number, source in variants(SEED, f'{kind}_{part}', count(BASE)):
        data = damaged(files[name], source, part == 'metadata')
        bag = lay(files, tmp_path / f'bag_{number}', name, data)
        use = list(OPENS)[number % len(OPENS)]
        if wrong := tried(bag, use, tmp_path):
            failures.append(explain(f'{kind}_{part}', number, wrong))
        shutil.rmtree(bag)
    assert failures == []


def test_bags_of_damaged_messages_end_in_success_or_in_one_line(sound, tmp_path):
    failures = []
    for number, source in variants(SEED, 'messages', count(BASE)):
        found = list(sound[0])
        for _ in range(source.choice((1, 5, 40))):
            k = source.randrange(len(found))
            topic, kind, time, data = found[k]
            if source.random() < 0.1:
                time = source.choice((0, 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1))
            found[k] = topic, kind, time, data[:4] + damaged(data[4:], source, False)
        bag = write_plain(tmp_path / f'bag_{number}', found)
        use = list(OPENS)[number % len(OPENS)]
        if wrong := tried(bag, use, tmp_path):
            failures.append(explain('messages', number, wrong))
        shutil.rmtree(bag)
    assert failures == []
