# SPDX-License-Identifier: Apache-2.0
"""What the motor can reach at the wheel, from a parameter file and from a URDF."""

import re

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.reading.loader import robot_description
from c3p_description.reading.urdf import from_urdf


@pytest.fixture(scope='module')
def c3p():
    return robot_description('c3p')


def test_the_limit_of_the_parameter_file_is_that_of_the_urdf(c3p):
    assert load('c3p').wheel_rate_limit.tolist() == [25.0] * 3
    np.testing.assert_array_equal(from_urdf(c3p).wheel_rate_limit, load('c3p').wheel_rate_limit)


@pytest.mark.parametrize('text', ['', 'velocity="0"', 'velocity="inf"'])
def test_without_a_velocity_limit_a_wheel_has_none(c3p, text):
    # the joints of the wheels are the ones with a rate limit of 25 rad/s
    changed, count = re.subn(r'velocity="25\.0"', text, c3p)
    assert count == 3
    assert np.isinf(from_urdf(changed).wheel_rate_limit).all()


def test_a_negative_limit_is_refused(c3p):
    with pytest.raises(ModelError, match='wheel_rate_limit = .*must be greater than zero'):
        from_urdf(c3p.replace('velocity="25.0"', 'velocity="-25.0"', 1))
