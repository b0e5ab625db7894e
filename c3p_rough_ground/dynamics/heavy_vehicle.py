# SPDX-License-Identifier: Apache-2.0
"""A vehicle with masses, tyres and servos, packed for the kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from c3p_multibody.trees import Body, Joint, Tree, point_jacobian, rnea
from c3p_multibody.trees.parts import lumped
from c3p_rough_ground.closed_chain.description import DescriptionError, predecessors
from c3p_rough_ground.closed_chain.placement import place
from c3p_rough_ground.closed_chain.vehicle import Vehicle
from c3p_rough_ground.dynamics._contact_kernels import TYRE
from c3p_rough_ground.dynamics._vehicle_kernels import BASE, SERVO, System
from c3p_rough_ground.dynamics.bodies import PLATFORM
from c3p_rough_ground.rolling_contact._kernels import CYLINDER
from c3p_rough_ground.terrain import Flat

GRAVITY = 9.81


@dataclass(frozen=True)
class Tyre:
    """
    Contact of one wheel with the ground.

    Normal force ``N = k δ (1 + c δ̇)``, never negative. The tread deflects by z with the slip s and
    is renewed by rolling and by sliding: ``ż = s − (|v_r|/σ + k_t |s|/(µ N)) z``, tangential force
    ``−k_t z − c_t ż``. It holds a vehicle on a slope, has the slip stiffness k_t σ while rolling,
    and never exceeds µ N for long.

    Attributes
    ----------
    stiffness : float, N/m
        k.
    damping : float, s/m
        c.
    shear_stiffness, shear_damping : float, N/m and N·s/m
        k_t and c_t.
    relaxation : float, m
        σ, rolling distance over which the deflection is renewed.
    friction : float
        µ.
    rolling : float, m
        Couple against rolling per normal force.

    Raises
    ------
    DescriptionError
        A value that is not finite, or not positive; damping and rolling may be zero.
    """

    stiffness: float = 40e3
    damping: float = 1.5
    shear_stiffness: float = 40e3
    shear_damping: float = 200.0
    relaxation: float = 0.08
    friction: float = 0.8
    rolling: float = 0.003

    def __post_init__(self) -> None:
        """Check every number."""
        for name, value in vars(self).items():
            least = 0.0 if name in ('damping', 'rolling') else 1e-9
            if not (math.isfinite(value) and value >= least):
                raise DescriptionError(f'tyre: {name} = {value}: must be finite and '
                                       + ('not negative' if least == 0.0 else 'positive'))

    def row(self) -> list[float]:
        """Return the numbers for the kernels."""
        return [self.stiffness, self.damping, self.shear_stiffness, self.shear_damping,
                self.relaxation, self.friction, self.rolling]


@dataclass(frozen=True)
class Servo:
    """
    Motor, spring and friction of one joint.

    Motor torque ``gain (θ̇_d − θ̇) + integral ∫(θ̇_d − θ̇)``, within `limit`; passive torque
    ``preload − spring θ − viscous θ̇ − dry sign θ̇``. In N·m and rad, of a prismatic joint in N and
    m.
    """

    gain: float = 0.0
    integral: float = 0.0
    limit: float = math.inf
    spring: float = 0.0
    preload: float = 0.0
    viscous: float = 0.0
    dry: float = 0.0

    def row(self) -> list[float]:
        """Return the numbers for the kernels."""
        return [self.gain, self.integral, self.limit, self.spring, self.preload, self.viscous,
                self.dry]


@dataclass(frozen=True, eq=False)
class HeavyVehicle:
    """
    A vehicle with masses.

    Attributes
    ----------
    vehicle : Vehicle
    bodies : sequence of Body
        In the frames of the joints they are named after, and ``platform`` in {P}; several of one
        name move as one.
    servos : mapping
        Of joints by name; a joint without one is free.
    tyre : Tyre
        Of every wheel.
    differentials : sequence of tuples of str
        Groups of joints whose motors share one controller: the mean of their rates is controlled,
        and all have the same torque, as behind a differential gear. Their servos should be equal.
    gravity : float, m/s²

    Raises
    ------
    DescriptionError
        A body or servo without a joint, a joint without a body, a wheel with a flat tread.
    """

    vehicle: Vehicle
    bodies: Sequence[Body]
    servos: Mapping[str, Servo] = field(default_factory=dict)
    tyre: Tyre = field(default_factory=Tyre)
    differentials: Sequence[Sequence[str]] = ()
    gravity: float = GRAVITY
    tree: Tree = field(init=False, repr=False)
    system: System = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parts and pack them."""
        names = [joint.name for joint in self.vehicle.joints]
        for what, given in (('body', [body.name for body in self.bodies]),
                            ('servo', list(self.servos))):
            for name in given:
                if name not in names and (what, name) != ('body', PLATFORM):
                    raise DescriptionError(f'{self.vehicle.name}: {what} {name!r}: no such joint; '
                                           f'available: {names}')
        for wheel in self.vehicle.wheels:
            if wheel.surface.kind == CYLINDER:
                raise DescriptionError(f'{self.vehicle.name}: wheel {wheel.name} has a flat '
                                       'tread, which touches along a line: take a torus, a sphere '
                                       'or an ellipsoid')
        object.__setattr__(self, 'tree', self._tree(names))
        object.__setattr__(self, 'system', self._system())

    def _body(self, name: str) -> Body:
        parts = [Body(body.name, body.mass, np.asarray(body.com, float),
                      np.asarray(body.inertia, float))
                 for body in self.bodies if body.name == name]
        if not parts:
            raise DescriptionError(f'{self.vehicle.name}: joint {name} has no body: give its mass')
        return lumped(parts)

    def _tree(self, names: list[str]) -> Tree:
        parents = predecessors(self.vehicle.joints, self.vehicle.wheels)
        joints = [Joint(PLATFORM, 'floating')]
        bodies = [self._body(PLATFORM)]
        lower = [-1]
        for joint in self.vehicle.joints:
            above = parents[joint.name]
            joints.append(Joint(joint.name, joint.kind, joint.axis, joint.rotation, joint.origin))
            bodies.append(self._body(joint.name))
            lower.append(0 if above is None else 1 + names.index(above))
        return Tree.from_connection(lower, joints, bodies, (0.0, 0.0, -self.gravity))

    def _system(self) -> System:
        number = np.argsort(self.tree.order)
        spins = [BASE + spin for spin in self.vehicle.spins]
        wheel = np.array([[number[at], at, w.surface.kind]
                          for at, w in zip(spins, self.vehicle.wheels, strict=True)], np.int64)
        servo = np.array([self.servos.get(joint.name, Servo()).row()
                          for joint in self.vehicle.joints]).reshape(-1, SERVO)
        tyre = np.array([self.tyre.row()] * len(wheel)).reshape(-1, TYRE)
        share = np.eye(len(servo))
        for group in self.differentials:
            at = [self.vehicle.index(name) for name in group]
            share[np.ix_(at, at)] = 1.0 / len(at)
        return System(self.tree.arrays, wheel, self.vehicle.packed.profile, tyre, servo, share)

    @property
    def mass(self) -> float:
        """Mass of the whole vehicle, kg."""
        return float(sum(body.mass for body in self.tree.bodies))

    def standing(self) -> tuple[np.ndarray, np.ndarray]:
        """
        Return normal forces (w,) N on flat ground, and the torques (m,) that keep all joints.

        Statics of the upright vehicle: height, roll, pitch and the settling joints are free, and
        the forces balance the weight in their directions.
        """
        m = self.vehicle.size[0]
        state = place(self.vehicle, Flat(), 0.0, 0.0, 0.0).require()
        q = np.concatenate([state.position, self._angles(state.rotation), state.joint])
        weight = rnea(self.tree, q, np.zeros(BASE + m), np.zeros(BASE + m))
        columns = []
        for wheel in self.vehicle.wheels:
            # a vertical force: where on the vertical it acts does not matter
            columns.append(point_jacobian(self.tree, q, wheel.joints[-1])[2])
        reach = np.array(columns).T
        free = [2, 4, 5, *(BASE + self.vehicle.index(name) for name in self.vehicle.settling)]
        force = np.linalg.lstsq(reach[free], weight[free], rcond=None)[0]
        return force, (weight - reach @ force)[BASE:]

    @staticmethod
    def _angles(rotation: np.ndarray) -> list[float]:
        """Return yaw, pitch, roll of ``R = Rz Ry Rx``."""
        r = rotation
        return [math.atan2(r[1, 0], r[0, 0]), math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0])),
                math.atan2(r[2, 1], r[2, 2])]


def balanced(heavy: HeavyVehicle) -> HeavyVehicle:
    """
    Return the vehicle with springs preloaded so that it stands upright on flat ground.

    A camber joint inboard of its wheel carries the moment N e; without a preload the wheel tilts
    until its spring carries it. `heavy` keeps the preloads of joints without a spring.
    """
    torque = heavy.standing()[1]
    servos = dict(heavy.servos)
    for name, servo in servos.items():
        if servo.spring > 0.0:
            servos[name] = replace(servo, preload=float(torque[heavy.vehicle.index(name)]))
    return replace(heavy, servos=servos)
