# SPDX-License-Identifier: Apache-2.0
"""Parameter files: read as the node would, changed without a loss."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.settings import CardError
from c3p_hardware.tools.parameter_file import hardware_values, merged, schema

FILE = """\
# the robot of room 12
/**:
  ros__parameters:
    use_sim_time: false   # never
    rate: 100.0
/robot/hardware_interface:   # cards
  ros__parameters:
    rate: 400.0  # fast
    encoders:
      zeros: [1, 2, 3]  # of spring
      counts:
        - 4096
        - 4096
        - 8192   # the new one
      node_ids: [11, 12, 13]
velocity_controller:
  ros__parameters: {mpc.across_weight: 3.0}
"""


def numbers(count):
    return st.lists(st.integers(0, 2**31), min_size=count, max_size=count)


def test_values_are_those_of_the_schema_and_then_of_the_file(tmp_path):
    file = tmp_path / 'robot.yaml'
    file.write_text(FILE)
    assert hardware_values().rate == 200.0
    values = hardware_values([file], **{'bus.channel': 'can7', 'bus.interface': None})
    assert values.rate == 400.0 and values.encoders.counts == [4096, 4096, 8192]
    assert values.bus.channel == 'can7' and values.bus.interface == 'socketcan'
    assert values.drives.node_ids == schema()['drives.node_ids']['default_value']


@pytest.mark.parametrize(('text', 'says'), [
    ('hardware_interface: {ros__parameters: {rat: 1.0}}', "no parameter 'rat'; did you mean"),
    ('hardware_interface: {ros__parameters: {rate: fast}}', "rate = 'fast': must be a double"),
    ('hardware_interface: {ros__parameters: {rate: true}}', 'must be a double'),
    ('hardware_interface: {ros__parameters: {rate: 5000.0}}', 'must be 10.0 to 1000.0'),
    ('hardware_interface: {ros__parameters: {encoders: {zeros: 4}}}', 'must be an int_array'),
    ('hardware_interface: {ros__parameters: {fault_reaction: hope}}', 'must be one of'),
    ('[1, 2]', 'must have names of nodes'), ('a: [', 'cannot be read as YAML'),
])
def test_what_the_node_would_refuse_is_refused(text, says, tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text(text)
    with pytest.raises(CardError, match=says.replace('[', r'\[')):
        hardware_values([file])


@given(zeros=numbers(3), serials=numbers(3), counts=numbers(3))
def test_only_the_values_change(zeros, serials, counts):
    wanted = {'encoders.zeros': zeros, 'encoders.serial_numbers': serials,
              'encoders.counts': counts, 'drives.node_ids': [1, 2, 3]}
    text = merged(FILE, wanted)
    # what YAML reads is the old file with the new values, in the groups that were there
    expected = yaml.safe_load(FILE)
    block = expected['/robot/hardware_interface']['ros__parameters']
    block['encoders'] |= {'zeros': zeros, 'serial_numbers': serials, 'counts': counts}
    block['drives.node_ids'] = [1, 2, 3]
    assert yaml.safe_load(text) == expected
    # and every comment but that of an item that is gone is where it was
    kept = [line.split('#')[1] for line in FILE.splitlines() if '#' in line]
    assert all(f'#{comment}' in text for comment in kept)


@given(zeros=numbers(2))
def test_a_file_without_a_block_gets_one_and_twice_is_once(zeros):
    for text in ('', '# nothing', 'other:\n  ros__parameters:\n    a: 1\n'):
        once = merged(text, {'encoders.zeros': zeros})
        assert merged(once, {'encoders.zeros': zeros}) == once
        assert once.startswith(text)
        assert yaml.safe_load(once)['hardware_interface'] == {
            'ros__parameters': {'encoders.zeros': zeros}}


def test_a_block_in_one_line_is_refused_with_a_remedy():
    with pytest.raises(CardError, match='write one parameter per line'):
        merged('hardware_interface: {ros__parameters: {rate: 1.0}}', {'encoders.zeros': [1]})
