# SPDX-License-Identifier: Apache-2.0
"""Wiring of emulated cards: what channels give, and the texts of impossible ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from wired_channels import WIRINGS, Silent, channels

from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.emulator.hand import HandMovedRobot
from c3p_hardware.emulator.parameters import (
    check_wiring,
    devices_of,
    expected_cards,
    given_wiring,
)
from c3p_hardware.emulator.wiring import CardWiring, CardWiringError, true_assignment, wired
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_kinematics.se2 import wrap

C3P = load_casters('c3p')
FOUR = replace(
    load_casters('powered_caster'), name='mule',
    wheel_joints=tuple(f'{place}_wheel_joint' for place in ('fl', 'fr', 'rl', 'rr')),
    steering_joints=tuple(f'{place}_steer_joint' for place in ('fl', 'fr', 'rl', 'rr')))

@pytest.mark.parametrize('name', WIRINGS)
def test_the_assignment_of_a_wiring_makes_channels_true(name):
    expected = EmulatedDevices()
    there = wired(expected, WIRINGS[name], C3P)
    assignment = true_assignment(expected, there, C3P)
    truth = np.array([0.4, -1.2, 0.9, 3.0, -2.0, 5.0])
    measured = channels(C3P, there, hardware_values(), truth)
    # steering wraps by a turn; the resolution is 1.5 mrad, of which half is rounded
    error = wrap(assignment.angles(measured[None])[0] - truth)
    assert np.abs(error).max() < 2e-3
    if name != 'motors':  # which only a torque shows
        assert np.abs(measured - truth).max() > 0.1


def test_exchanged_cables_of_motors_move_the_other_wheel():
    there = wired(EmulatedDevices(), CardWiring(exchanged_motors=('1 2',),
                                                reversed_motors=('1',)), C3P)
    cards = EmulatedCards(Silent(), HandMovedRobot(C3P), there)
    # the drive that is taken for wheel 1 counts it, and turns wheel 2
    assert [(axis.joint, axis.motor) for axis in cards._axes] == [(0, 1), (1, 0), (2, 2)]
    truth = true_assignment(EmulatedDevices(), there, C3P)
    assert truth.motor_of[3:].tolist() == [1, 0, 2] and truth.leads[3:].tolist() == [1, -1, 1]


def test_a_caster_is_named_by_what_its_joints_have_in_common():
    there = wired(EmulatedDevices(), CardWiring(exchanged_modules=('fl', 'rr')), FOUR)
    wheels = [f'{place}_wheel_joint' for place in ('rr', 'fr', 'rl', 'fl')]
    assert list(there.drive_joints[:4]) == wheels
    # the motors of steering, too, are of the module
    assert there.drive_joints[4] == there.encoder_joints[0] == 'rr_steer_joint'


@pytest.mark.parametrize(('wiring', 'words'), [
    (CardWiring(exchanged_modules=('fr fll',)), "'fll': mule has no such caster, did you mean fl"),
    (CardWiring(exchanged_modules=('fl',)), 'two or more different ones'),
    (CardWiring(exchanged_drives=('fl_wheel fr',)), "'fl_wheel', did you mean fl_wheel_joint?"),
    (CardWiring(exchanged_encoders=('fl_wheel_joint fr',)), 'cannot be exchanged'),
    (CardWiring(reversed_motors=('x',)), "mule has no joint or caster 'x'"),
    (CardWiring(zeros=('fl',)), 'a name and a number, such as fl 90'),
    (CardWiring(gears=('fl -1',)), 'greater than zero'),
])
def test_an_impossible_wiring_is_refused_with_its_remedy(wiring, words):
    with pytest.raises(CardWiringError, match='^wiring[.]') as error:
        wired(EmulatedDevices(), wiring, FOUR)
    assert words in f'{error.value}'


def test_a_wiring_is_meant_against_the_files_up_to_its_own(tmp_path):
    first, wrong, right = (tmp_path / f'{name}.yaml' for name in ('first', 'wrong', 'right'))
    first.write_text('hardware_interface: {ros__parameters: {encoders.zeros: [7, 8, 9]}}')
    wrong.write_text('emulated_cards: {ros__parameters: {wiring: {exchanged_modules: [1 2]}}}')
    right.write_text('hardware_interface: {ros__parameters: {drives.node_ids: [2, 1, 3]}}')
    files = [first, wrong, right]
    cards = expected_cards(files)
    assert cards['drive_ids'] == [0] and cards['steering_zero_counts'] == [7, 8, 9]
    assert expected_cards([first, right])['drive_ids'] == [2, 1, 3]
    assert given_wiring(files) == CardWiring(exchanged_modules=('1 2',))
    check_wiring(C3P, files)
    with pytest.raises(CardWiringError, match='no such caster'):
        check_wiring(C3P, [*files, _file(tmp_path, 'exchanged_modules: [fl 9]')])


def _file(folder, text):
    path = folder / 'more.yaml'
    path.write_text('emulated_cards: {ros__parameters: {wiring: {' + text + '}}}')
    return path


def test_no_wiring_changes_nothing():
    empty = SimpleNamespace(**dict.fromkeys(CardWiring.__dataclass_fields__, ['']))
    expected = EmulatedDevices(**devices_of(expected_cards([])))
    assert not CardWiring.of(empty) and wired(expected, CardWiring.of(empty), C3P) is expected
