# SPDX-License-Identifier: Apache-2.0
"""Joint states that cannot be used are refused with what they lack."""

import struct
import warnings

import numpy as np
import pytest
from found_bags import TYPES, Row, write_mcap, write_metadata

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.recompute import read_samples
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError
from c3p_description.reading.loader import load

C3P = load('c3p')
NAMES = list(C3P.sensed_joints)
KIND = 'sensor_msgs/msg/JointState'


def row(k, names, position, velocity=()):
    types = TYPES.types
    stamp = 10**9 + 5_000_000 * k
    header = types['std_msgs/msg/Header'](
        types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), '')
    message = types[KIND](header, names, *(np.array(values, float)
                                           for values in (position, velocity, ())))
    return Row('/joint_states', KIND, stamp, bytes(TYPES.serialize_cdr(message, KIND)))


UNUSABLE = {
    'a short velocity': ([(NAMES, [0] * 6, [0, 0])], 'velocity has 2 values for 6 names'),
    'a long velocity': ([(NAMES, [0] * 6, [0] * 7)], 'velocity has 7 values for 6 names'),
    'a short position': ([(NAMES, [0] * 3)], 'position has 3 values for 6 names'),
    'a name twice': ([([*NAMES, NAMES[0]], [0] * 7)], f'joint names are not unique: {NAMES[0]}'),
    'nan angles': ([(NAMES, [0] * 5 + [np.nan])], 'is not a finite number'),
    'two messages': ([(NAMES[:3], [0] * 3), (NAMES[3:], [0] * 3)],
                     'its joints are in several messages'),
    'another robot': ([(NAMES[:4], [0] * 4)], f'no {NAMES[4]}, {NAMES[5]} among'),
}


@pytest.mark.parametrize(('messages', 'says'), UNUSABLE.values(), ids=UNUSABLE)
def test_the_error_names_what_the_joint_states_lack(tmp_path, messages, says):
    rows = [row(k, *messages[k % len(messages)]) for k in range(10)]
    write_mcap(tmp_path / 'a.mcap', rows)
    write_metadata(tmp_path, rows, ['a.mcap'])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with Bag(tmp_path) as bag:
            for reader in (read_run, read_samples):
                with pytest.raises(BagError) as error:
                    reader(bag, C3P)
                assert says in f'{error.value}' and '\n' not in f'{error.value}'


def told_of(tmp_path, rows):
    """Return the refusals of both readers, empty where they read."""
    write_mcap(tmp_path / 'a.mcap', rows)
    write_metadata(tmp_path, rows, ['a.mcap'])
    found = []
    with Bag(tmp_path) as bag:
        for reader in (read_run, read_samples):
            try:
                reader(bag, C3P)
                found.append('')
            except BagError as error:
                found.append(f'{error}')
    return found


def rolling(k, speed=2.0):
    """Return names and angles of a robot that drives, at sample `k`."""
    steering = 0.3 * np.sin(0.005 * k + np.arange(3))
    return NAMES, [*steering, *(0.005 * speed * k * np.array([1.0, 0.9, 1.1]))]


def shifted(one, stamp):
    """Return a row with its message stamped and recorded at `stamp` [ns]."""
    data = one.data[:4] + struct.pack('<iI', *divmod(stamp, 10**9)) + one.data[12:]
    return one._replace(data=data)


TURNS = {'in turn': lambda k, rng: k % 2, 'in pairs': lambda k, rng: k // 2 % 2,
         'at random': lambda k, rng: rng.integers(2),
         'the other at a fifth of the rate': lambda k, rng: int(k % 6 == 0)}


@pytest.mark.parametrize('turn', TURNS.values(), ids=TURNS)
@pytest.mark.parametrize('other', ['stands', 'drives', 'stamps'])
def test_two_publishers_are_not_mixed(tmp_path, turn, other):
    rng = np.random.default_rng(1)
    rows = []
    for k in range(400):
        simulated = turn(k, rng)
        stands = (NAMES, [0.0] * 6)
        state = rolling(k) if not simulated or other == 'stamps' else (
            stands if other == 'stands' else rolling(k, -1.3))
        one = row(k, *state)
        if other == 'stamps' and not simulated:
            # beside a simulation with a clock that began at zero
            one = shifted(one, 1_790_000_000 * 10**9 + one.time)
        rows.append(one)
    for says in told_of(tmp_path, rows):
        assert 'two publishers on /joint_states take turns' in says and '\n' not in says
        assert 'record again' in says


@pytest.mark.parametrize('kind', ['alone', 'wraps', 'one encoder leaps', 'samples lost',
                                  'one spike in twenty'])
def test_one_publisher_is_read(tmp_path, kind):
    rng = np.random.default_rng(2)
    rows = []
    for k in range(400):
        names, angles = rolling(k, 12.0)
        angles = np.array(angles)
        if kind == 'wraps':
            # that stand at the angle where they wrap
            angles[:3] = np.pi + 0.002 * rng.normal(size=3)
            angles = np.angle(np.exp(1j * angles))
        if kind == 'one encoder leaps' and k % 2:
            angles[0] += 1.0
        if kind == 'one spike in twenty' and k % 20 == 0:
            angles += 1.5
        if kind != 'samples lost' or rng.uniform() > 0.3:
            rows.append(row(k, names, angles))
    assert told_of(tmp_path, rows) == ['', '']
