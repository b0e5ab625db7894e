# SPDX-License-Identifier: Apache-2.0
"""
Constrained motion of trees: constraint rows, null spaces, solvers, impacts, contacts, integrator.

See docs/papers/kelly.md for the equations and for which method when.
"""

from c3p_multibody.constraints.impacts import Impact, impact
from c3p_multibody.constraints.kinds import (
    Constraint,
    Contact,
    Distance,
    KnifeEdge,
    PlanarLoop,
    Point,
    RollingBall,
    RollingWheel,
    Weld,
)
from c3p_multibody.constraints.motion import ConstrainedMotion
from c3p_multibody.constraints.motion_settings import MotionSettings
from c3p_multibody.constraints.null_space import (
    RANK_TOLERANCE,
    NullSpace,
    qr_basis,
    svd_basis,
    zero_eigenvalue_basis,
)
from c3p_multibody.constraints.packing import ConstraintError
from c3p_multibody.constraints.prepared import ConstrainedDynamics
from c3p_multibody.constraints.record import Event, Record
from c3p_multibody.constraints.rows import Rows, evaluate
from c3p_multibody.constraints.solvers import METHODS, Solution, consistent_velocity, solve
from c3p_multibody.constraints.unilateral import Pushing, pushing

__all__ = ['METHODS', 'RANK_TOLERANCE', 'ConstrainedDynamics', 'ConstrainedMotion', 'Constraint',
           'ConstraintError', 'Contact', 'Distance', 'Event', 'Impact', 'KnifeEdge',
           'MotionSettings', 'NullSpace', 'PlanarLoop', 'Point', 'Pushing', 'Record',
           'RollingBall', 'RollingWheel', 'Rows', 'Solution', 'Weld', 'consistent_velocity',
           'evaluate', 'impact', 'pushing', 'qr_basis', 'solve', 'svd_basis',
           'zero_eigenvalue_basis']
