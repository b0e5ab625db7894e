# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes."""

import yaml
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class ParameterFile:
    """A parameter file."""

    def __init__(self, param_file, *, allow_substs=False):
        self._path = normalize_to_list_of_substitutions(param_file)

    def evaluate(self, context):
        return perform_substitutions(context, self._path)


class ParameterValue:
    """A value of a type; without one that of the text in YAML."""

    def __init__(self, value, *, value_type=None):
        self._value, self._type = value, value_type

    def evaluate(self, context):
        text = perform_substitutions(context, normalize_to_list_of_substitutions(self._value))
        if self._type is str:
            return text
        value = yaml.safe_load(text)
        if self._type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self._type is not None and type(value) is not self._type:
            raise ValueError(f'Cannot convert {text!r} to {self._type.__name__}')
        return value


def value_of(context, value):
    """Return the value of an entry of a dictionary of parameters."""
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, str) or hasattr(value, 'perform'):
        return ParameterValue(value).evaluate(context)
    return list(value) if isinstance(value, tuple) else value
