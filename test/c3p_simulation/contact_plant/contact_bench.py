# SPDX-License-Identifier: Apache-2.0
"""The C3P on the contact plant; imports MuJoCo."""

from c3p_description.reading.loader import load
from c3p_simulation.contact_plant.mujoco_model import BodyShape
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant

C3P = load('c3p')
SHAPE = BodyShape.read('c3p')


def plant(robot=C3P, start=None, **options):
    """Return a plant with the heights of the C3P, reset to `start`."""
    result = MujocoPlant(robot, shape=SHAPE, **options)
    result.reset(**(start or {}))
    return result
