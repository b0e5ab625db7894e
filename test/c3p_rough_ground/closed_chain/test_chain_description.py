# SPDX-License-Identifier: Apache-2.0
"""Descriptions of vehicles: what they say, and what they refuse."""

import numpy as np
import pytest
from grounded_vehicles import TRICYCLE, random_state, tangled_vehicle

from c3p_rough_ground.closed_chain import ChainJoint, DescriptionError, Vehicle, Wheel
from c3p_rough_ground.closed_chain.vehicle import quaternion, rotation_matrix
from c3p_rough_ground.rolling_contact import sphere

BALL = sphere(0.2)


def cart(**changes):
    joints = [ChainJoint(f'spin_{i}', (0, 1, 0), (i, i * i, 0)) for i in range(3)]
    parts = {'joints': joints, 'wheels': [Wheel(str(i), (f'spin_{i}',), BALL) for i in range(3)]}
    return Vehicle('cart', **{**parts, **changes})


@pytest.mark.parametrize('make, text', [
    (lambda: ChainJoint('a', (0, 0, 0)), 'no direction'),
    (lambda: ChainJoint('a', (0, 0, 1), rotation=np.diag([1, 1, -1])), 'not a rotation'),
    (lambda: ChainJoint('a', (0, 0, np.nan)), 'axis of a'),
    (lambda: ChainJoint('a', (0, 0, 1), kind='screw'), 'kind of a'),
    (lambda: ChainJoint('a', (0, 0, 1), lower=1, upper=0), 'range of a'),
    (lambda: Wheel('w', (), BALL), 'no joint'),
    (lambda: cart(wheels=[Wheel('0', ('spin_0',), BALL)]), 'needs three'),
    (lambda: cart(wheels=[Wheel('0', ('nothing',), BALL)] * 3), "joint 'nothing' does not exist"),
    (lambda: cart(settling=('rocker',)), "no joint 'rocker'"),
    (lambda: cart(wheels=[Wheel(str(i), ('spin_0',), BALL) for i in range(3)]), 'one wheel'),
    (lambda: cart(wheels=[Wheel('0', ('spin_0', 'spin_1'), BALL), Wheel('1', ('spin_1',), BALL),
                          Wheel('2', ('spin_2',), BALL)]), 'a joint has one'),
    (lambda: cart(joints=[ChainJoint(f'spin_{i}', (1, 0, 0)) for i in range(3)]), 'the axle'),
    (lambda: cart(joints=[ChainJoint(f'spin_{i}', (0, 1, 0)) for i in range(4)]), 'spin_3'),
    (lambda: cart(joints=[ChainJoint('spin_0', (0, 1, 0))] * 3), 'same name'),
])
def test_a_description_of_no_vehicle_is_refused_by_name(make, text):
    with pytest.raises(DescriptionError, match=text):
        make()


def test_four_wheels_without_a_settling_joint_are_refused():
    joints = [ChainJoint(f'spin_{i}', (0, 1, 0), (i, i * i, 0)) for i in range(4)]
    with pytest.raises(DescriptionError, match='settling'):
        Vehicle('cart', joints, [Wheel(str(i), (f'spin_{i}',), BALL) for i in range(4)])


def test_states_are_packed_and_unpacked_to_rounding():
    for seed in range(20):
        vehicle = tangled_vehicle(seed)
        state = random_state(vehicle, seed)
        again = vehicle.unpack_state(vehicle.pack_state(state))
        for name in ('position', 'rotation', 'joint', 'contact'):
            assert np.abs(getattr(again, name) - getattr(state, name)).max() < 1e-14


def test_half_turns_have_quaternions():
    for diagonal in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1]):
        assert np.abs(rotation_matrix(quaternion(np.diag(diagonal))) - np.diag(diagonal)
                      ).max() < 1e-15


def test_a_state_of_the_wrong_size_is_named():
    state = random_state(tangled_vehicle(0), 0)
    with pytest.raises(ValueError, match='joint of the state of tricycle'):
        TRICYCLE.pack_state(state)
