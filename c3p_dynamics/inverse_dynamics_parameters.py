# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from inverse_dynamics_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of inverse_dynamics.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class SharingSettings(CheckedSettings):
    """
    Weight of the virtual steering torques where a force is shared among the casters.

    Attributes
    ----------
    virtual_steering_weight : float
        w_s, weight of the virtual steering motors in the allocation of a force to the wheels. 1 is
        the papers' reading; smaller values realise more of the reference acceleration with more
        torque close to a singularity; 0 is the pseudo-inverse, which never leaves an exact
        singularity.
    """

    virtual_steering_weight: float = setting(
        0.023, bounds=(0.0, 10.0), parameter='virtual_steering_weight')
