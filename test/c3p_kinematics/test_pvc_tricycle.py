# SPDX-License-Identifier: Apache-2.0
"""The tricycle's description is the geometry that the parameters mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description.pvc_model import PvcTricycle
from c3p_kinematics.closed_chain_vehicle.velocity import joint_frames
from c3p_kinematics.pvc_tricycle import vehicle

MODEL = PvcTricycle('example', 1.3, 0.7, 0.12, 0.25, 0.05, camber_limit=0.6, steering_limit=0.8)


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    out = np.eye(4)
    i, j = [(1, 2), (2, 0), (0, 1)]['xyz'.index(axis)]
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return out


def move(x, y, z):
    out = np.eye(4)
    out[:3, 3] = x, y, z
    return out


@given(st.tuples(*[st.floats(-3, 3)] * 6))
def test_wheel_frames_are_the_products_of_the_model(joint):
    steering, drive_1, camber_2, drive_2, camber_3, drive_3 = joint
    expected = [
        move(1.3, 0, 0) @ turn('z', steering) @ turn('y', drive_1),
        move(0, 0.58, 0) @ turn('x', camber_2) @ move(0, 0.12, 0) @ turn('y', drive_2),
        move(0, -0.58, 0) @ turn('x', camber_3) @ move(0, -0.12, 0) @ turn('y', drive_3)]
    for i, frame in enumerate(expected):
        assert np.abs(joint_frames(vehicle(MODEL), i, joint)[-1] - frame).max() < 1e-14


def test_joints_have_the_limits_of_the_model_and_cambers_are_known():
    tricycle = vehicle(MODEL)
    assert tricycle.limits[0].tolist() == [-0.8, 0.8]
    assert tricycle.limits[2].tolist() == tricycle.limits[4].tolist() == [-0.6, 0.6]
    assert np.all(np.isinf(tricycle.limits[[1, 3, 5]]))
    assert [tricycle.index(name) for name in tricycle.camber] == [2, 4]
    assert tricycle.spins == (1, 3, 5)
    with pytest.raises(ValueError, match='has no joint'):
        tricycle.index('wheel_joint_4')
