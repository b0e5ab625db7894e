# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from simulation_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of simulation.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class SensorParameters(CheckedSettings):
    """
    Encoders, motor cards and loop delay of a simulated robot.

    Attributes
    ----------
    wheel_counts : int
        Resolution of the wheel encoders, counts per turn; 0 is ideal.
    steering_counts : int
        Resolution of the steering encoders, counts per turn; 0 is ideal.
    latency : float
        Simulated delay from a cycle to its torque at the wheels [s], in addition to the computing
        time of the nodes.
    wheel_noise : float
        Standard deviation of the noise of wheel angles [counts]; 0 disables it.
    steering_noise : float
        Standard deviation of the noise of steering angles [counts]; 0 disables it.
    dropout : float
        Probability per cycle of lost joint states, which are not published.
    rate_bandwidth : float
        Bandwidth of the tracking loops for rates [Hz].
    """

    wheel_counts: int = setting(2000, bounds=(0, 1000000000), parameter='wheel_counts')
    steering_counts: int = setting(4096, bounds=(0, 1000000000), parameter='steering_counts')
    latency: float = setting(0.01, bounds=(0.0, 1.0), parameter='latency')
    wheel_noise: float = setting(0.0, bounds=(0.0, 1000.0), parameter='wheel_noise')
    steering_noise: float = setting(0.0, bounds=(0.0, 1000.0), parameter='steering_noise')
    dropout: float = setting(0.0, bounds=(0.0, 0.9), parameter='dropout')
    rate_bandwidth: float = setting(40.0, bounds=(1.0, 400.0), parameter='rate_bandwidth')
