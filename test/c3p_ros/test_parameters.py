# SPDX-License-Identifier: Apache-2.0
"""Parameters: every schema of the suite, and what is refused with which words."""

import dataclasses
import math
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rcl_interfaces.msg import SetParametersResult  # noqa: E402
from rcl_interfaces.srv import DescribeParameters  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_ros.parameters import (  # noqa: E402
    ParameterError,
    Parameters,
    overrides_of,
    read_schema,
    violation,
)
from c3p_ros.schema import TYPES, typed, values_class  # noqa: E402

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted(ROOT.glob('c3p_*/**/*_parameters.yaml'))
PROBE = """
probe:
  gain: {type: double, default_value: 1, description: A gain., validation: {"bounds<>": [0, 10]}}
  count: {type: int, default_value: 3, description: A count., validation: {"gt<>": [0]}}
  mode: {type: string, default_value: a, description: One., validation: {"one_of<>": [[a, b]]}}
  pair: {type: double_array, default_value: [1, 2], description: Two.,
         validation: {"fixed_size<>": [2]}}
  active: {type: bool, default_value: true, description: Switch.}
  size: {type: double, default_value: 2.0, description: Fixed., read_only: true}
  name: {type: string, default_value: x, description: A name., validation: {"not_empty<>": []}}
  free: {type: double, default_value: .nan, allow_nan: true, description: nan is no limit.,
         validation: {"gt_eq<>": [0]}}
  group:
    inner: {type: double, default_value: 0.5, description: Nested., validation: {"lt<>": [1]}}
"""


@pytest.fixture
def make(bench, tmp_path):
    schema = tmp_path / 'probe_parameters.yaml'
    schema.write_text(PROBE)

    class Probe(Node):
        def __init__(self, **options):
            super().__init__('probe', **options)
            self.parameters = Parameters(self, schema)

    return lambda **given: bench.add(Probe, **given)


def test_there_are_schemas():
    assert len(SCHEMAS) >= 7


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_every_schema_is_complete_and_its_defaults_pass(path):
    for name, entry in read_schema(path).items():
        assert entry['type'] in TYPES
        assert len(entry['description'].strip()) > 10, f'{name} is not described'
        assert not violation(name, entry, entry['default_value'])
        assert set(entry) <= {'type', 'default_value', 'description', 'read_only', 'validation',
                              'allow_nan', 'additional_constraints'}, name


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_every_number_that_can_change_while_driving_has_a_range(path):
    for name, entry in read_schema(path).items():
        if entry['type'] in ('double', 'int') and not entry.get('read_only'):
            assert entry.get('validation'), f'{path.name}: {name} takes any number'


def test_defaults_are_values_and_whole_numbers_become_real(make):
    values = make().parameters.value
    assert values.gain == 1.0 and isinstance(values.gain, float)
    assert values.pair == [1.0, 2.0] and values.group.inner == 0.5 and math.isnan(values.free)


def test_whole_numbers_are_taken_for_real_ones(make):
    values = make(gain=4, pair=[3, 4]).parameters.value
    assert values.gain == 4.0 and isinstance(values.gain, float)
    assert values.pair == [3.0, 4.0] and isinstance(values.pair[0], float)


@pytest.mark.parametrize('given, words', [
    ({'gian': 1.0}, ['unknown', "'gian'", "did you mean ['gain']"]),
    ({'gruop.inner': 1.0}, ['unknown', 'did you mean', 'group.inner']),
    ({'inner': 0.3}, ['unknown', 'did you mean', 'group.inner']),
    ({'linear.gain': 0.3}, ['unknown', 'did you mean', 'gain']),
    ({'gain': 'fast'}, ["gain = 'fast'", 'must be a double']),
    ({'gain': True}, ['gain = True', 'must be a double']),
    ({'count': 1.5}, ['count', '1.5', 'must be an int']),
    ({'gain': 11.0}, ['gain = 11.0', '0', '10']),
    ({'gain': math.nan}, ['gain = nan', 'finite']),
    ({'gain': math.inf}, ['gain = inf', 'finite']),
    ({'count': 0}, ['count = 0', 'more than 0']),
    ({'mode': 'c'}, ["mode = 'c'", 'one of a, b']),
    ({'pair': [1.0]}, ['pair', 'must have 2 values']),
    ({'name': ''}, ['name', 'not be empty']),
    ({'group.inner': 1.0}, ['group.inner = 1.0', 'less than 1']),
])
def test_what_cannot_be_used_is_refused_by_name_and_value(make, given, words):
    with pytest.raises(ParameterError) as refused:
        make(**given)
    text = str(refused.value)
    assert all(word in text for word in ['probe', *words]), text
    assert '\n' not in text


def test_nan_is_no_limit_only_where_the_schema_says_so(make):
    assert make(free=3.0).parameters.value.free == 3.0


@pytest.mark.parametrize('name, value, words', [
    ('gain', -0.1, 'gain'), ('gain', math.nan, 'gain'), ('count', 0, 'count = 0'),
    ('mode', 'c', "mode = 'c'"), ('pair', [1.0, 2.0, 3.0], '2 values'), ('name', '', 'empty'),
    ('size', 3.0, 'read-only'), ('gain', 'fast', 'type'), ('gian', 1.0, 'undeclared')])
def test_a_change_that_cannot_be_is_rejected_with_its_reason(bench, make, name, value, words):
    node = make()
    before = vars(node.parameters.value).copy()
    result = bench.set_parameter('probe', name, value)
    assert not result.successful
    assert words in result.reason, result.reason
    after = vars(node.parameters.value)
    assert all(str(after[k]) == str(before[k]) for k in before)


def test_an_accepted_change_is_a_value_at_once_and_is_applied(bench, make):
    node, applied = make(), []
    node.parameters.changed = lambda: applied.append(node.parameters.value.gain)
    assert bench.set_parameter('probe', 'gain', 2.5).successful
    assert applied == [2.5] and node.parameters.value.gain == 2.5


def test_a_combination_that_the_node_rejects_leaves_everything_as_it_was(bench, make):
    node, applied = make(), []

    def check(values):
        if values.gain > 5 and values.mode == 'a':
            raise ValueError('gain above 5 needs another mode')

    node.parameters.check, node.parameters.changed = check, lambda: applied.append(1)
    result = bench.set_parameter('probe', 'gain', 6.0)
    assert not result.successful and 'another mode' in result.reason
    assert node.parameters.value.gain == 1.0 and node.get_parameter('gain').value == 1.0
    assert node.set_parameters_atomically([Parameter('gain', value=6.0),
                                           Parameter('mode', value='b')]).successful
    assert node.parameters.value.gain == 6.0 and len(applied) == 1


def test_validation_applies_nothing_where_a_later_callback_rejects(bench, make):
    node, applied = make(), []
    node.parameters.changed = lambda: applied.append(node.parameters.value.gain)
    refusal = SetParametersResult(successful=False, reason='not now')
    # callbacks run in the reverse order of their registration; this one behind the node's
    node._on_set_parameters_callbacks.append(lambda changes: refusal)
    before = node.parameters.value
    assert bench.set_parameter('probe', 'gain', 2.5).reason == 'not now'
    assert node.parameters.value is before and applied == []


def test_parameters_of_rclpy_change_nothing(bench, make):
    node, applied = make(), []
    node.parameters.changed = lambda: applied.append(1)
    assert bench.set_parameter('probe', 'use_sim_time', False).successful and applied == []


def test_overrides_are_where_this_distribution_of_rclpy_keeps_them(make):
    """The only use of a private attribute of rclpy; no parameter is checked without it."""
    given = overrides_of(make(gain=4, mode='b'))
    assert {name: (p.value, p.type_) for name, p in given.items()} == {
        'gain': (4, Parameter.Type.INTEGER), 'mode': ('b', Parameter.Type.STRING)}
    given.clear()


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_values_are_a_frozen_dataclass_with_the_types_of_the_schema(path):
    entries = read_schema(path)
    kind = values_class(entries)
    values = typed(kind, {name: entry['default_value'] for name, entry in entries.items()})

    def flat(record, prefix=''):
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            if dataclasses.is_dataclass(value):
                yield from flat(value, f'{prefix}{field.name}.')
            else:
                yield f'{prefix}{field.name}', field.type, value

    found = list(flat(values))
    assert {name: kind for name, kind, _ in found} == {
        name: TYPES[entry['type']] for name, entry in entries.items()}
    for name, kind, value in found:
        assert isinstance(value, getattr(kind, '__origin__', kind)), name
        assert value == entries[name]['default_value'] or value != value
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(values, found[0][0].split('.')[0], 0)


def test_several_at_once_are_all_taken_or_none(make):
    node = make()
    result = node.set_parameters_atomically([Parameter('gain', value=2.0),
                                             Parameter('count', value=-1)])
    assert not result.successful
    assert node.parameters.value.gain == 1.0 and node.get_parameter('gain').value == 1.0


def test_a_user_is_shown_meaning_and_range(bench, make):
    make()
    answer = bench.call(DescribeParameters, 'probe/describe_parameters',
                        DescribeParameters.Request(names=['gain', 'size', 'mode']))
    gain, size, mode = answer.descriptors
    assert gain.description == 'A gain.'
    assert (gain.floating_point_range[0].from_value, gain.floating_point_range[0].to_value) == (
        0.0, 10.0)
    assert size.read_only and 'one_of' in mode.additional_constraints


@pytest.mark.parametrize('content', ['', 'a: 1\nb: 2', '[1, 2]', 'node: {x: {type: complex}}',
                                     'node: {x: 3}', 'node: {on: {type: bool}}', 'node: 3'])
def test_a_file_that_is_no_schema_is_refused_by_its_name(tmp_path, content):
    path = tmp_path / 'wrong.yaml'
    path.write_text(content)
    with pytest.raises(ParameterError, match='wrong.yaml'):
        read_schema(path)


def test_a_refused_parameter_leaves_a_node_of_the_suite_driving_with_the_old_one(bench):
    node = bench.add(VelocityControllerNode)
    before = node.parameters.value.linear_gain
    assert not bench.set_parameter('velocity_controller', 'linear_gain', -1.0).successful
    assert node.parameters.value.linear_gain == before
    assert bench.set_parameter('velocity_controller', 'linear_gain', 12.0).successful
    assert node.parameters.value.linear_gain == 12.0
