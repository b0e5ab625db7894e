# SPDX-License-Identifier: Apache-2.0
"""
Trees of rigid bodies: description, kinematics, inverse and forward dynamics, energy.

A `Tree` holds what does not change; free functions take it with the state. See
docs/papers/kelly.md for the equations.
"""

from c3p_multibody.trees.compile import CompiledTree, compile_tree
from c3p_multibody.trees.description import WORLD, Arrays, Frame, Tree
from c3p_multibody.trees.forward_dynamics import (
    CompositeWork,
    aba,
    aba_into,
    aba_workspace,
    composite_workspace,
    forward_composite,
    forward_composite_into,
)
from c3p_multibody.trees.inertia import crba, factor, solve
from c3p_multibody.trees.inverse_dynamics import (
    bias,
    joint_wrenches,
    rnea,
    rnea_into,
    rnea_workspace,
)
from c3p_multibody.trees.kinematics import (
    Observed,
    Poses,
    body_velocity,
    forward_kinematics,
    kinetic_energy,
    momentum,
    observed,
    point_bias_acceleration,
    point_jacobian,
    potential_energy,
)
from c3p_multibody.trees.parts import Body, Joint, TreeError, TreeWarning

__all__ = ['WORLD', 'Arrays', 'Body', 'CompiledTree', 'CompositeWork', 'Frame', 'Joint',
           'Observed', 'Poses', 'Tree', 'TreeError', 'TreeWarning', 'aba', 'aba_into',
           'aba_workspace', 'bias', 'body_velocity', 'compile_tree', 'composite_workspace', 'crba',
           'factor', 'forward_composite', 'forward_composite_into', 'forward_kinematics',
           'joint_wrenches', 'kinetic_energy', 'momentum', 'observed', 'point_bias_acceleration',
           'point_jacobian', 'potential_energy', 'rnea', 'rnea_into', 'rnea_workspace', 'solve']
