# SPDX-License-Identifier: Apache-2.0
"""
Every parameter of every node refuses what it cannot use, with its name, the value and the bounds.

A value of another type, a number that is not finite, one just outside the bounds: in a schema,
in the settings that are generated from it, and in a node at its start and while it runs.
"""

import inspect
from dataclasses import fields

import pytest
from robots import C3P
from setting_cases import EXTENDED, GENERATED, SCHEMAS, refused

from c3p_description.settings import violation
from c3p_description.texts import brief
from c3p_hardware.axes import card_settings
from c3p_hardware.settings import CardSettings
from c3p_ros.schema import read_schema, typed, values_class


def texts(name, value, words):
    """Return the possible errors; a tuple is shown as such, an empty text is not shown."""
    if words == 'not be empty':
        return {f'{name}: must {words}'}
    shown = {brief(value)}
    if isinstance(value, list):
        shown.add(brief(tuple(value)))
    return {f'{name} = {text}: must {words}' for text in shown}


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_every_entry_of_a_schema_refuses_what_it_cannot_use(path):
    count = 0
    for name, entry in read_schema(path).items():
        for value, words in refused(entry):
            assert violation(name, entry, value) in texts(name, value, words)
            count += 1
        assert violation(name, entry, entry['default_value']) == ''
    assert count > 3


@pytest.mark.parametrize('kind, schema', [*GENERATED, *EXTENDED])
def test_settings_in_python_refuse_the_same(kind, schema):
    unlimited = {item.name for item in fields(kind) if item.metadata.get('unlimited')}
    # of settings with a field that has no default
    more = {}
    if kind is CardSettings:
        usual = card_settings(C3P, typed(values_class(schema), {
            name: entry['default_value'] for name, entry in schema.items()}))
        more = {'drives': usual.drives, 'encoders': usual.encoders}
    for name, parameter in kind.parameters().items():
        for value, words in refused(schema[parameter]):
            if name in unlimited and value == float('inf'):
                assert getattr(kind(**{name: value}), name) == value
                continue
            for given in (lambda: kind(**{name: value}, **more),  # noqa: B023
                          lambda: kind.given({parameter: value}, **more)):  # noqa: B023
                with pytest.raises(kind.error) as error:
                    given()
                text = str(error.value).removesuffix('; inf means no limit')
                assert text in texts(name, value, words) | texts(parameter, value, words)


@pytest.fixture(scope='module')
def make():
    """Return a function that makes a node of a schema, with some parameters."""
    rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy]')
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    from c3p_ros.parameters import Parameters

    context = rclpy.Context()
    rclpy.init(context=context)
    # a node without services and clocks of others: 2 ms instead of 10
    plain = {name: False for name in ('start_parameter_services', 'enable_rosout')
             if name in inspect.signature(Node.__init__).parameters}
    nodes = []

    def made(path, **given):
        node = Node('probe', context=context, parameter_overrides=[
            Parameter(name, value=value) for name, value in given.items()], **plain)
        nodes.append(node)
        return node, Parameters(node, path)

    yield made
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def sent(value):
    """Return whether ROS has a type for a value: not for a list of several types, or of lists."""
    return not isinstance(value, list) or (
        len({type(item) for item in value}) == 1 and not isinstance(value[0], list))


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_a_node_refuses_them_at_its_start(make, path):
    from c3p_ros.schema import ParameterError

    for name, entry in read_schema(path).items():
        # one of each kind of refusal: the values are those of the test of the schema
        for value, words in {words: (value, words) for value, words in refused(entry)
                             if sent(value)}.values():
            with pytest.raises(ParameterError) as error:
                make(path, **{name: value})
            assert str(error.value) in {f'probe: {text}' for text in texts(name, value, words)}


@pytest.mark.parametrize('path', SCHEMAS, ids=lambda p: p.stem)
def test_a_running_node_refuses_them_and_keeps_its_values(make, path):
    from rclpy.parameter import Parameter

    node, parameters = make(path)
    before = f'{parameters.value}'
    for name, entry in read_schema(path).items():
        for value, words in refused(entry):
            if not sent(value):
                continue
            result = node.set_parameters_atomically([Parameter(name, value=value)])
            assert not result.successful, (name, value)
            # rclpy itself refuses another type, a number out of bounds and a fixed parameter
            assert name in result.reason or 'Wrong parameter type' in result.reason
            assert entry.get('read_only') or 'type' in result.reason or (
                'out of range' in result.reason) or result.reason in texts(name, value, words)
    assert f'{parameters.value}' == before
