# SPDX-License-Identifier: Apache-2.0
"""Settings: one check of type and bounds, and values computed from checked ones."""

import math
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from c3p_description.settings import (
    CheckedSettings,
    SettingsError,
    computed,
    entries_of,
    setting,
    violation,
)


@dataclass(frozen=True)
class ProbeSettings(CheckedSettings):
    """Settings with each rule."""

    gain: float = setting(1.0, 'Gain [1/s].', bounds=(0.0, 10.0), parameter='probe.gain')
    count: int = setting(3, above=0, parameter='probe.count')
    mode: str = setting('a', one_of=('a', 'b'), parameter='probe.mode')
    pair: tuple[float, float] = setting((1.0, 2.0), size=2, least=0.0, parameter='probe.pair')
    active: bool = setting(True)
    limit: float = setting(2.0, bounds=(0.1, 5.0), unlimited=True)
    plain: str = 'anything'


@pytest.mark.parametrize('given, text', [
    ({'gain': 11.0}, 'gain = 11.0: must be 0.0 to 10.0'),
    ({'gain': math.nan}, 'gain = nan: must be finite'),
    ({'gain': math.inf}, 'gain = inf: must be finite'),
    ({'gain': 'fast'}, "gain = 'fast': must be a double"),
    ({'gain': True}, 'gain = True: must be a double'),
    ({'count': 0}, 'count = 0: must be more than 0'),
    ({'count': 2.0}, 'count = 2.0: must be an int'),
    ({'mode': 'c'}, "mode = 'c': must be one of a, b"),
    ({'pair': (1.0,)}, 'pair = [1.0]: must have 2 values'),
    ({'pair': (1.0, -1.0)}, 'pair = [1.0, -1.0]: must be 0.0 or more'),
    ({'pair': 1.0}, 'pair = 1.0: must be a double_array'),
    ({'active': 1}, 'active = 1: must be a bool'),
    ({'limit': 6.0}, 'limit = 6.0: must be 0.1 to 5.0; inf means no limit'),
    ({'limit': -math.inf}, 'limit = -inf: must be finite; inf means no limit')])
def test_a_value_is_refused_with_name_value_and_range(given, text):
    with pytest.raises(SettingsError) as refused:
        ProbeSettings(**given)
    # a tuple is shown as one
    assert str(refused.value).replace('(', '[').replace(')', ']').replace(',]', ']') == text


def test_values_within_their_bounds_are_accepted():
    made = ProbeSettings(gain=10, count=1, mode='b', pair=(0.0, 5), limit=math.inf)
    assert (made.gain, made.count, made.pair, made.limit) == (10, 1, (0.0, 5), math.inf)
    # numbers of NumPy are numbers
    assert ProbeSettings(gain=np.float64(2.0), count=np.int64(2), pair=np.ones(2)).gain == 2.0
    # without setting() a field is not checked
    assert ProbeSettings(plain=3).plain == 3
    with pytest.raises(FrozenInstanceError):
        made.gain = 2.0


def test_settings_are_given_by_the_names_of_parameters():
    assert ProbeSettings.given({'probe.gain': 2.0, 'probe.pair': [3.0, 4.0], 'other': 1}) == (
        ProbeSettings(gain=2.0, pair=(3.0, 4.0)))
    with pytest.raises(SettingsError, match=r'^probe\.gain = 11\.0: must be 0\.0 to 10\.0$'):
        ProbeSettings.given({'probe.gain': 11.0})


def test_a_computed_value_may_be_out_of_bounds_but_is_a_field():
    made = computed(ProbeSettings(), gain=20.0)
    assert made.gain == 20.0 and made.count == 3 and made == computed(made, gain=20.0)
    with pytest.raises(TypeError, match='no field gian'):
        computed(ProbeSettings(), gian=1.0)

    @dataclass(frozen=True)
    class OwnCheck:
        value: float = 1.0

        def __post_init__(self):
            if self.value < 0.0:
                raise ValueError('value is negative')

    assert computed(OwnCheck(), value=2.0).value == 2.0
    with pytest.raises(ValueError, match='negative'):
        computed(OwnCheck(), value=-1.0)


def test_an_unknown_rule_or_argument_is_an_error():
    assert 'unknown rule' in violation('x', {'type': 'int', 'validation': {'odd<>': [1]}}, 1)
    with pytest.raises(TypeError, match='bound'):
        setting(1.0, bound=(0.0, 1.0))


def test_fields_become_schema_entries():
    entries = entries_of(ProbeSettings, 'law')
    assert entries['law.gain'] == {
        'description': 'Gain [1/s].', 'type': 'double', 'default_value': 1.0,
        'validation': {'bounds<>': [0.0, 10.0]}}
    assert entries['law.pair']['default_value'] == [1.0, 2.0]
    assert entries['law.plain']['description'] == 'Setting plain of law.'
