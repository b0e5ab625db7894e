# SPDX-License-Identifier: Apache-2.0
"""
Equations of motion of a tree with elastic beams: ``M z̈ + h(z, ż) = τ``, z = (joints, modes).

A beam's mass is that of the points of Gauss's rule, each at its place as a function of z, so that
M and h are those of one system without approximation between them: energy is conserved as well as
the integrator can. What is carried by a beam's free end is a part of the rigid tree behind three
joints whose coordinates are functions of the modes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from c3p_multibody.flexible.beam import Beam, Modes, modes
from c3p_multibody.trees import Tree, bias, crba, potential_energy
from c3p_multibody.trees import _motion_kernels as kernels
from c3p_multibody.trees.kinematics import inner_point, observed
from c3p_multibody.trees.parts import Array

# relative step of the differences in `FlexibleTree.frequencies`
STEP = 1e-5


class FlexibleError(ValueError):
    """Invalid beams or states; the text names what and the remedy."""


class Terms(NamedTuple):
    """
    Terms of the equations of motion.

    Attributes
    ----------
    mass : (N, N) array
    force : (N,) array
        h: Coriolis, centrifugal and gravity forces, stiffness and damping.
    kinetic, potential : float, J
    """

    mass: Array
    force: Array
    kinetic: float
    potential: float


class _Mounted(NamedTuple):
    """A beam with its places in z and in the tree."""

    beam: Beam
    modes: Modes
    at: slice
    number: int
    start: Array
    turn: Array
    tip: tuple[int, ...]


class FlexibleTree:
    """
    A tree with elastic beams.

    Parameters
    ----------
    tree : Tree
        With the joints of `tip_joints` for each beam that carries something.
    beams : sequence of Beam

    Attributes
    ----------
    joints : tuple of str
        Joints that are coordinates: the first part of z; then follow the modes, beam by beam.
    size : int
        N.

    Raises
    ------
    FlexibleError
        An unknown joint or body, a length, density or stiffness that is not positive.

    Examples
    --------
    >>> from c3p_multibody.flexible import Beam, FlexibleTree
    >>> from c3p_multibody.trees import Body, Joint, Tree
    >>> body = Body('hub', 1.0, inertia=np.eye(3))
    >>> hub = Tree.from_connection([-1], [Joint('hub')], [body], (0, 0, 0))
    >>> arm = FlexibleTree(hub, [Beam(body='hub', length=1.0, density=1.0, stiffness=10.0)])
    >>> arm.frequencies([0.0] * 4).round(3).tolist()  # rad/s: the joint is held
    [11.119, 69.679, 195.104]
    """

    def __init__(self, tree: Tree, beams: Sequence[Beam]) -> None:
        """Check the beams and prepare their modes."""
        self.tree, names = tree, list(tree.names)
        for k, beam in enumerate(beams):
            for name in ('length', 'density', 'stiffness'):
                if not getattr(beam, name) > 0.0:
                    raise FlexibleError(f'beam {k}: {name} = {getattr(beam, name)}: must be '
                                        'positive')
            if beam.tip and (len(beam.tip) != 3 or not set(beam.tip) <= set(names)):
                raise FlexibleError(f'beam {k}: tip = {beam.tip}: must name the three joints of '
                                    f'tip_joints; the tree has {", ".join(names)}')
        virtual = {name for beam in beams for name in beam.tip}
        self.joints = tuple(name for name in names if name not in virtual)
        self._rigid = [names.index(name) for name in self.joints]
        self._beams, at = [], len(self.joints)
        for beam in beams:
            number, start = inner_point(tree, beam.body, beam.start)
            frame = tree.frame(beam.body)
            turn = frame.rotation
            if number >= 0:
                turn = tree.arrays.numbers[number, 22:].reshape(3, 3).T @ turn
            place = slice(at, at + beam.modes)
            tip = tuple(names.index(name) for name in beam.tip)
            # what the end carries while all joints are held: inertia of deflection and slope
            load = crba(tree, np.zeros(tree.count))[np.ix_(tip[1:], tip[1:])] if tip else None
            self._beams.append(_Mounted(beam, modes(beam, load), place, number, start, turn, tip))
            at += beam.modes
        self.size = at

    def tree_state(self, z: Array, zd: Array) -> tuple[Array, Array, Array, Array]:
        """Return Q, Q̇, ∂Q/∂z and the part of Q̈ at z̈ = 0 of the rigid tree, for z and ż (N,)."""
        n = self.tree.count
        q = np.zeros(n)
        t = np.zeros((n, self.size))
        bend = np.zeros(n)
        count = len(self._rigid)
        q[self._rigid] = z[:count]
        t[self._rigid, range(count)] = 1.0
        for one in self._beams:
            if one.tip:
                eta = z[one.at]
                rate = zd[one.at]
                shape, slope, short = one.modes.tip
                x, y, turn = one.tip
                q[x] = -0.5 * eta @ short @ eta
                q[y] = shape @ eta
                q[turn] = slope @ eta
                t[x, one.at] = -short @ eta
                t[y, one.at] = shape
                t[turn, one.at] = slope
                bend[x] = -rate @ short @ rate
        return q, t @ zd, t, bend

    def terms(self, z: ArrayLike, zd: ArrayLike) -> Terms:
        """Return the terms of the equations of motion at `z` and `zd` (N,)."""
        z = self._checked('z', z)
        zd = self._checked('zd', zd)
        q, qd, t, bend = self.tree_state(z, zd)
        rigid = crba(self.tree, q)
        mass = t.T @ rigid @ t
        force = t.T @ (bias(self.tree, q, qd) + rigid @ bend)
        potential = float(potential_energy(self.tree, q))
        frames, motion, _ = observed(self.tree, q[None], qd[None])
        for one in self._beams:
            potential += self._add(one, z, zd, (t, bend), frames[0], motion[0], mass, force)
        return Terms(mass, force, float(0.5 * zd @ mass @ zd), potential)

    def _add(self, one: _Mounted, z: Array, zd: Array, tree: tuple[Array, Array], frames: Array,
             motion: Array, mass: Array, force: Array) -> float:
        """Add one beam to `mass` and `force`; return its potential energy."""
        t, bend = tree
        eta = z[one.at]
        rate = zd[one.at]
        known = one.modes
        turn = one.turn
        origin = one.start
        arm = np.zeros(3)
        jacobian, (spin, accel, turning) = np.zeros((6, len(t))), np.zeros((3, 3))
        if one.number >= 0:
            frame = frames[one.number]
            move = motion[one.number]
            axes = frame[:9].reshape(3, 3)
            turn = axes @ one.turn
            arm = axes @ one.start
            spin = move[3:6]
            origin = frame[9:] + arm
            kernels.jacobian(self.tree.arrays.links, frames, one.number, one.start, jacobian)
            accel = move[6:9] + np.cross(move[9:], arm) + np.cross(spin, np.cross(spin, arm))
            turning = move[9:]
        accel = accel + jacobian[:3] @ bend
        turning = turning + jacobian[3:] @ bend
        # places, their derivatives by the modes, and what remains of their accelerations
        short = known.shortening @ eta
        along = known.place - 0.5 * short @ eta
        points = np.stack([along, known.shape @ eta, np.zeros_like(along)], 1) @ turn.T
        by_mode = np.stack([-short, known.shape, np.zeros_like(short)], 1)
        by_mode = np.einsum('ij,gjk->gik', turn, by_mode)
        rest = -np.multiply.outer(np.einsum('j,gjk,k->g', rate, known.shortening, rate),
                                  turn[:, 0])
        columns = jacobian @ t
        whole = columns[:3] + np.cross(columns[3:].T[None], points[:, None]).swapaxes(1, 2)
        whole[:, :, one.at] += by_mode
        accel = (accel + np.cross(turning, points) + np.cross(spin, np.cross(spin, points))
                 + 2.0 * np.cross(spin, by_mode @ rate) + rest)
        weight = one.beam.density * known.weight
        gravity = self.tree.arrays.gravity
        mass += np.einsum('g,gij,gik->jk', weight, whole, whole, optimize=True)
        force += np.einsum('g,gij,gi->j', weight, whole, accel - gravity, optimize=True)
        force[one.at] += known.stiffness * (
            eta + 2.0 * one.beam.damping / known.frequency * rate)
        return float(0.5 * known.stiffness @ eta**2 - weight @ ((origin + points) @ gravity))

    def line(self, z: ArrayLike, beam: int = 0) -> Array:
        """Return points on a `beam` in world axes at `z` (N,), its free end last: (k, 3), m."""
        z = self._checked('z', z)
        one = self._beams[beam]
        q, *_ = self.tree_state(z, np.zeros(self.size))
        eta, (shape, _, short) = z[one.at], one.modes.tip
        x = np.append(one.modes.place, one.beam.length)
        x = x - 0.5 * np.append(one.modes.shortening, short[None], 0) @ eta @ eta
        y = np.vstack([one.modes.shape, shape]) @ eta
        points = np.stack([x, y, np.zeros_like(x)], 1)
        turn = one.turn
        origin = one.start
        if one.number >= 0:
            frame = observed(self.tree, q[None]).frames[0, one.number]
            axes = frame[:9].reshape(3, 3)
            turn = axes @ one.turn
            origin = frame[9:] + axes @ one.start
        return origin + points @ turn.T

    def accelerations(self, z: ArrayLike, zd: ArrayLike, tau: ArrayLike = 0.0) -> Array:
        """Return z̈ (N,) for torques `tau` (joints,) at `z` and `zd` (N,)."""
        found = self.terms(z, zd)
        right = -found.force
        right[:len(self.joints)] += np.asarray(tau, float)
        return np.linalg.solve(found.mass, right)

    def energy(self, z: ArrayLike, zd: ArrayLike) -> float:
        """Return kinetic, elastic and gravity energy at `z` and `zd` (N,), J."""
        found = self.terms(z, zd)
        return found.kinetic + found.potential

    def frequencies(self, z: ArrayLike, zd: ArrayLike | None = None) -> Array:
        """
        Return the frequencies of the modes while joints move as `z` and `zd` (N,), rad/s.

        The joints' velocities in `zd` are held constant. Linearised about the modes in `z`, which
        should be an equilibrium; small oscillations, ascending.
        """
        z = self._checked('z', z)
        zd = np.zeros(self.size) if zd is None else self._checked('zd', zd)
        first = len(self.joints)
        count = self.size - first
        a = np.zeros((2 * count, 2 * count))
        a[:count, count:] = np.eye(count)
        mass = self.terms(z, zd).mass[first:, first:]
        for k in range(2 * count):
            step = STEP * (self._beams[0].beam.length if k < count else 1.0)
            move = np.zeros((2, self.size))
            move[k // count, first + k % count] = step
            high, low = (self.terms(z + s * move[0], zd + s * move[1]).force[first:]
                         for s in (1.0, -1.0))
            a[count:, k] = -np.linalg.solve(mass, high - low) / (2.0 * step)
        found = np.linalg.eigvals(a)
        return np.sort(np.abs(found.imag))[::2]

    def simulate(self, z: ArrayLike, zd: ArrayLike, times: ArrayLike,
                 torque: Callable[[float, Array, Array], ArrayLike] | None = None,
                 tolerance: float = 1e-11) -> tuple[Array, Array]:
        """
        Return z and ż (k, N) at `times` (k,), s, from `z` and `zd` (N,) at the first of them.

        Dormand and Prince's eighth order with relative error `tolerance`; ``torque(time, z, zd)``
        gives the joints' torques, none without.
        """
        def slope(time: float, state: Array) -> Array:
            place = state[:self.size]
            rate = state[self.size:]
            tau = 0.0 if torque is None else torque(time, place, rate)
            return np.concatenate([rate, self.accelerations(place, rate, tau)])

        times = np.asarray(times, float)
        start = np.concatenate([self._checked('z', z), self._checked('zd', zd)])
        found = solve_ivp(slope, (times[0], times[-1]), start, 'DOP853', times, rtol=tolerance,
                          atol=1e-3 * tolerance)
        if not found.success:
            raise FlexibleError(f'no motion beyond {found.t[-1]:.6g} s: {found.message}')
        return found.y[:self.size].T, found.y[self.size:].T

    def _checked(self, name: str, value: ArrayLike) -> Array:
        array = np.array(value, float)
        if array.shape != (self.size,) or not np.isfinite(array).all():
            raise FlexibleError(f'{name} = {value!r}: expected {self.size} finite numbers, '
                                f'{len(self.joints)} joints and then the modes')
        return array
