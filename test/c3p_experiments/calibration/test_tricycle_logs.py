# SPDX-License-Identifier: Apache-2.0
"""A tricycle from its log to a calibrated odometry: CSV, ticks of a cycle, motion capture."""

import json
from dataclasses import replace

import numpy as np
import pytest
from robot_logs import ROOT
from synthetic import read_topics
from wheel_drives import drive, wander

from c3p_bags.importing.import_log import import_logs
from c3p_bags.importing.mapping import MappingError, read_mapping
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.recompute import read_samples, recompute
from c3p_bags.storage.bag import Bag
from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_experiments.calibration.calibrate import odometry_of, references_of
from c3p_kinematics.calibration.parameters import CalibrationSettings

DESCRIBED = load('tricycle_agv')
COUNTS = 1600
# as real ones are: 1.3 % and 5 % off, and a zero that was set by eye
TRUE = replace(
    DESCRIBED, wheel_radius=0.0325 * 0.987,
    hip_position=DESCRIBED.hip_position + [[0.007, 0.0], [0.0, 0.0], [0.0, 0.0]],
    steering_zero=DESCRIBED.steering_zero + np.radians([-1.2, 0.0, 0.0]))
# the servo goes to multiples of its step
STEP = np.pi / 400
MAPPING = (ROOT / 'config' / 'import' / 'tricycle.yaml').read_text()
ENCODERS = CalibrationSettings(wheel_resolution=2 * np.pi / COUNTS,
                               steering_resolution=STEP)


def twist_of(seed, turn):
    """Return a motion that begins and ends at standstill, around the middle of the rear axle."""
    random = wander(seed, speed=0.15, turn=0.3)

    def twist_at(t):
        fade = np.clip(min(t - 1.0, 59.0 - t), 0.0, 1.0)
        vx, _, w = random(t)
        # curvature in steps of the servo
        angle = STEP * np.round(np.arctan2(0.157 * (w + turn), vx) / STEP)
        return fade * np.array([vx, 0.0, vx * np.tan(angle) / 0.157])

    return twist_at


def write_log(path, seed, turn, noise=1e-3):
    """Write the log of a drive of the true robot: the columns of config/import/tricycle.yaml."""
    ride = drive(TRUE, twist_of(seed, turn), 60.0, 1.0 / 0.062, -0.5 * np.pi)
    rng = np.random.default_rng(seed)
    ticks = np.diff(np.floor(ride.wheel[:, 0] * COUNTS / (2 * np.pi)), prepend=0.0)
    # the encoder does not know of its zero
    servo = ride.steering[:, 0] - TRUE.steering_zero[0]
    pose = ride.pose + noise * rng.normal(size=ride.pose.shape)
    np.savetxt(path, np.column_stack([ride.time, pose, ticks, servo]), delimiter=',')
    return ride


def bag_of(tmp_path, name, seed, turn):
    """Return the bag of a drive, imported with the published mapping."""
    ride = write_log(tmp_path / f'{name}.csv', seed, turn)
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text(MAPPING)
    import_logs([tmp_path / f'{name}.csv'], read_mapping(mapping), tmp_path / name)
    return tmp_path / name, ride


def error_of(robot, bag):
    """Return final error [m] and path [m] of the odometry of a bag against its ground truth."""
    with Bag(bag) as opened:
        log = read_run(opened, robot)
    poses = odometry_of(robot, log, None, ENCODERS)
    path = np.hypot(*np.diff(log.ground_truth.pose[::50, :2], axis=0).T).sum()
    return np.hypot(*(poses[-1] - log.ground_truth.pose[-1])[:2]), path


def test_circles_calibrate_a_tricycle_for_other_paths(tmp_path, capsys):
    circles = [f'{bag_of(tmp_path, f"circle_{k}", k, turn)[0]}'
               for k, turn in enumerate((0.35, -0.35))]
    out = tmp_path / 'out'
    assert main(['calibrate', *circles, '--robot', 'tricycle_agv', '--ground-truth',
                 '--counts', f'{COUNTS}', '800', '--prior-zero', '3', '--prior-radius', '5',
                 '--prior-hip', '7.5', '--out', f'{out}', '--json', f'{tmp_path / "m.json"}']) == 0
    text = capsys.readouterr().out
    assert 'caster 1' in text and 'radius' in text
    metrics = json.loads((tmp_path / 'm.json').read_text())
    assert metrics['casters'][0]['wheel_radius']['value'] == pytest.approx(
        0.0325 * 0.987, rel=2e-3)
    found = load(out / 'calibrated.yaml')
    assert found.steering_zero[0] - found.steering_zero[1] == pytest.approx(
        np.radians(-1.2), abs=np.radians(0.2))
    # other paths than those of the calibration
    for seed in (10, 11):
        other, _ = bag_of(tmp_path, f'other_{seed}', seed, 0.0)
        before, path = error_of(DESCRIBED, other)
        after, _ = error_of(found, other)
        assert path > 4.0
        assert before > 0.1
        # zeros are known to a tenth of a degree, which turns it by as much per decimetre
        assert after < 0.05
        assert after < 0.3 * before


def test_recomputed_odometry_of_a_tricycle_is_that_of_its_joints(tmp_path):
    bag, ride = bag_of(tmp_path, 'drive', 3, 0.2)
    with Bag(bag) as opened:
        samples, recorded = read_samples(opened, TRUE)
    assert recorded is None
    # a fixed wheel stands at its angle
    np.testing.assert_array_equal(samples.angles[:, 0, 1:], TRUE.steering_zero[1])
    found = recompute(samples, TRUE)
    end = found.numbers[-1]
    assert np.hypot(*(end[:2] - ride.pose[-1, :2])) < 0.02


def test_a_ground_truth_of_another_clock_is_less_certain_while_the_robot_moves(tmp_path):
    bag, _ = bag_of(tmp_path, 'drive', 4, 0.2)
    with Bag(bag) as opened:
        log = read_run(opened, DESCRIBED)
    exact, late = (references_of(DESCRIBED, [log], (), True, time) for time in (0.0, 0.3))
    assert [one.begin for one in late] == [late[0].begin] * len(late)
    assert exact[0].deviation == pytest.approx((0.002, 0.002, 0.002))
    speed = 0.15
    assert late[0].deviation[0] == pytest.approx(0.3 * speed, rel=0.7)
    # at its end it stands
    assert late[-1].deviation == pytest.approx((0.002, 0.002, 0.002), abs=2e-3)


def test_a_robot_of_a_mapping_needs_its_measured_joints_alone(tmp_path):
    write_log(tmp_path / 'log.csv', 5, 0.2)
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text(f'robot: tricycle_agv\n{MAPPING}')
    import_logs([tmp_path / 'log.csv'], read_mapping(mapping), tmp_path / 'bag')
    names = next(m.name for topic, _, m in read_topics(tmp_path / 'bag')
                 if topic == '/joint_states')
    assert set(names) == {'steering_joint_1', 'wheel_joint_1'}
    mapping.write_text(f'robot: swerve\n{MAPPING}')
    with pytest.raises(MappingError, match='steering_joint_2'):
        import_logs([tmp_path / 'log.csv'], read_mapping(mapping), tmp_path / 'other')


def test_a_report_of_a_tricycle_is_written(tmp_path):
    bag, _ = bag_of(tmp_path, 'drive', 6, 0.2)
    assert main(['report', f'{bag}', '--robot', 'tricycle_agv', '--out',
                 f'{tmp_path / "report"}']) == 0
    assert list((tmp_path / 'report').glob('**/*.html'))


@pytest.mark.parametrize('robot', ['swerve', 'tricycle_agv'])
def test_a_law_of_casters_for_another_robot_is_refused_in_one_line(robot, tmp_path, capsys):
    assert main(['robot', robot, '--controller', 'mpc', '--out', f'{tmp_path}']) != 0
    text = capsys.readouterr().err.strip()
    assert robot in text and 'modules' in text and '\n' not in text
