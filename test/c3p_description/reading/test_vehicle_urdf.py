# SPDX-License-Identifier: Apache-2.0
"""URDF of vehicles for rough ground: Pinocchio finds the frames of the equations in it."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from c3p_description.reading.loader import robot_description
from c3p_description.reading.vehicle_files import load_vehicle, vehicle_names
from c3p_description.reading.vehicle_urdf import link_name, vehicle_urdf
from c3p_rough_ground.closed_chain.velocity import joint_frames
from c3p_rough_ground.vehicles import closed_chain

BENT = """
kind: vehicle
name: bent
joints:
  fork: {axis: [0, 0, 1], origin: [1, 0.1, -0.2], rpy: [0.3, -0.4, 0.5], lower: -1, upper: 1}
  front: {axis: [0, 1, 0], origin: [0, 0, -0.1]}
  slide: {axis: [0.6, 0.8, 0], kind: prismatic, origin: [0, 0.5, 0.2]}
  left: {axis: [0, 1, 0]}
  right: {axis: [0, 1, 0], origin: [0, -0.5, 0]}
wheels:
  front: {joints: [fork, front], sphere: [0.2]}
  left: {joints: [slide, left], cylinder: [0.2, 0.03, 0.02]}
  right: {joints: [right], ellipsoid: [0.2, 0.1]}
"""


@pytest.fixture(params=[*vehicle_names(), 'bent'])
def vehicle(request, tmp_path):
    """Return a vehicle of the suite, or one with turned frames and other wheels."""
    if request.param != 'bent':
        return load_vehicle(request.param)
    file = tmp_path / 'bent.yaml'
    file.write_text(BENT)
    return load_vehicle(file)


def test_pinocchio_places_every_joint_where_the_equations_do(vehicle):
    pin = pytest.importorskip('pinocchio', reason='pip install .[test]')
    model, chains = pin.buildModelFromXML(vehicle_urdf(vehicle)), closed_chain(vehicle)
    theta, q = np.random.default_rng(4).uniform(-0.5, 0.5, len(vehicle.joints)), pin.neutral(model)
    for name, angle in zip(vehicle.joints, theta, strict=True):
        joint = model.joints[model.getJointId(name)]
        # continuous joints are a point on the circle
        q[joint.idx_q:joint.idx_q + joint.nq] = (
            [angle] if joint.nq == 1 else [math.cos(angle), math.sin(angle)])
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for k, wheel in enumerate(vehicle.wheels.values()):
        for name, frame in zip(wheel.joints, joint_frames(chains, k, theta), strict=True):
            found = data.oMf[model.getFrameId(link_name(name))].homogeneous
            # the text has twelve digits
            np.testing.assert_allclose(found, frame, rtol=0, atol=1e-11)


def test_bars_end_at_the_joints_and_tyres_have_their_size(vehicle):
    robot = ElementTree.fromstring(vehicle_urdf(vehicle))
    origins = sorted(math.hypot(*joint.origin) for joint in vehicle.joints.values()
                     if any(joint.origin))
    bars = [part for part in robot.iter('visual') if part.find('material').get('name') == 'bars']
    lengths = sorted(float(part.find('geometry/cylinder').get('length')) for part in bars)
    np.testing.assert_allclose(lengths, origins)
    for wheel in vehicle.wheels.values():
        link = robot.find(f"link[@name='{link_name(wheel.joints[-1])}']")
        tyre = next(part for part in link.iter('visual')
                    if part.find('material').get('name') == 'tyre').find('geometry')[0]
        assert float(tyre.get('radius')) == pytest.approx(wheel.outer_radius)


def test_a_vehicle_has_a_robot_description_by_name():
    text = robot_description('rover')
    assert text == vehicle_urdf(load_vehicle('rover')) and 'name="front_axle"' in text
