# SPDX-License-Identifier: Apache-2.0
"""Values that a schema entry must refuse, each with what its error must say."""

import math
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import pytest
from source_tree import ROOT

from c3p_controller.paper.exponential import PositionGains
from c3p_controller.paper.fusion import FusionOptions
from c3p_controller.paper.position import PaperPositionOptions
from c3p_controller.predictive.controller import PredictiveSettings
from c3p_hardware.settings import CardSettings
from c3p_kinematics.calibration.parameters import Prior
from c3p_kinematics.odometry import OdometrySettings
from c3p_ros.schema import read_schema
from c3p_simulation.plants.sensors import SensorSettings
from c3p_viewers.scene.settings import SceneSettings

sys.path.insert(0, str(ROOT / 'scripts'))

from settings_classes import CLASSES  # noqa: E402

SCHEMAS = sorted(ROOT.glob('c3p_*/**/*_parameters.yaml'))

# (class, entries of its schema) of every generated class of settings
GENERATED = [pytest.param(getattr(import_module(schema[:-5].replace('/', '.')), generated.name),
                          read_schema(ROOT / schema), id=generated.name)
             for schema, classes in CLASSES.items() for generated in classes]

# classes that extend a generated one
EXTENDED = [pytest.param(kind, schema, id=kind.__name__)
            for generated, schema in (case.values for case in GENERATED)
            for kind in (Prior, OdometrySettings, PositionGains, PaperPositionOptions,
                         FusionOptions, PredictiveSettings, CardSettings, SensorSettings,
                         SceneSettings) if issubclass(kind, generated)]

# of each type, values of others
OTHERS: dict[str, tuple[Any, ...]] = {
    'double': ('fast', True, [1.0]), 'int': ('many', True, 1.5, [1]), 'bool': (1, 'yes', 0.0),
    'string': (3, False, ['a'])}
WORDS = {'double': 'a double', 'int': 'an int', 'bool': 'a bool', 'string': 'a string'}


class Refused(NamedTuple):
    """A value, and the words behind ``name = value: must`` in its error."""

    value: Any
    words: str


def refused(entry: dict[str, Any]) -> Iterator[Refused]:
    """Yield values that an entry must refuse: of another type, not finite, out of its bounds."""
    kind, array, _ = entry['type'].partition('_array')
    default = entry['default_value']

    def whole(value: Any) -> Any:
        # an array has the wrong value in its last place
        return [*default[:-1], value] if array else value

    for other in OTHERS[kind]:
        yield Refused(whole(other), f'be {WORDS[kind]}{array}')
    if array:
        yield Refused(default[0], f'be {WORDS[kind]}_array')
    if kind == 'double' and not entry.get('allow_nan'):
        for value in (math.nan, math.inf, -math.inf):
            yield Refused(whole(value), 'be finite')
    for rule, argument in entry.get('validation', {}).items():
        limits = argument if isinstance(argument, list) else [argument]
        if rule == 'bounds<>':
            low, high = limits
            for value in beyond(kind, low, high):
                yield Refused(whole(value), f'be {low} to {high}')
        elif rule in ('gt<>', 'gt_eq<>'):
            text = 'more than {}' if rule == 'gt<>' else '{} or more'
            below = limits[0] if rule == 'gt<>' else limits[0] - 1
            yield Refused(whole(below), 'be ' + text.format(limits[0]))
        elif rule == 'one_of<>':
            other = 'neither' if kind == 'string' else max(limits[0]) + 1
            yield Refused(whole(other), f'be one of {", ".join(map(str, limits[0]))}')
        elif rule == 'fixed_size<>':
            yield Refused([*default, default[-1]], f'have {limits[0]} values')
        elif rule == 'not_empty<>':
            yield Refused(type(default)(), 'not be empty')
        else:
            raise AssertionError(f'no cases for the rule {rule}')


def beyond(kind: str, low: float, high: float) -> list[Any]:
    """Return values just outside bounds, and far from them."""
    if kind == 'int':
        return [low - 1, high + 1]
    return [math.nextafter(float(low), -math.inf), math.nextafter(float(high), math.inf),
            low - 1.0 - abs(low), high + 1.0 + abs(high)]
