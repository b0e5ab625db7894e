# SPDX-License-Identifier: Apache-2.0
"""
Vehicles with masses on any ground: closed chains with tyres that deflect, slip and lose energy.

A `HeavyVehicle` adds masses, tyres and servos to a vehicle of `c3p_kinematics`;
`drive` moves it. docs/papers/auchter_moore.md has the equations.
"""

from c3p_rough_ground.dynamics.bodies import solid_torus, tricycle_bodies, uniform_bodies
from c3p_rough_ground.dynamics.heavy_vehicle import HeavyVehicle, Servo, Tyre, balanced
from c3p_rough_ground.dynamics.motion import DriveTimes, DynamicError, drive
from c3p_rough_ground.dynamics.presets import heavy, heavy_tricycle
from c3p_rough_ground.dynamics.run import DynamicRun

__all__ = ['DriveTimes', 'DynamicError', 'DynamicRun', 'HeavyVehicle', 'Servo', 'Tyre',
           'balanced', 'drive', 'heavy', 'heavy_tricycle', 'solid_torus', 'tricycle_bodies',
           'uniform_bodies']
