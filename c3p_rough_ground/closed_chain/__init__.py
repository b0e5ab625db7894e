# SPDX-License-Identifier: Apache-2.0
"""
Vehicles that roll without slip over any ground: closed chains of joints and contacts.

A vehicle is a description of joints and wheels. `place` puts it on the ground, `velocity` returns
its motion, `simulate` drives it. Auchter and Moore, Off-road robot modeling with
dextrous manipulation kinematics, with the errata of docs/papers/auchter_moore.md.
"""

from c3p_rough_ground.closed_chain.description import (
    ChainJoint,
    DescriptionError,
    Wheel,
    axis_rotation,
)
from c3p_rough_ground.closed_chain.motion import StepError, Stepping, simulate
from c3p_rough_ground.closed_chain.placement import Placement, place
from c3p_rough_ground.closed_chain.rollouts import RolloutOptions, Rollouts, rollouts
from c3p_rough_ground.closed_chain.run import Run, RunEvent
from c3p_rough_ground.closed_chain.slip import LockedSlip, locked_slip
from c3p_rough_ground.closed_chain.vehicle import State, Vehicle
from c3p_rough_ground.closed_chain.velocity import Velocity, contact_jacobians, velocity

__all__ = ['ChainJoint', 'DescriptionError', 'LockedSlip', 'Placement', 'RolloutOptions',
           'Rollouts', 'Run', 'RunEvent', 'State', 'StepError', 'Stepping', 'Vehicle', 'Velocity',
           'Wheel', 'axis_rotation', 'contact_jacobians', 'locked_slip', 'place', 'rollouts',
           'simulate', 'velocity']
