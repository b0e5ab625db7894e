# SPDX-License-Identifier: Apache-2.0
"""Files of vehicles for rough ground: those of the suite, own ones, and what is refused."""

import math

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.reading.vehicle_files import is_vehicle, load_vehicle, vehicle_names
from c3p_rough_ground.closed_chain import DescriptionError, place
from c3p_rough_ground.terrain import Hills
from c3p_rough_ground.vehicles import caster_vehicle, closed_chain, four_wheel_rover, vla_tricycle

CART = """
kind: vehicle
name: cart
joints:
  s: {axis: [0, 0, 1], origin: [1.0, 0, 0], rpy: [0, 0, 0.1], lower: -0.8, upper: 0.8}
  a: {axis: [0, 1, 0]}
  b: {axis: [0, 1, 0], origin: [0, 0.4, 0]}
  c: {axis: [0, 1, 0], origin: [0, -0.4, 0]}
wheels:
  front: {joints: [s, a], sphere: [0.2]}
  left: {joints: [b], ellipsoid: [0.2, 0.05]}
  right: {joints: [c], torus: [0.15, 0.05]}
steering: [s]
"""


def written(tmp_path, text=CART):
    path = tmp_path / 'cart.yaml'
    path.write_text(text)
    return path


@pytest.mark.parametrize('name, built', [
    ('rover', four_wheel_rover()), ('caster_vehicle', caster_vehicle()),
    ('vla_tricycle', vla_tricycle(load('pvc')))])
def test_the_vehicles_of_the_suite_are_those_of_the_equations(name, built):
    read, ground = closed_chain(load_vehicle(name)), Hills.random(1)
    for one, other in ((read.packed.tree, built.packed.tree),
                       (read.packed.chain, built.packed.chain),
                       (read.packed.fixed, built.packed.fixed),
                       (read.packed.profile, built.packed.profile)):
        np.testing.assert_allclose(one, other, atol=1e-15)
    assert [j.name for j in read.joints] == [j.name for j in built.joints]
    np.testing.assert_allclose(place(read, ground, 1, 2, 0.3).require().position,
                               place(built, ground, 1, 2, 0.3).require().position, atol=1e-12)


def test_every_file_is_a_vehicle_that_stands():
    assert vehicle_names() == ['caster_vehicle', 'rover', 'vla_tricycle']
    for name in vehicle_names():
        assert is_vehicle(name) and place(closed_chain(load_vehicle(name)), Hills.random(0),
                                          0, 0, 0).success


def test_a_file_of_ones_own_is_read_with_its_rotations_and_surfaces(tmp_path):
    model = load_vehicle(written(tmp_path))
    assert is_vehicle(tmp_path / 'cart.yaml') and model.outer_radius == 0.2
    vehicle = closed_chain(model)
    assert math.atan2(*vehicle.joints[0].rotation[:2, 0][::-1]) == pytest.approx(0.1)
    assert [w.surface.outer_radius for w in vehicle.wheels] == pytest.approx([0.2, 0.2, 0.2])


@pytest.mark.parametrize('old, new, says', [
    ('name: cart', 'nam: cart', 'nam.*unknown key'),
    ('  c: {axis: [0, 1, 0]', '  c: {axis: [0, 1]', r'joints.c.axis = .*list of 3 numbers'),
    ('axis: [0, 0, 1]', 'axes: [0, 0, 1]', r'joints.s = .*expected a joint such as'),
    ('torus: [0.15, 0.05]', 'torus: [0.15, -0.05]', 'must be greater than zero'),
    ('torus: [0.15, 0.05]', 'disc: [0.15]', 'one surface of torus, sphere'),
    ('joints: [c]', 'joints: [d]', r'wheels.right.joints: joint .d. does not exist'),
    ('upper: 0.8', 'upper: high', r"joints.s.upper = 'high': expected a finite number"),
    ('steering: [s]', 'steering_rate_limit: -1', 'must be greater than zero'),
    ('steering: [s]', 'steering: s', 'expected a list of joints'),
    ('rpy: [0, 0, 0.1]', 'kind: screw', 'must be revolute or prismatic'),
    ('kind: vehicle', 'kind: agv', 'kind: expected `kind: vehicle`')])
def test_what_is_wrong_is_named_with_file_and_remedy(tmp_path, old, new, says):
    path = written(tmp_path, CART.replace(old, new, 1))
    with pytest.raises(ModelError, match=says) as error:
        load_vehicle(path)
    assert str(path) in str(error.value)


def test_a_tree_that_is_none_is_refused_by_the_kinematics(tmp_path):
    with pytest.raises(DescriptionError, match='do not lead to a wheel'):
        closed_chain(load_vehicle(written(tmp_path, CART.replace('joints: [s, a]', 'joints: [a]',
                                                                 1))))


def test_unknown_names_and_other_commands_get_a_hint(tmp_path):
    with pytest.raises(ModelError, match='do you mean rover'):
        load_vehicle('rovr')
    with pytest.raises(ModelError, match='no such file'):
        load_vehicle(tmp_path / 'none.yaml')
    for name in ('rover', written(tmp_path)):
        with pytest.raises(ModelError, match='`c3p sim` and rough_ground_node drive it'):
            load(name)
