# SPDX-License-Identifier: Apache-2.0
"""
The methods that Kelly's report compares, for chains of turning joints, with their operations.

For comparison only: `c3p_multibody.trees` is general and faster. See docs/papers/kelly.md.
"""

from c3p_multibody.comparison.counting import Counted, Operations
from c3p_multibody.comparison.methods import METHODS, Method, accelerations, operations, torques

__all__ = ['METHODS', 'Counted', 'Method', 'Operations', 'accelerations', 'operations', 'torques']
