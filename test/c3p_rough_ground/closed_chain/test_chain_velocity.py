# SPDX-License-Identifier: Apache-2.0
"""Velocities: the full system, the reduced one, Pinocchio's Jacobians and differences of poses."""

import numpy as np
import pytest
from grounded_vehicles import (
    EQUAL_DRIVES,
    HILLS,
    TRICYCLE,
    motion_at,
    places,
    platform_by_wheels,
    random_state,
    tangled_vehicle,
    tricycle_at,
    tricycle_joints,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_rough_ground.closed_chain import _rate_kernels as rate_kernels
from c3p_rough_ground.closed_chain import contact_jacobians, velocity
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.closed_chain.velocity import joint_frames
from c3p_rough_ground.terrain import Hills

rates = st.tuples(*[st.floats(-2, 2)] * 6).map(np.array)


def tree_of(vehicle, pin):
    """Return the vehicle as Pinocchio's tree on a free base, and the joint each name became."""
    model, known = pin.Model(), {}
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'base')
    for wheel in vehicle.wheels:
        parent = base
        for name in wheel.joints:
            if name not in known:
                joint = vehicle.joints[vehicle.index(name)]
                kind = (pin.JointModelPrismaticUnaligned if joint.kind == 'prismatic'
                        else pin.JointModelRevoluteUnaligned)
                known[name] = model.addJoint(parent, kind(joint.axis), pin.SE3(
                    joint.rotation, joint.origin), name)
            parent = known[name]
    return model, known


def put(vehicle, model, known, state, pin):
    """Return Pinocchio's configuration of a state."""
    q = pin.neutral(model)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.rotation, state.position))
    for name, at in known.items():
        q[model.joints[at].idx_q] = state.joint[vehicle.index(name)]
    return q


@pytest.mark.parametrize('seed', range(12))
def test_chains_and_jacobians_are_pinocchios(seed):
    pin = pytest.importorskip('pinocchio', reason='pip install .[test]')
    vehicle = tangled_vehicle(seed)
    state = random_state(vehicle, seed)
    model, known = tree_of(vehicle, pin)
    data, q = model.createData(), put(vehicle, model, known, state, pin)
    pin.computeJointJacobians(model, data, q)
    grasp, reach = contact_jacobians(vehicle, state)
    memory = memory_of(vehicle).work
    still = np.zeros(len(vehicle.joints))
    rate_kernels.rates(vehicle.packed, ground_arrays(HILLS), vehicle.pack_state(state), still,
                       np.ones(len(still)), memory.block, memory.values,
                       np.zeros(len(vehicle.pack_state(state))))
    for i, wheel in enumerate(vehicle.wheels):
        local = pin.SE3(wheel.surface.frame(state.contact[i, :2]),
                        wheel.surface.point(state.contact[i, :2]))
        at = known[wheel.joints[-1]]
        contact = data.oMi[at] * local
        # our compiled chain turns no wheel and yet finds the same point and axes; lengths of a
        # chain are some metres
        assert np.abs(memory.contact[i, :3] - contact.translation).max() < 1e-13
        assert np.abs(memory.contact[i, 3:12].reshape(3, 3).T - contact.rotation).max() < 1e-13
        chain = pin.SE3(joint_frames(vehicle, i, state.joint)[-1])
        assert np.abs((data.oMi[1].inverse() * data.oMi[at]).homogeneous - chain.homogeneous
                      ).max() < 1e-13
        jacobian = local.toActionMatrixInverse() @ pin.getJointJacobian(model, data, at, pin.LOCAL)
        rows = slice(6 * i, 6 * i + 6)
        assert np.abs(jacobian[:, :6] - grasp[rows, :6]).max() < 1e-12
        for name, joint in known.items():
            ours = reach[rows, vehicle.index(name)]
            assert np.abs(jacobian[:, model.joints[joint].idx_v] - ours).max() < 1e-12


@settings(max_examples=30)
@given(places, tricycle_joints, rates, st.integers(0, 1000))
def test_reduced_form_equals_the_full_system_of_the_paper(place, joint, desired, seed):
    state = tricycle_at(HILLS, *place, joint)
    weights = np.random.default_rng(seed).uniform(0.1, 10.0, 6)
    full = velocity(TRICYCLE, HILLS, state, desired, weights)
    fast = motion_at(TRICYCLE, HILLS, state, desired, weights)
    # both solve systems whose condition is about ten
    for name in ('joint_rates', 'contact_rates', 'platform_twist'):
        assert np.abs(getattr(full, name) - getattr(fast, name)[0]).max() < 1e-12, name
    assert (full.free, full.rank) == (3, 15)
    assert full.singular_values.shape == (15,)
    assert full.condition == pytest.approx(full.singular_values[0] / full.singular_values[-1])


@pytest.mark.parametrize('seed', range(6))
def test_reduced_form_holds_for_four_wheels_on_any_chains(seed):
    vehicle, rng = tangled_vehicle(seed), np.random.default_rng(seed)
    state, desired = random_state(vehicle, seed), rng.normal(size=vehicle.size[0])
    ground = Hills.random(seed)
    # the chains need not close for this comparison
    full = velocity(vehicle, ground, state, desired)
    memory, out = memory_of(vehicle).work, np.zeros(7 + sum(vehicle.size) + 4 * vehicle.size[1])
    rank = rate_kernels.rates(vehicle.packed, ground_arrays(ground), vehicle.pack_state(state),
                              desired, np.ones(len(desired)), memory.block, memory.values, out)
    assert rank == 6 and full.free == len(desired) - 6 and full.rank == 18
    # condition numbers to 1e3 here
    assert np.abs(full.joint_rates - out[7:7 + len(desired)]).max() < 1e-11
    assert np.abs(full.contact_rates.ravel() - out[7 + len(desired):]).max() < 1e-9
    assert np.abs(state.rotation @ full.platform_twist[:3] - out[:3]).max() < 1e-10


@settings(max_examples=20)
@given(places, tricycle_joints, rates)
def test_all_chains_move_the_platform_alike(place, joint, desired):
    state = tricycle_at(HILLS, *place, joint)
    motion, h = velocity(TRICYCLE, HILLS, state, desired), 1e-5
    ahead, back = (platform_by_wheels(TRICYCLE, HILLS, state.joint + s * motion.joint_rates,
                                      state.contact + s * motion.contact_rates) for s in (h, -h))
    moved = (ahead - back) / (2 * h)
    v, w = motion.platform_twist[:3], motion.platform_twist[3:]
    expected = np.column_stack([state.rotation @ np.cross(w, np.eye(3), axisb=0).T,
                                state.rotation @ v])
    # central differences: h² × rates³, rounding 1e-16 × 40 m / h
    assert np.abs(moved[:, :3] - expected).max() < 1e-8


@settings(max_examples=20)
@given(places, tricycle_joints, rates)
def test_input_projection_is_the_nearest_and_keeps_what_fits(place, joint, desired):
    state = tricycle_at(HILLS, *place, joint)
    first = velocity(TRICYCLE, HILLS, state, desired)
    again = velocity(TRICYCLE, HILLS, state, first.joint_rates)
    assert np.abs(again.joint_rates - first.joint_rates).max() < 1e-12
    # what was taken away stands at right angles to all that is possible
    other = velocity(TRICYCLE, HILLS, state, EQUAL_DRIVES).joint_rates
    assert abs((desired - first.joint_rates) @ other) < 1e-11


def test_infinite_weights_keep_joints_to_what_they_are_told():
    state = tricycle_at(HILLS, 1.0, 2.0, 0.5)
    weights = np.array([np.inf, 1.0, 1.0, 1.0, 1.0, np.inf])
    desired = np.array([0.1, 1.0, 0.0, 1.0, 0.0, 0.9])
    full = velocity(TRICYCLE, HILLS, state, desired, weights)
    fast = motion_at(TRICYCLE, HILLS, state, desired, weights)
    assert full.joint_rates[[0, 5]].tolist() == [0.1, 0.9]
    assert np.abs(full.joint_rates - fast.joint_rates[0]).max() < 1e-12


@pytest.mark.parametrize('desired, weights, text', [
    (np.ones(5), None, 'desired'), (np.full(6, np.nan), None, 'desired'),
    (np.ones(6), np.zeros(6), 'weights'), (np.ones(6), np.ones(4), 'weights')])
def test_wrong_inputs_are_named(desired, weights, text):
    with pytest.raises(ValueError, match=text):
        velocity(TRICYCLE, HILLS, tricycle_at(HILLS, 0, 0, 0), desired, weights)
