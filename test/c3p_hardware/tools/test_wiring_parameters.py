# SPDX-License-Identifier: Apache-2.0
"""Round trip: a wiring, its true assignment, the written parameters, and true angles with them."""

import numpy as np
import pytest
from wired_channels import WIRINGS, channels

from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.parameters import cards_like, devices_of
from c3p_hardware.emulator.wiring import CardWiring, true_assignment, wired
from c3p_hardware.tools.parameter_file import hardware_values, merged
from c3p_hardware.tools.wiring_parameters import corrections
from c3p_kinematics.commissioning.assignment import NONE, channels_of
from c3p_kinematics.se2 import wrap

C3P = load_casters('c3p')
TRUTH = np.array([0.4, -1.2, 0.9, 3.0, -2.0, 5.0])

BY_HAND = ('motors', 'encoders of motors', 'signs')

# what the interface expects before: the defaults, and parameters that differ for each axis
BEFORE = {
    'defaults': {},
    'different axes': {
        'drives.node_ids': [4, 2, 9], 'drives.directions': [1, -1, 1],
        'drives.gear_ratio': [14.0, 20.0, 14.0], 'encoders.counts': [4096, 8192, 4096],
        'encoders.range': [4096, 16384, 4096], 'encoders.directions': [-1, 1, 1],
        'encoders.zeros': [100, 5000, 0], 'encoders.serial_numbers': [2001, 2002, 2003]}}


@pytest.mark.parametrize('before', BEFORE)
@pytest.mark.parametrize('name', [name for name in WIRINGS if name not in BY_HAND])
def test_the_written_parameters_give_true_angles(tmp_path, name, before):
    values = hardware_values(**BEFORE[before])
    expected = EmulatedDevices(**devices_of(cards_like(values)))
    there = wired(expected, WIRINGS[name], C3P)
    truth = true_assignment(expected, there, C3P)
    found = corrections(C3P, values, channels_of(C3P), truth)
    assert not found.by_hand and found.parameters
    # as a file, over what was there
    file = tmp_path / 'cards.yaml'
    file.write_text(merged(merged('', BEFORE[before]), found.parameters))
    measured = channels(C3P, there, hardware_values([file]), TRUTH)
    # half a count of 4096 is rounded twice: by the card, and in the zero
    assert np.abs(wrap(measured - TRUTH)).max() < 3e-3
    assert np.abs(measured[3:] - TRUTH[3:]).max() < 3e-3


def test_a_robot_that_is_wired_rightly_needs_no_parameter():
    truth = true_assignment(EmulatedDevices(), EmulatedDevices(), C3P)
    assert corrections(C3P, hardware_values(), channels_of(C3P), truth) == ({}, [])


@pytest.mark.parametrize(('wiring', 'words'), [
    (CardWiring(reversed_motors=('1',)), 'exchange two leads of the motor'),
    (CardWiring(reversed_encoders=('wheel_joint_1',)), 'A and B of its encoder'),
    (CardWiring(exchanged_motors=('1 2',)), 'exchange the cables of the motors'),
    (CardWiring(exchanged_encoders=('wheel_joint_1 wheel_joint_2',)), 'or of their encoders'),
])
def test_cables_are_named_where_no_parameter_helps(wiring, words):
    expected = EmulatedDevices()
    truth = true_assignment(expected, wired(expected, wiring, C3P), C3P)
    found = corrections(C3P, hardware_values(), channels_of(C3P), truth)
    assert found.by_hand and all('wheel_joint' in text for text in found.by_hand)
    assert words in found.by_hand[0]


def test_a_dead_encoder_is_named_with_its_joint():
    truth = true_assignment(EmulatedDevices(), EmulatedDevices(), C3P)
    truth.encoder_of[1] = NONE
    found = corrections(C3P, hardware_values(), channels_of(C3P), truth)
    assert found == ({}, ['steering_joint_2: no channel measures it: check its encoder, cable and '
                          'supply'])
