# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics prepared for one robot, for loops that call it from Python at each cycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_inverse_kernels import share_at, share_packed
from c3p_dynamics.caster_dynamics import (
    VIRTUAL_STEERING_WEIGHT,
    check_virtual_steering_weight,
    inverse_pack,
)
from c3p_dynamics.caster_states import InverseState
from c3p_kernels.compiled import COMPILED

if COMPILED:
    from numba import typeof


def _machine_code(kernel: Any, *arguments: Array) -> Callable[..., None]:
    """Call a kernel, and return its code for arguments of these types, which are not checked."""
    kernel(*arguments)
    return kernel.get_overload(tuple(typeof(one) for one in arguments)) if COMPILED else kernel


class InverseDynamics:
    """
    `caster_dynamics.inverse_dynamics` of one robot and one state, without checks and allocations.

    A call takes some 0.3 µs; `inverse_dynamics` checks, broadcasts and packs, which is most of its
    6 µs. State, torques and the work memory are one array of the object: use one per thread.

    Parameters
    ----------
    robot : CasterRobot
    virtual_steering_weight : float, ≥ 0 and finite
        w_s of `inverse_dynamics`.

    Attributes
    ----------
    pack : array
        Block of an InverseState, which compiled loops hand to
        ``_caster_inverse_kernels.share_packed``.
    state : (n + 6,) array
        ``[θ_s …, vx, vy, ω, v̇x, v̇y, ω̇]``, a view into `pack`: what `solve` reads.
    torque : (robot.efforts,) array, N·m
        The last result, a view into `pack`: every call writes into the same memory.

    Raises
    ------
    ValueError
        A weight that is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> prepared = InverseDynamics(robot)
    >>> state = np.zeros(9)  # θ_s, ν, ν̇: all wheels along +Y, at rest
    >>> state[7] = 0.5  # 15 N on three wheels of 4 cm
    >>> np.round(prepared(state), 3)
    array([0.2, 0.2, 0.2])
    >>> prepared.state[7] = 1.0  # the same in place, without handing over anything
    >>> np.round(prepared.solve(), 3)
    array([0.4, 0.4, 0.4])
    """

    __slots__ = ('_known', '_solve', '_solve_at', 'pack', 'state', 'torque')

    def __init__(self, robot: CasterRobot,
                 virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT) -> None:
        """Pack the robot, and compile or load the kernel, so that no call later has to."""
        check_virtual_steering_weight(virtual_steering_weight)
        self.pack: Array = inverse_pack(robot, virtual_steering_weight)
        n = robot.count
        parts = InverseState.of(self.pack, n)
        self.state: Array = parts.demand
        self.torque: Array = parts.torque[:robot.efforts]
        self._known: Array = self.state
        # the machine code itself: numba's choice of it by types takes a quarter of a call
        self._solve: Callable[[Array], None] = _machine_code(share_packed, self.pack)
        self._solve_at: Callable[[Array, Array], None] = _machine_code(share_at, self.pack,
                                                                       self.state)

    def __call__(self, state: Array) -> Array:
        """
        Return `torque`, overwritten by the next call, at `state` (n + 6,), which is copied.

        An array is checked when it is not that of the last call, whose shape and type must not be
        changed in place. Values are not checked: what is not finite gives torques that are nan
        (without Numba, ValueError). Another size raises ValueError.
        """
        if state is self._known or self._fits(state):
            self._solve_at(self.pack, state)
        else:
            self.state[...] = state
            self._solve(self.pack)
        return self.torque

    def _fits(self, state: Array) -> bool:
        """Return whether the kernel reads an array as it is, and keep it as known."""
        fits = (isinstance(state, np.ndarray) and state.shape == self.state.shape
                and state.dtype == self.state.dtype and state.flags.carray)
        if fits:
            self._known = state
        return fits

    def solve(self) -> Array:
        """Return the torques at the attribute `state`; they stay as long as it does."""
        self._solve(self.pack)
        return self.torque
