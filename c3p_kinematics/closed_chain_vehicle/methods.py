# SPDX-License-Identifier: Apache-2.0
"""The explicit Runge-Kutta methods that a run can take."""

from __future__ import annotations

import numpy as np

from c3p_kinematics.closed_chain_vehicle._motion_kernels import Tableau

# classical fourth order, and Cash and Karp's pair of fifth and fourth order
METHODS = {
    'rk4': Tableau(
        np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0],
                  [0.0, 0.0, 1.0, 0.0]]),
        np.array([1.0, 2.0, 2.0, 1.0]) / 6.0, np.array([0.0, 0.5, 0.5, 1.0]), np.zeros(4)),
    'adaptive': Tableau(
        np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
                  [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0], [3 / 10, -9 / 10, 6 / 5, 0.0, 0.0, 0.0],
                  [-11 / 54, 5 / 2, -70 / 27, 35 / 27, 0.0, 0.0],
                  [1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096, 0.0]]),
        np.array([37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771]),
        np.array([0.0, 1 / 5, 3 / 10, 3 / 5, 1.0, 7 / 8]),
        np.array([37 / 378 - 2825 / 27648, 0.0, 250 / 621 - 18575 / 48384,
                  125 / 594 - 13525 / 55296, -277 / 14336, 512 / 1771 - 1 / 4])),
}
