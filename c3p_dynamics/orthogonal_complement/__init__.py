# SPDX-License-Identifier: Apache-2.0
"""
The natural orthogonal complement: equations of motion of any set of constrained rigid bodies.

reduction.py has the equations, constraints.py rows of A, their rank and the forces that they
determine, systems.py the caster robot and the differential drive put together from bodies.
"""

from c3p_dynamics.orthogonal_complement.constraints import (
    ConstraintForces,
    ConstraintRank,
    constraint_forces,
    constraint_rank,
    revolute_rows,
    rolling_rows,
    svd_complement,
)
from c3p_dynamics.orthogonal_complement.reduction import (
    Bodies,
    Reduced,
    bodies,
    constraint_wrench,
    generalized_angular_velocity,
    generalized_mass,
    inertial_rate,
    reduce,
    twist_map,
)
from c3p_dynamics.orthogonal_complement.systems import (
    Assembly,
    caster_robot_assembly,
    differential_drive_assembly,
)

__all__ = ['Assembly', 'Bodies', 'ConstraintForces', 'ConstraintRank', 'Reduced', 'bodies',
           'caster_robot_assembly', 'constraint_forces', 'constraint_rank', 'constraint_wrench',
           'differential_drive_assembly', 'generalized_angular_velocity', 'generalized_mass',
           'inertial_rate', 'reduce', 'revolute_rows', 'rolling_rows', 'svd_complement',
           'twist_map']
