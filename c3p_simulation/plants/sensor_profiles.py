# SPDX-License-Identifier: Apache-2.0
"""Named settings of sensors, and settings from plain values such as those of a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from c3p_simulation.plants.encoder_errors import EncoderErrors
from c3p_simulation.plants.sensors import SensorSettings
from c3p_simulation.plants.timing import SampleTiming

# a small robot as hobbyists build it: infrared sensors at the wheels, of whose counts 2 to 18 %
# are lost, and a clock that counts cycles of 50 ms which take 62 ms
LOW_COST = SensorSettings(
    wheel_counts=240, steering_counts=1024, rates=False,
    errors=EncoderErrors(creep=0.01, lost_counts=(0.02,), analog_noise=0.002),
    timing=SampleTiming(controller_period=0.02, controller_spread=0.1, stamp_jitter=0.0044,
                        stamp_tail=0.036, clock_drift=-0.19))

PROFILES = {'ideal': SensorSettings.ideal(), 'encoders': SensorSettings(),
            'real': SensorSettings.real(), 'real_gyro': SensorSettings.real().with_gyro(),
            'low_cost': LOW_COST}

# groups of settings, each with fields of its own
GROUPS = ('errors', 'timing', 'gyro')


def profile_named(name: str) -> SensorSettings:
    """
    Return the settings of `PROFILES` called `name`.

    Raises
    ------
    ValueError
        An unknown name.
    """
    if name not in PROFILES:
        raise ValueError(f'sensors = {name}: must be one of {", ".join(PROFILES)}, or the path of '
                         'a YAML file with settings')
    return PROFILES[name]


def settings_of_values(values: Mapping[str, Any]) -> SensorSettings:
    """
    Return settings from plain values.

    Parameters
    ----------
    values : mapping
        Fields of `SensorSettings`, with `EncoderErrors`, `SampleTiming` and `GyroErrors` as
        mappings ``errors``, ``timing`` and ``gyro``; what is left out is as in the profile
        ``like`` (default: encoders).

    Raises
    ------
    ValueError
        An unknown name, or a value out of range; the text names it.

    Examples
    --------
    >>> late = settings_of_values({'like': 'ideal', 'timing': {'rate_lag': 0.07}})
    >>> late.wheel_counts, late.timing.rate_lag
    (0, 0.07)
    """
    given = dict(values)
    settings = profile_named(f'{given.pop("like", "encoders")}')
    for group in GROUPS:
        if group in given:
            given[group] = _changed(getattr(settings, group), given[group], f'{group}.')
    return _changed(settings, given, '')


def _changed(settings: Any, values: Any, prefix: str) -> Any:
    """Return a copy of `settings` with `values`, whose names are shown with a `prefix`."""
    if not isinstance(values, Mapping):
        raise ValueError(f'sensors: {prefix.rstrip(".")} = {values}: must be a mapping of '
                         'settings')
    known = [one.name for one in fields(settings)]
    for name, value in values.items():
        if name not in known:
            raise ValueError(f'sensors: {prefix}{name}: unknown; must be one of '
                             f'{", ".join(known)}')
        old = getattr(settings, name)
        if isinstance(old, bool) != isinstance(value, bool):
            raise ValueError(f'sensors: {prefix}{name} = {value}: must be '
                             + ('true or false' if isinstance(old, bool) else 'a number'))
        if isinstance(old, bool) or name in GROUPS:
            continue
        numbers = value if isinstance(old, tuple) and isinstance(value, list) else [value]
        if not all(isinstance(one, int | float) for one in numbers):
            raise ValueError(f'sensors: {prefix}{name} = {value}: must be a number'
                             + (', or a list of them' if isinstance(old, tuple) else ''))
    try:
        return replace(settings, **{name: tuple(value) if isinstance(value, list) else value
                                    for name, value in values.items()})
    except ValueError as error:
        raise ValueError(f'sensors: {prefix}{error}') from None
