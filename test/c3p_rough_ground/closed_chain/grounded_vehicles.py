# SPDX-License-Identifier: Apache-2.0
"""Vehicles, grounds and states that the tests of closed chains share."""

import numpy as np
from hypothesis import strategies as st

from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import (
    ChainJoint,
    State,
    Vehicle,
    Wheel,
    axis_rotation,
    place,
    simulate,
)
from c3p_rough_ground.closed_chain.velocity import joint_frames, transform
from c3p_rough_ground.rolling_contact import Ellipsoid, Ground, Torus, contact_orientation, sphere
from c3p_rough_ground.terrain import Hills
from c3p_rough_ground.vehicles import pvc_tricycle

TRICYCLE = pvc_tricycle(PvcTricycle('tricycle', 1.2, 0.6, 0.1, 0.25, 0.05))
HILLS = Hills.random(1)
# slopes to 45°, hollows rounder than a metre
STEEP = Hills.random(3, amplitude=3.5, wavelength=10.0)
EQUAL_DRIVES = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])

places = st.tuples(st.floats(-30, 30), st.floats(-30, 30), st.floats(-3.1, 3.1))
tricycle_joints = st.tuples(*[st.floats(-0.5, 0.5)] * 6).map(np.array)


def tricycle_at(ground, x, y, yaw, joint=None):
    """Return a closed state of the tricycle."""
    return place(TRICYCLE, ground, x, y, yaw, joint).require()


def motion_at(vehicle, ground, state, desired, weights=None):
    """Return the compiled rates at a state: a run of no length."""
    return simulate(vehicle, ground, state, desired, 0.0, weights=weights)


def platform_by_wheels(vehicle, ground, joint, contact):
    """Return T_GP by each wheel, from ground to contact, wheel and back through its chain."""
    out = []
    for i, wheel in enumerate(vehicle.wheels):
        surface, below, (u, v, x, y, psi) = wheel.surface, Ground(ground), contact[i]
        rotation = below.frame([x, y]) @ contact_orientation(psi) @ surface.frame([u, v]).T
        position = below.point([x, y]) - rotation @ surface.point([u, v])
        chain = joint_frames(vehicle, i, joint)[-1]
        out.append(transform(rotation, position) @ np.linalg.inv(chain))
    return np.array(out)


def planar_tricycle():
    """Return a tricycle on balls without camber: on flat ground the planar one of text books."""
    joints = [ChainJoint('steer', (0, 0, 1), (1.5, 0, 0)), ChainJoint('front', (0, 1, 0)),
              ChainJoint('left', (0, 1, 0), (0, 0.4, 0)),
              ChainJoint('right', (0, 1, 0), (0, -0.4, 0))]
    return Vehicle('planar', joints, [
        Wheel('front', ('steer', 'front'), sphere(0.2)), Wheel('left', ('left',), sphere(0.2)),
        Wheel('right', ('right',), sphere(0.2))])


def tangled_vehicle(seed):
    """Return four wheels on chains with axes in all directions, some sliding, some shared."""
    rng = np.random.default_rng(seed)

    def joint(name, kind='revolute'):
        return ChainJoint(name, rng.normal(size=3), rng.normal(size=3),
                          axis_rotation(rng.normal(size=3), rng.uniform(-3, 3)), kind)

    joints, wheels = [joint('shared'), joint('lift', 'prismatic')], []
    for i, surface in enumerate((Torus(0.3, 0.1), Ellipsoid(0.3, 0.2), sphere(0.2),
                                 Torus(0.2, 0.02))):
        own = [joint(f'first_{i}'), joint(f'second_{i}', 'prismatic' if i == 2 else 'revolute')]
        spin = ChainJoint(f'spin_{i}', (0, 1, 0), rng.normal(size=3),
                          axis_rotation(rng.normal(size=3), rng.uniform(-3, 3)))
        before = ('shared', 'lift') if i < 2 else ()
        joints += [*own, spin]
        wheels.append(Wheel(str(i), (*before, *(j.name for j in own), spin.name), surface))
    return Vehicle('tangled', joints, wheels, settling=('lift',))


def random_state(vehicle, seed):
    """Return any state, with wheels that need not touch."""
    rng = np.random.default_rng(seed)
    m, n = vehicle.size
    contact = np.column_stack([rng.uniform(-3, 3, n), rng.uniform(-0.6, 0.6, n),
                               rng.uniform(-5, 5, (n, 2)), rng.uniform(-3, 3, n)])
    return State(rng.normal(size=3), axis_rotation(rng.normal(size=3), rng.uniform(-3, 3)),
                 rng.uniform(-2, 2, m), contact)


def deepest_points(state, ground):
    """Yield the least height of each wheel of the tricycle over the ground, by a fine grid."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 240), np.linspace(-1.5, 1.5, 61))
    platform = transform(state.rotation, state.position)
    for i in range(3):
        frame = platform @ joint_frames(TRICYCLE, i, state.joint)[-1]
        radius = 0.25 + 0.05 * np.cos(v)
        local = np.stack([radius * np.cos(u), 0.05 * np.sin(v), -radius * np.sin(u)])
        x, y, z = np.einsum('ij,jkl->ikl', frame[:3, :3], local) + frame[:3, 3, None, None]
        yield float((z - ground.height(x, y)).min())
