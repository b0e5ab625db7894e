# SPDX-License-Identifier: Apache-2.0
"""Files of a commissioning for wirings that are made up: parameters, page, text and numbers."""

import pytest

from c3p_bringup.commission.emulated import wired_devices
from c3p_bringup.commission.results import driver_lines, figures, summary, write_results
from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.wiring import CardWiring, true_assignment, wired
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_kinematics.commissioning.assignment import FoundWiring, as_described

C3P = load_casters('c3p')


def found_of(wiring, undecided=()):
    """Return the truth of a wiring as if it had been found."""
    truth = true_assignment(EmulatedDevices(), wired(EmulatedDevices(), wiring, C3P), C3P)
    right = as_described(C3P)
    spread = truth._replace(gear=0.0 * truth.gear + 1e-3, zero=0.0 * truth.zero + 1e-3)
    return FoundWiring(truth, 0.998, spread, ((right, 0.002),), tuple(undecided), 0.9)


def test_modules_and_a_zero_are_written_as_parameters_with_the_reason(tmp_path):
    wiring = CardWiring(exchanged_modules=('1 2',), zeros=('3 90',))
    result = write_results(C3P, 'c3p', found_of(wiring), [], tmp_path)
    assert result.lines[0] == 'modules of casters 1 and 2 exchanged'
    assert result.lines[1].startswith('steering zero of caster 3: -90.0° ±')
    text = (tmp_path / 'cards.yaml').read_text()
    assert '#   modules of casters 1 and 2 exchanged' in text and 'probability 0.9980' in text
    values = hardware_values([tmp_path / 'cards.yaml'])
    assert values.drives.node_ids == [2, 1, 3] and values.encoders.node_ids == [12, 11, 13]
    assert values.encoders.zeros == [0, 0, 1024]
    page = (tmp_path / 'commissioning.html').read_text()
    assert 'modules of casters 1 and 2 exchanged' in page and '<svg' in page
    assert 'wired as described (probability 0.002)' in page and 'encoders.zeros' in page


def test_what_no_parameter_mends_is_printed_and_not_written(tmp_path):
    found = found_of(CardWiring(reversed_motors=('2',)), ['scale: drive 1 m along a tape'])
    result = write_results(C3P, 'c3p', found, [], tmp_path)
    assert not (tmp_path / 'cards.yaml').exists() and set(result.files) == {'page'}
    text = summary(found, result)
    assert 'BY HAND    wheel_joint_2: the motor of drive 2 turns against' in text
    assert 'undecided  scale' in text
    numbers = figures(C3P, found, result)
    assert numbers['joints']['wheel_joint_2']['leads'] == -1
    assert numbers['joints']['steering_joint_1']['motor'] is None
    assert numbers['by_hand'] and not numbers['parameters']


def test_a_robot_that_is_wired_rightly_gets_no_file(tmp_path):
    found = found_of(CardWiring())
    result = write_results(C3P, 'c3p', found, [], tmp_path)
    assert 'everything is wired as described' in summary(found, result)
    assert set(result.files) == {'page'} and not result.lines


def test_a_robot_on_topics_gets_changes_of_its_driver(tmp_path):
    found = found_of(CardWiring(exchanged_drives=('1 3',), reversed_encoders=('2',)))
    lines = driver_lines(C3P, found.assignment)
    assert lines == [
        'steering_joint_2: publish -1 × what is published as steering_joint_2 now (signs and '
        'zeros of the model)',
        'wheel_joint_1: publish 1 × what is published as wheel_joint_3 now; give its effort to '
        'the motor of wheel_joint_3, as 1 times (signs and zeros of the model)',
        'wheel_joint_3: publish 1 × what is published as wheel_joint_1 now; give its effort to '
        'the motor of wheel_joint_1, as 1 times (signs and zeros of the model)']
    result = write_results(C3P, 'c3p', found, [], tmp_path, cards=False)
    assert result.corrections.by_hand == lines and 'parameters' not in result.files


@pytest.mark.parametrize('wiring', [CardWiring(exchanged_modules=('1 2 3',), zeros=('2 33',))])
def test_the_files_in_their_order_leave_nothing_to_be_mended(tmp_path, wiring):
    wrong = tmp_path / 'w.yaml'
    wrong.write_text('emulated_cards: {ros__parameters: {wiring: {exchanged_modules: [1 2 3], '
                     'zeros: [2 33]}}}')
    result = write_results(C3P, 'c3p', found_of(wiring), [wrong], tmp_path)
    files = [wrong, tmp_path / 'cards.yaml']
    # what is wired stays, and the parameters are now those of what is wired
    there = wired_devices(C3P, files)
    assert there == wired_devices(C3P, [wrong])
    values = hardware_values(files)
    assert dict(zip(there.encoder_joints, there.encoder_ids, strict=True)) == dict(zip(
        ('steering_joint_1', 'steering_joint_2', 'steering_joint_3'), values.encoders.node_ids,
        strict=True))
    assert f'Give it after {wrong}' in (tmp_path / 'cards.yaml').read_text()
    assert result.corrections.by_hand == []
