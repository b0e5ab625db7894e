# SPDX-License-Identifier: Apache-2.0
"""Calibration from bags: robot files that drive, references, and the command."""

import json

import numpy as np
import pytest

from c3p_bags.runs.log_reader import read_run
from c3p_bags.storage.bag import Bag
from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.reading.loader import robot_description
from c3p_description.reading.urdf import read_urdf
from c3p_description.reading.written import write_robot
from c3p_dynamics.identification.excitation import Excitation
from c3p_experiments.calibration.calibrate import (
    OutsideReferences,
    Taped,
    calibrate_bags,
    odometry_of,
)
from c3p_experiments.calibration.pattern import shortest
from c3p_experiments.identification.excite import ExcitedPlant, simulate_excitation
from c3p_kinematics.calibration.parameters import FIELDS, CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError
from c3p_simulation.plants.sensors import SensorSettings

TRUE = """extends: c3p
casters:
  wheel_radius: [0.0401, 0.04, 0.03985]
  caster_offset: [0.041, 0.039, 0.0405]
  hip_position: [[0.299, 0.1705], [-0.2955, 0.1725], [0.001, -0.341]]
  steering_zero: [0.006, -0.004, 0.002]
"""
ROLLING = CalibrationSettings(creep=2e-4)


@pytest.fixture(scope='module')
def drive(tmp_path_factory):
    """Return the bag of a robot that is not as described, and the file of the robot as it is."""
    place = tmp_path_factory.mktemp('calibration')
    true = place / 'true.yaml'
    true.write_text(TRUE, encoding='utf-8')
    simulate_excitation(place / 'bag', 'c3p', ExcitedPlant(str(true), sensors=SensorSettings()),
                        excitation=Excitation(20.0))
    return place / 'bag', true


def test_a_calibrated_file_is_a_robot_whose_odometry_is_closer_to_the_truth(drive, tmp_path):
    bag, true = drive
    with Bag(bag) as opened:
        metrics = calibrate_bags([opened], 'c3p', tmp_path, settings=ROLLING,
                                 outside=OutsideReferences(ground_truth=True))
        log = read_run(opened, load('c3p'))
    found, robot = load(metrics['files']['robot']), load(true)
    ratio = found.wheel_radius / robot.wheel_radius
    # the truth shows the scale: 2 mm over each metre of some metres
    assert np.abs(ratio - 1).max() < 1e-3
    assert np.abs(ratio / ratio.mean() - 1).max() < 3e-4
    zeros = found.steering_zero - robot.steering_zero
    # rounding of the encoders is 0.0015 rad; the truth shows the heading
    assert np.abs(zeros).max() < 2e-3
    errors = []
    for parameters in (None, np.column_stack([
            found.wheel_radius, found.caster_offset, found.hip_position, found.steering_zero])):
        poses = odometry_of(load('c3p'), log, parameters, ROLLING)
        errors.append(np.hypot(*(poses - log.ground_truth.pose[:len(poses)])[-1, :2]))
    assert errors[1] < 0.5 * errors[0]
    assert {p.suffix for p in tmp_path.iterdir()} == {'.png', '.pdf', '.yaml'}


def test_the_description_of_a_calibrated_robot_has_its_zeros(drive):
    robot = load(drive[1])
    np.testing.assert_allclose(robot.steering_zero, [0.006, -0.004, 0.002])
    text = robot_description(drive[1])
    np.testing.assert_allclose(read_urdf(text).robot.steering_zero, robot.steering_zero)
    assert '<c3p>' not in robot_description('c3p')


def test_the_command_writes_page_robot_and_json(drive, tmp_path, capsys):
    bag, _ = drive
    with Bag(bag) as opened:
        x, y, _ = read_run(opened, load('c3p')).ground_truth.pose[-1]
    assert main(['calibrate', str(bag), '--place', '1', f'{x:.3f}', f'{y:.3f}', '--distance', '1',
                 f'{np.hypot(x, y):.3f}', '--out', str(tmp_path), '--json',
                 str(tmp_path / 'c.json')]) == 0
    metrics = json.loads((tmp_path / 'c.json').read_text(encoding='utf-8'))
    assert metrics['references']['count'] == 2 and len(metrics['casters']) == 3
    shown = capsys.readouterr().out
    assert 'relative to each other' in shown and 'calibrated.yaml' in shown


@pytest.mark.parametrize(('words', 'named'), [
    (['--distance', '1', '2.0'], 'numbers of the references'),
    (['--robot', 'OTHER'], 'the robot is that of the drives')])
def test_a_drive_that_no_lengths_explain_is_refused_and_nothing_is_written(
        drive, tmp_path, capsys, words, named):
    other = tmp_path / 'other.yaml'
    other.write_text('extends: c3p\ncasters: {hip_radius: 0.2, hip_angles: [90, 210, 330]}\n',
                     encoding='utf-8')
    out = tmp_path / 'out'
    given = [str(other) if word == 'OTHER' else word for word in words]
    assert main(['calibrate', str(drive[0]), *given, '--out', str(out)]) == 1
    error = capsys.readouterr().err
    assert named in error and 'do not explain these drives' in error
    assert not list(out.iterdir())


def test_a_wide_prior_finds_a_wheel_that_is_far_from_its_description(drive, tmp_path, capsys):
    far = tmp_path / 'far.yaml'
    far.write_text('extends: c3p\ncasters: {wheel_radius: [0.04, 0.044, 0.04]}\n',
                   encoding='utf-8')
    words = ['calibrate', str(drive[0]), '--robot', str(far), '--out', str(tmp_path / 'out')]
    assert main(words) == 1
    assert 'radius of caster 2' in capsys.readouterr().err
    assert main([*words, '--prior-radius', '5%', '--json', str(tmp_path / 'c.json')]) == 0
    found = load(tmp_path / 'out' / 'calibrated.yaml').wheel_radius
    true = load(drive[1]).wheel_radius
    assert np.abs(found / true / (found / true).mean() - 1).max() < 2e-3
    notes = json.loads((tmp_path / 'c.json').read_text(encoding='utf-8'))['notes']
    assert any('description_std.wheel_radius' in note for note in notes)


def test_a_robot_file_that_does_not_load_is_not_written(tmp_path):
    file, robot = tmp_path / 'mine.yaml', load('c3p')
    write_robot(file, 'extends: c3p\n', robot, FIELDS)
    for text, named in (('extends: c3p\ncasters: {caster_offset: -0.0013}\n', 'not be negative'),
                        ('extends: c3p\ncasters: {wheel_radius: 0.05}\n', 'wheel_radius is read'),
                        ('extends: [', 'mine.yaml')):
        with pytest.raises(ModelError, match=named):
            write_robot(file, text, robot, FIELDS)
        assert file.read_text(encoding='utf-8') == 'extends: c3p\n'
        assert list(tmp_path.iterdir()) == [file]


def test_without_references_the_notes_name_what_is_missing(drive, tmp_path):
    with Bag(drive[0]) as opened:
        metrics = calibrate_bags([opened], 'c3p', tmp_path, settings=ROLLING)
    assert any('--distance' in text for text in metrics['notes'])
    scale = metrics['gauge']['scale_deviation']
    assert 1e-3 < scale < 3e-3


@pytest.mark.parametrize(('words', 'named'), [
    (['--distance', '2', '1.0'], 'number of a bag'), (['--distance', '1', '-1'], '-1'),
    (['--place', '1', '0'], 'N X Y'), (['--place', '1', '0', 'far'], 'far'),
    (['--counts', '0', '4096'], '1 or more')])
def test_wrong_references_of_the_command_are_refused(drive, tmp_path, capsys, words, named):
    assert main(['calibrate', str(drive[0]), *words, '--out', str(tmp_path)]) == 2
    assert named in capsys.readouterr().err


def test_a_reference_of_a_bag_that_is_not_there_is_refused(drive, tmp_path):
    with Bag(drive[0]) as opened, pytest.raises(CalibrationError, match='bag 2'):
        calibrate_bags([opened], 'c3p', tmp_path,
                       outside=OutsideReferences([Taped(1, distance=1.0)]))


@pytest.mark.parametrize(('words', 'named'), [
    ([], 'no bag given'), (['a', '--live'], '--drive'), (['a', 'b', '--drive'], 'only the one')])
def test_the_command_names_what_is_missing_for_a_drive(tmp_path, capsys, words, named):
    assert main(['calibrate', *words, '--out', str(tmp_path)]) == 2
    assert named in capsys.readouterr().err


def test_the_shortest_pattern_is_as_long_as_required():
    robot = load('c3p')
    rough = shortest(robot, 3e-3, 3e-3, settings=CalibrationSettings(), durations=(20.0, 40.0))
    fine = shortest(robot, 1.3e-3, 1.3e-3, durations=(20.0, 40.0))
    never = shortest(robot, 1e-6, 1e-6, durations=(20.0,))
    assert rough.enough and rough.excitation.duration == 20.0
    assert fine.enough and fine.excitation.duration == 40.0
    assert not never.enough and never.radius > 1e-4


def test_a_simulated_drive_is_recorded_and_calibrates(drive, tmp_path):
    assert main(['calibrate', '--drive', '--simulated', str(drive[1]), '--required', '0.3',
                 '--out', str(tmp_path), '--json', str(tmp_path / 'c.json')]) == 0
    found, robot = load(tmp_path / 'calibrated.yaml'), load(drive[1])
    ratio = found.wheel_radius / robot.wheel_radius
    assert np.abs(ratio / ratio.mean() - 1).max() < 3e-3
    assert (tmp_path / 'bag').is_dir()
