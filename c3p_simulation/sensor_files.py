# SPDX-License-Identifier: Apache-2.0
"""Settings of sensors by a name or from a YAML file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from c3p_simulation.plants.sensor_profiles import profile_named, settings_of_values
from c3p_simulation.plants.sensors import SensorSettings

# profile of the encoders of c3p's own motor cards, whose samples are of one instant; on a node
# their settings are parameters
ENCODERS = 'encoders'

# on a node: `ENCODERS` for the plant mujoco, else ideal
AUTO = 'auto'

SUFFIXES = ('.yaml', '.yml')


@cache
def read_sensors(name: str) -> SensorSettings:
    """
    Return the settings of a profile, or those in a YAML file (`settings_of_values`).

    Parameters
    ----------
    name : str
        Of `PROFILES`, or a path that ends in ``.yaml`` or ``.yml``. A file is read once, so that
        it cannot change during a campaign.

    Raises
    ------
    ValueError
        An unknown name, a file that cannot be read, or an invalid setting in it.
    """
    path = Path(name)
    if path.suffix not in SUFFIXES:
        return profile_named(name)
    try:
        values = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ValueError(f'sensors = {name}: {(error.strerror or "not readable").lower()}; name '
                         'a YAML file with settings of sensors') from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f'sensors = {name}: not YAML: {" ".join(f"{error}".split())}') from None
    if not isinstance(values, dict):
        raise ValueError(f'sensors = {name}: must contain settings, such as '
                         '"timing: {stamp_jitter: 0.002}"')
    try:
        return settings_of_values(values)
    except ValueError as error:
        raise ValueError(f'{name}: {error}') from None
