# SPDX-License-Identifier: Apache-2.0
"""
The natural orthogonal complement: equations of motion of any set of constrained rigid bodies.

reduction.py has the equations, constraints.py rows of A, their rank and the forces that they
determine.
"""

from c3p_multibody.orthogonal_complement.constraints import (
    ConstraintForces,
    ConstraintRank,
    constraint_forces,
    constraint_rank,
    revolute_rows,
    rolling_rows,
)
from c3p_multibody.orthogonal_complement.reduction import (
    Assembly,
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

__all__ = ['Assembly', 'Bodies', 'ConstraintForces', 'ConstraintRank', 'Reduced', 'bodies',
           'constraint_forces', 'constraint_rank', 'constraint_wrench',
           'generalized_angular_velocity', 'generalized_mass', 'inertial_rate', 'reduce',
           'revolute_rows', 'rolling_rows', 'twist_map']
