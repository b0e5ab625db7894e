# SPDX-License-Identifier: Apache-2.0
"""
Trees with elastic beams, by assumed modes.

See docs/papers/kelly.md, *Flexible bodies*.
"""

from c3p_multibody.flexible.beam import Beam, Modes, clamped_free, tip_joints
from c3p_multibody.flexible.system import FlexibleError, FlexibleTree, Terms

__all__ = ['Beam', 'FlexibleError', 'FlexibleTree', 'Modes', 'Terms', 'clamped_free',
           'tip_joints']
