# SPDX-License-Identifier: Apache-2.0
"""Actions: those that change the state of the launch do so, those of processes do nothing."""

import os

from launch.action import Action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class DeclareLaunchArgument(Action):
    """An argument of the launch file, with the check of its value."""

    def __init__(self, name, *, default_value=None, description=None, choices=None,
                 condition=None):
        super().__init__(condition=condition)
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise ValueError(f'default_value of {name!r}: {default_value!r} is not one of '
                             f'{choices}')
        self.name, self.choices, self.description = name, choices, description or ''
        self.default_value = (None if default_value is None else
                              normalize_to_list_of_substitutions(default_value))
        if choices is not None:
            self.description += f' Valid choices are: {list(choices)}'

    def execute(self, context):
        values = context.launch_configurations
        if self.name not in values:
            if self.default_value is None:
                raise RuntimeError(f'Required launch argument {self.name!r} was not provided')
            values[self.name] = perform_substitutions(context, self.default_value)
        if self.choices is not None and values[self.name] not in self.choices:
            raise RuntimeError(f'Argument "{self.name}" provided value "{values[self.name]}" is '
                               f'not valid. Valid options are: {list(self.choices)}')


class SetLaunchConfiguration(Action):
    """A value of an argument."""

    def __init__(self, name, value, *, condition=None):
        super().__init__(condition=condition)
        self._name, self._value = (normalize_to_list_of_substitutions(part)
                                   for part in (name, value))

    def execute(self, context):
        name, value = (perform_substitutions(context, part) for part in (self._name, self._value))
        context.launch_configurations[name] = value


class OpaqueFunction(Action):
    """A function of the context that returns more entities."""

    def __init__(self, *, function, args=None, kwargs=None, condition=None):
        super().__init__(condition=condition)
        self._function, self._args, self._kwargs = function, args or (), kwargs or {}

    def execute(self, context):
        return self._function(context, *self._args, **self._kwargs)


class AppendEnvironmentVariable(Action):
    """A value at the end of an environment variable."""

    def __init__(self, name, value, prepend=False, *, separator=os.pathsep, condition=None):
        super().__init__(condition=condition)
        self._name, self._value = (normalize_to_list_of_substitutions(part)
                                   for part in (name, value))
        self._prepend, self._separator = prepend, separator

    def execute(self, context):
        name, value = (perform_substitutions(context, part) for part in (self._name, self._value))
        parts = [os.environ[name], value] if name in os.environ else [value]
        os.environ[name] = self._separator.join(reversed(parts) if self._prepend else parts)


class IncludeLaunchDescription(Action):
    """Another launch file with values of its arguments."""

    def __init__(self, launch_description_source, *, launch_arguments=None, condition=None):
        super().__init__(condition=condition)
        self._source, self.launch_arguments = launch_description_source, launch_arguments or ()

    def execute(self, context):
        description = self._source.get_launch_description(context)
        return [*(SetLaunchConfiguration(*pair) for pair in self.launch_arguments), description]


class GroupAction(Action):
    """Actions whose values of arguments do not leave the group."""

    def __init__(self, actions, *, scoped=True, forwarding=True, condition=None):
        super().__init__(condition=condition)
        assert scoped and forwarding, 'the stand-in has no other groups'
        self._actions = list(actions)

    def execute(self, context):
        return [OpaqueFunction(function=lambda inner: inner._push_launch_configurations()),
                *self._actions,
                OpaqueFunction(function=lambda inner: inner._pop_launch_configurations())]


class ExecuteProcess(Action):
    """A process, which is not started."""

    def __init__(self, *, cmd, name=None, cwd=None, env=None, additional_env=None, shell=False,
                 output='log', on_exit=None, condition=None):
        super().__init__(condition=condition)
        self.cmd = [normalize_to_list_of_substitutions(part) for part in cmd]


class RegisterEventHandler(Action):
    """Reaction to an event; there are none."""

    def __init__(self, event_handler, *, condition=None):
        super().__init__(condition=condition)
        self.event_handler = event_handler


class TimerAction(Action):
    """Actions after a period, which does not pass."""

    def __init__(self, *, period, actions, cancel_on_shutdown=True, condition=None):
        super().__init__(condition=condition)
        self.actions = list(actions)


class LogInfo(Action):
    """A line of the log."""

    def __init__(self, *, msg, condition=None):
        super().__init__(condition=condition)
        self.msg = normalize_to_list_of_substitutions(msg)


class Shutdown(Action):
    """End of the launch."""

    def __init__(self, *, reason='reason not given', condition=None):
        super().__init__(condition=condition)
