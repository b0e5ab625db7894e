# SPDX-License-Identifier: Apache-2.0
"""Joint states that cannot be used are refused with what they lack."""

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
