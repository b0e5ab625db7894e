# SPDX-License-Identifier: Apache-2.0
"""Nodes, which are not started, and remappings of the nodes after them."""

import tempfile

import yaml
from launch.action import Action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from launch_ros.parameter_descriptions import ParameterFile, value_of

# where the rules of SetRemap are, beside the values of the arguments
REMAPS = 'ros_remaps'


def performed(context, text):
    """Return the text of what may be a text, a substitution or a list of both."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(text))


class SetRemap(Action):
    """A remapping of all nodes after it."""

    def __init__(self, src, dst, *, condition=None):
        super().__init__(condition=condition)
        self.src, self.dst = src, dst

    def execute(self, context):
        rule = performed(context, self.src), performed(context, self.dst)
        rules = context.launch_configurations.get(REMAPS, [])
        context.launch_configurations[REMAPS] = [*rules, rule]


class Node(Action):
    """A process of ROS 2; `cmd` is complete after `_perform_substitutions`."""

    def __init__(self, *, executable, package=None, name=None, namespace=None, parameters=None,
                 remappings=None, ros_arguments=None, arguments=None, output='log', on_exit=None,
                 condition=None):
        super().__init__(condition=condition)
        self.node_package, self.node_executable = package, executable
        self._name, self._namespace = name, namespace
        self._parameters, self._remappings = parameters or [], remappings or []
        self._arguments, self._ros_arguments = arguments or [], ros_arguments or []
        assert output in ('log', 'screen', 'both') and (on_exit is None or callable(on_exit))

    def _perform_substitutions(self, context):
        namespace = performed(context, self._namespace or '')
        self.expanded_node_namespace = f'/{namespace.strip("/")}'
        self.expanded_remapping_rules = [*context.launch_configurations.get(REMAPS, []), *(
            (performed(context, old), performed(context, new)) for old, new in self._remappings)]
        words = [f'{self.node_package}/{self.node_executable}', *self._arguments, '--ros-args',
                 *self._ros_arguments, '-r', f'__ns:={self.expanded_node_namespace}']
        if self._name:
            words += ['-r', f'__node:={self._name}']
        for given in self._parameters:
            words += ['--params-file', _file_of(context, given)]
        for old, new in self.expanded_remapping_rules:
            words += ['-r', f'{old}:={new}']
        self.cmd = [normalize_to_list_of_substitutions(word) for word in words]


def _file_of(context, given):
    """Return the path of a parameter file; of a dictionary: of a new one."""
    if isinstance(given, ParameterFile):
        return given.evaluate(context)
    if not isinstance(given, dict):
        return performed(context, given)
    values = {name: value_of(context, value) for name, value in given.items()}
    with tempfile.NamedTemporaryFile('w', prefix='launch_params_', delete=False) as file:
        yaml.safe_dump({'/**': {'ros__parameters': values}}, file)
    return file.name
