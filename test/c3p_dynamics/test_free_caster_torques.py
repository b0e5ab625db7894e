# SPDX-License-Identifier: Apache-2.0
"""Torques against the push of free casters, and a drive forward, back and forward with them."""

import numpy as np
import pytest
from axle_drive import Expected, WheelLoops, headings

from c3p_description import load
from c3p_dynamics.free_caster_torques import expected_torque
from c3p_dynamics.wheel_dynamics import inverse
from c3p_kinematics.free_casters import FreeCasters
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed
from c3p_simulation.plants.wheel_plant import WheelPlant

AMR = load('amr')
MOTION = ([0.3, 0.0, 0.2], 0.0, [0.5, 0.0, 0.3], 0.0)


def test_of_known_angles_the_torques_are_those_of_the_inverse_dynamics():
    casters = FreeCasters(AMR)
    angles = np.array([-np.pi / 2, -np.pi / 2, 0.3, -2.0, 1.1, 2.7])
    casters.know(angles)
    unknown = np.where(casters.free, np.nan, angles)
    np.testing.assert_allclose(expected_torque(casters, unknown, *MOTION),
                               inverse(AMR, angles, *MOTION), atol=1e-12)


def test_of_unknown_angles_they_are_the_mean_over_all():
    casters = FreeCasters(AMR)
    rng = np.random.default_rng(1)
    every = inverse(AMR, rng.uniform(-np.pi, np.pi, (20000, 6)), *MOTION).mean(axis=0)
    # of some angles each, dry friction changes its sign between two of them
    np.testing.assert_allclose(expected_torque(casters, np.zeros(6), *MOTION), every, atol=0.04)


def largest(law, seed, errors=None):
    """Return the largest heading error [rad] of a drive after the first reversal."""
    plant = WheelPlant(AMR if errors is None else perturbed(AMR, seed, errors))
    return np.abs(headings(law(AMR), plant, seed)[300:]).max()


@pytest.mark.parametrize('errors', [None, ParameterErrors(mass=0.1, com=0.01, friction=0.3)],
                         ids=['exact', 'errors'])
@pytest.mark.parametrize('seed', [0, 1])
def test_reversals_turn_the_robot_by_at_most_a_fifth_of_what_wheel_loops_do(seed, errors):
    """Commands at 20 Hz, 100 ms late; encoders of 2000 counts; friction 30 % off."""
    assert largest(Expected, seed, errors) < largest(WheelLoops, seed, errors) / 5


def test_without_the_casters_the_same_feedback_does_not():
    class Blind(Expected):
        def step(self, wanted, sample):
            self.casters.forget()
            return super().step(wanted, sample)

    assert largest(Blind, 0) > largest(WheelLoops, 0) / 3
