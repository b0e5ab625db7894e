# SPDX-License-Identifier: Apache-2.0
"""Properties of sensors of real robots, each alone and all together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from c3p_simulation.plants.sensors import SensorSettings

REAL = 'real'
NONE = 'none'

# changes of `EncoderErrors` and of `SampleTiming` by the name of the property; sizes are those of
# the profile real, and of other robots where it has none
ERRORS: dict[str, dict[str, Any]] = {
    'creep': {'creep': 0.01},
    'lost_counts': {'lost_counts': (0.0, 0.0, 0.02)},
    'wheel_backlash': {'wheel_backlash': 0.02},
    'steering_backlash': {'steering_backlash': 0.005},
    'analog_steering': {'analog_noise': 0.002},
    'rezeroed_steering': {'analog_noise': 0.002, 'rezero_ratio': 0.3}}
TIMING: dict[str, dict[str, Any]] = {
    'skew': {'controller_period': 0.007, 'controller_spread': 0.2},
    'repeats': {'repeat_ratio': 0.1},
    'stamp_jitter': {'stamp_jitter': 0.002, 'stamp_tail': 0.012},
    'batches': {'batch': (1, 7)},
    'late_rates': {'rate_lag': 0.06},
    'slow_clock': {'clock_drift': -0.24},
    'set_clock': {'clock_step': -1.0, 'clock_step_time': 3.0}}

PROPERTIES = (NONE, *ERRORS, *TIMING, 'no_rates', REAL)


def sensors_with(name: str, base: SensorSettings) -> SensorSettings:
    """
    Return `base` with a property.

    Parameters
    ----------
    name : str
        Of `PROPERTIES`; ``real`` has those of the profile.
    base : SensorSettings

    Examples
    --------
    >>> sensors_with('late_rates', SensorSettings()).timing.rate_lag
    0.06
    """
    if name == REAL:
        real = SensorSettings.real()
        return replace(base, errors=real.errors, timing=real.timing, rates=real.rates)
    if name == 'no_rates':
        return replace(base, rates=False)
    return replace(base, errors=replace(base.errors, **ERRORS.get(name, {})),
                   timing=replace(base.timing, **TIMING.get(name, {})))
