# SPDX-License-Identifier: Apache-2.0
"""Calibration in the node: parameters, services, and the file that the next start reads."""

import numpy as np
import pytest
import yaml
from miscalibrated import towed_drive
from robots import C3P

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from std_srvs.srv import Trigger  # noqa: E402

from c3p_description import load  # noqa: E402
from c3p_description.reading.loader import robot_description  # noqa: E402
from c3p_kinematics.calibrating_odometry import CalibratingOdometry  # noqa: E402
from c3p_kinematics.calibration.kept import kept_covariance, kept_text  # noqa: E402
from c3p_kinematics.calibration.parameters import (  # noqa: E402
    CalibrationSettings,
    parameters_of,
)
from c3p_kinematics.calibration.recording import CalibrationError  # noqa: E402
from c3p_kinematics.ros.node_odometry import CalibrationServices  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.diagnostics import WARN  # noqa: E402


def enabled(file):
    return {'calibration.enabled': True, 'calibration.file': str(file)}


def taught(node):
    """Teach the odometry of a node that wheel 2 is larger than described."""
    recording, _ = towed_drive(C3P, 3, 15.0)
    wheel = recording.wheel_angle / [1.0, 1.003, 1.0]
    for row in zip(recording.time, recording.steering, wheel, strict=True):
        node._odometry.step(*row)
    return node._odometry.calibration.parameters[:, 0]


def call(node, name):
    """Return the answer of a service, called in the thread of the test."""
    services = CalibrationServices.__new__(CalibrationServices)
    services._node, services._odometry = node, node._odometry
    return getattr(services, f'_on_{name}')(Trigger.Request(), Trigger.Response())


def test_what_was_learned_is_written_and_is_a_robot(bench, tmp_path):
    file = tmp_path / 'learned.yaml'
    node = bench.add(SensedKinematicsNode, **enabled(file))
    radius = taught(node)
    assert 'caster 2' in node.metrics()
    answer = call(node, 'save')
    assert answer.success and str(file) in answer.message
    np.testing.assert_allclose(load(file).wheel_radius, radius, rtol=1e-6)
    assert radius[1] / radius[[0, 2]].mean() == pytest.approx(1.003, abs=5e-4)
    assert sorted(p.name for p in tmp_path.iterdir()) == ['learned.covariance.yaml',
                                                          'learned.yaml']
    assert call(node, 'forget').success
    np.testing.assert_array_equal(node._odometry.robot.geometry, load('c3p').geometry)


def test_a_restart_continues_with_the_covariance(bench, tmp_path):
    file = tmp_path / 'learned.yaml'
    node = bench.add(SensedKinematicsNode, **enabled(file))
    taught(node)
    covariance = node._odometry.calibration.covariance
    assert call(node, 'save').success
    node.destroy_node()
    again = bench.add(SensedKinematicsNode, robot=str(file), **enabled(tmp_path / 'next.yaml'))
    np.testing.assert_allclose(again._odometry.calibration.covariance, covariance, rtol=1e-6,
                               atol=1e-18)
    # the covariances that are published are by it: radii relative to each other are known
    assert np.diag(again._odometry._lasting.spread).min() < 0.5
    # without calibration the description is as uncertain as any
    other = bench.add(SensedKinematicsNode, robot=str(file))
    np.testing.assert_array_equal(other._odometry._lasting.spread, np.eye(15))


@pytest.mark.parametrize(('change', 'named'), [
    (lambda c: c['covariance'].pop(), r'shape \(14, 15\)'),
    (lambda c: c['covariance'][2].__setitem__(2, float('nan')), 'not finite'),
    (lambda c: c['covariance'][2].__setitem__(2, 0.0), 'variance of 0'),
    (lambda c: c['covariance'][2].__setitem__(3, 1.0), 'not symmetric'),
    (lambda c: c['lengths'][0].__setitem__(0, 0.05), 'another file'),
    (lambda c: c.pop('covariance'), 'shape'),
    (lambda c: _negative(c['covariance']), 'eigenvalue')])
def test_a_covariance_that_cannot_be_one_is_refused_with_the_remedy(change, named):
    parameters = parameters_of(C3P)
    content = yaml.safe_load(kept_text('x.yaml', parameters, np.diag(
        CalibrationSettings().prior.deviations(C3P)**2)))
    np.testing.assert_array_equal(kept_covariance(content, C3P, 'x')[0, 1:], 0.0)
    change(content)
    with pytest.raises(CalibrationError, match=named) as error:
        kept_covariance(content, C3P, 'place/x.covariance.yaml')
    assert 'place/x.covariance.yaml' in f'{error.value}' and 'delete the file' in f'{error.value}'


def _negative(rows):
    rows[0][1] = rows[1][0] = 2.0 * np.sqrt(rows[0][0] * rows[1][1])


@pytest.mark.parametrize('factor', [1.5, 4.0, 1e30])
def test_a_covariance_above_the_prior_is_refused_at_the_start(bench, tmp_path, factor):
    file, parameters = tmp_path / 'mine.yaml', parameters_of(C3P)
    file.write_text('extends: c3p\n', encoding='utf-8')
    variance = CalibrationSettings().prior.deviations(C3P)**2
    kept = tmp_path / 'mine.covariance.yaml'
    kept.write_text(kept_text('mine.yaml', parameters, factor * np.diag(variance)))
    words = enabled(tmp_path / 'next.yaml')
    with pytest.raises(CalibrationError, match='mine.covariance.yaml.*prior.*delete the file'):
        bench.add(SensedKinematicsNode, robot=str(file), **words)
    # of a single parameter, too
    variance[3] *= factor
    kept.write_text(kept_text('mine.yaml', parameters, np.diag(variance)))
    with pytest.raises(CalibrationError, match='times that of the prior'):
        bench.add(SensedKinematicsNode, robot=str(file), **words)
    # a node with the prior of that calibration continues
    wide = {f'description_std.{name}': 2.0 * float(np.sqrt(variance[k])) / unit
            for name, k, unit in (('wheel_radius', 0, 0.04), ('caster_offset', 1, 0.04),
                                  ('hip_position', 3, 1.0), ('steering_zero', 4, 1.0))}
    if factor < 1e30:
        assert bench.add(SensedKinematicsNode, robot=str(file), **words, **wide)


def test_an_estimate_that_most_windows_contradict_is_not_written(bench, tmp_path):
    file = tmp_path / 'learned.yaml'
    node = bench.add(SensedKinematicsNode, **enabled(file))
    recording, _ = towed_drive(C3P, 3, 30.0)
    # encoders of casters 1 and 2 are exchanged; the watch for slip is left out
    steering, wheel = recording.steering[:, [1, 0, 2]], recording.wheel_angle[:, [1, 0, 2]]
    middle = 0.5 * (steering[1:] + steering[:-1])
    for row in zip(middle, np.diff(wheel, axis=0), np.diff(steering, axis=0), strict=True):
        node._odometry.calibration.step(*row)
    answer = call(node, 'save')
    assert not answer.success and 'do not explain this motion' in answer.message
    assert not list(tmp_path.iterdir())


def test_a_calibration_that_the_motion_contradicts_is_a_warning_with_its_remedy(bench, tmp_path):
    node = bench.add(SensedKinematicsNode, **enabled(tmp_path / 'learned.yaml'))
    shown = node.diagnostics._conditions
    recording, _ = towed_drive(C3P, 3, 30.0)

    def drive(factor):
        wheel = recording.wheel_angle * [1.0, factor, 1.0]
        middle = 0.5 * (recording.steering[1:] + recording.steering[:-1])
        for row in zip(middle, np.diff(wheel, axis=0), np.diff(recording.steering, axis=0),
                       strict=True):
            node._odometry.calibration.step(*row)
        node._on_watch()

    drive(1.0)
    assert 'calibration' not in shown
    # a wheel of another size than the description allows for
    drive(1.06)
    level, text, _ = shown['calibration']
    assert level == WARN and 'description_std' in text
    # good floor again, until it prevails over the noise that was measured in the windows before
    drive(1.0)
    drive(1.0)
    assert 'begins again from' in shown['calibration'][1]
    drive(1.0)
    assert 'calibration' not in shown


def test_a_broken_file_is_named_at_the_start(bench, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('extends: c3p\n', encoding='utf-8')
    (tmp_path / 'mine.covariance.yaml').write_text('covariance: [', encoding='utf-8')
    with pytest.raises(CalibrationError, match='mine.covariance.yaml.*delete the file'):
        bench.add(SensedKinematicsNode, robot=str(file), **enabled(tmp_path / 'next.yaml'))


def test_a_robot_by_its_description_is_written_beside_the_file(bench, tmp_path):
    file = tmp_path / 'learned.yaml'
    node = bench.add(SensedKinematicsNode, robot_description=robot_description('c3p'),
                     **enabled(file))
    assert call(node, 'save').success
    np.testing.assert_allclose(load(file).wheel_radius, 0.04, rtol=1e-3)


def test_without_calibration_the_services_fail_with_the_remedy(bench):
    node = bench.add(SensedKinematicsNode)
    assert not isinstance(node._odometry, CalibratingOdometry)
    for name in ('save', 'forget'):
        answer = call(node, name)
        assert not answer.success and 'calibration.enabled' in answer.message


@pytest.mark.parametrize(('file', 'named'), [
    ('', 'is empty'), ('/nowhere/there/x.yaml', 'nowhere'), ('x.txt', 'must end with .yaml')])
def test_a_file_that_cannot_be_written_is_named(bench, file, named):
    node = bench.add(SensedKinematicsNode, **enabled(file))
    answer = call(node, 'save')
    assert not answer.success and named in answer.message


def test_the_description_in_use_is_not_overwritten(bench, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('extends: c3p\n', encoding='utf-8')
    node = bench.add(SensedKinematicsNode, robot=str(file),
                     **enabled(file))
    answer = call(node, 'save')
    assert not answer.success and 'name another file' in answer.message
    assert file.read_text(encoding='utf-8') == 'extends: c3p\n'
