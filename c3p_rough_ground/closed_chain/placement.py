# SPDX-License-Identifier: Apache-2.0
"""Placement of a vehicle on the ground: the pose in which all wheels touch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_rough_ground.closed_chain import _motion_kernels as motion
from c3p_rough_ground.closed_chain._placement_kernels import settle
from c3p_rough_ground.closed_chain.chain_states import ChainMemory
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.vehicle import POSE, State, Vehicle
from c3p_rough_ground.rolling_contact import ContactError
from c3p_rough_ground.terrain import Terrain

# Newton steps before giving up; a sensible pose takes five
MOST_STEPS = 60


class Placement(NamedTuple):
    """
    Result of placing a vehicle on the ground.

    Attributes
    ----------
    state : State
        Valid only with success.
    iterations : int
        Newton steps.
    residual : float, m and rad
        Largest distance or angle between the two sides of a contact.
    success : bool
    reason : str
        Empty, or wheel, place, cause and remedy.
    """

    state: State
    iterations: int
    residual: float
    success: bool
    reason: str

    def require(self) -> State:
        """
        Return the state.

        Raises
        ------
        ContactError
            The vehicle cannot be placed there; the text names wheel, place and remedy.
        """
        if not self.success:
            raise ContactError(self.reason)
        return self.state


def memory_of(vehicle: Vehicle, stages: int = 1) -> ChainMemory:
    """Return the kernels' memory for a `vehicle` and a method of `stages` stages."""
    m, n = vehicle.size
    return ChainMemory.new((m, n, len(vehicle.packed.chain), len(vehicle.settling), 3 * n - 6,
                            stages))


def _reason(vehicle: Vehicle, packed: np.ndarray, code: int, wheel: int, number: float,
            steps: int) -> str:
    """Return the cause of a failed placement."""
    m = vehicle.size[0]
    x, y = packed[POSE + m + 5 * wheel + 2:POSE + m + 5 * wheel + 4]
    where = f'wheel {vehicle.wheels[wheel].name} at x = {x:.4g}, y = {y:.4g} m'
    if code == motion.SHARP:
        return (f'{where}: the ground is too sharp for the tyre, Kw + K* has the eigenvalue '
                f'{number:.3g} 1/m; take a smaller or rounder tyre, or a smoother ground')
    if code == motion.SECOND:
        return (f'{where}: touches in two places and is {-number:.3g} m inside the ground '
                'with either; take a smaller wheel or place the vehicle elsewhere')
    return (f'{where}: cannot touch the ground together with the others, {number:.3g} m or rad '
            f'are left after {steps} Newton steps; place the vehicle elsewhere, or check '
            'wheelbase, track and joint angles')


def place(vehicle: Vehicle, terrain: Terrain, x: float, y: float, yaw: float,
          joint: ArrayLike | None = None) -> Placement:
    """
    Place a vehicle on the ground at x, y, yaw.

    The 6n closure equations are solved for height, roll, pitch, the settling joints and the 5n
    contact coordinates, by Newton's method from the platform on the plane under its wheels. A
    wheel that could touch in several places touches where no other part is inside the ground.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    x, y : float, m
        Origin of {P} in {G}.
    yaw : float, rad
        Heading of the platform before roll and pitch.
    joint : (m,) array_like, optional
        θ; zeros by default. Settling joints start from here.

    Returns
    -------
    Placement
        Without success where the vehicle cannot be placed: see `Placement.require`.

    Raises
    ------
    ValueError
        A number that is not finite, or not one per joint.

    Examples
    --------
    >>> from c3p_description.pvc_model import PvcTricycle
    >>> from c3p_rough_ground.vehicles import pvc_tricycle
    >>> from c3p_rough_ground.terrain import Flat
    >>> tricycle = pvc_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> place(tricycle, Flat(), 1.0, 2.0, 0.5).require().position.round(9).tolist()
    [1.0, 2.0, 0.3]
    """
    m, n = vehicle.size
    theta = np.zeros(m) if joint is None else np.array(joint, float)
    if theta.shape != (m,) or not np.all(np.isfinite([x, y, yaw, *theta])):
        raise ValueError(f'x = {x}, y = {y}, yaw = {yaw}, joint = {theta.tolist()}: expected '
                         f'finite numbers, {m} of them for the joints of {vehicle.name}')
    packed = np.concatenate([[x, y, 0.0, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)], theta,
                             np.zeros(5 * n)])
    memory = memory_of(vehicle)
    steps, left, code, wheel, number = settle(vehicle.packed, ground_arrays(terrain), packed,
                                              memory.block, memory.values, MOST_STEPS)
    reason = '' if code == motion.NOTHING else _reason(vehicle, packed, code, wheel, number, steps)
    return Placement(vehicle.unpack_state(packed), steps, left, not reason, reason)
