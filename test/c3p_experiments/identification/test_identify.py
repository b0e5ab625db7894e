# SPDX-License-Identifier: Apache-2.0
"""From a simulated drive to the robot file: bags, command line, errors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from excited import excited
from matplotlib.image import imread
from synthetic import opened

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.run_bag import write_run
from c3p_bags.runs.run_log import Joints, RunLog, Series
from c3p_bags.storage.bag_writer import BagError
from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_dynamics.identification.excitation import Excitation
from c3p_dynamics.identification.identify import identify
from c3p_dynamics.identification.parameters import USUAL, Unknown, described
from c3p_dynamics.identification.recording import IdentificationError
from c3p_experiments.identification.excite import simulate_excitation
from c3p_experiments.identification.identify import (
    disobedience,
    identify_bag,
    identify_run,
    recording_of,
)
from c3p_experiments.identification.report import metrics_of, robot_file

ROBOT = load('c3p')
ROOT = Path(__file__).parents[3]

# a robot with other masses, another centre and other friction than the description
OTHER = """
extends: c3p
platform: {mass: 34.0, inertia: 3.0, com: [0.012, -0.018]}
friction: {pivot_viscous: 0.003, pivot_coulomb: 0.015, rolling_viscous: 0.0015,
           rolling_coulomb: 0.035, scrub_coulomb: 0.07, smoothing: 0.06}
"""


@pytest.fixture(scope='module')
def drive(tmp_path_factory):
    """Return folder, robot that moved, and exit code: 16 s, 2000/4096 counts, 10 ms latency."""
    place = tmp_path_factory.mktemp('identify')
    (place / 'other.yaml').write_text(OTHER)
    code = main(['identify', '--excite', '--duration', '16', '--seed', '5', '--simulated',
                 str(place / 'other.yaml'), '--out', str(place), '--json',
                 str(place / 'metrics.json')])
    return place, load(place / 'other.yaml'), code


def test_friction_masses_and_centre_are_recovered_within_five_percent(drive, capsys):
    place, other, code = drive
    metrics = json.loads((place / 'metrics.json').read_text())
    assert code == 0 and set(metrics['estimates']) == set(USUAL)
    for name, e in metrics['estimates'].items():
        truth = 0.01 if name == 'delay' else described(other, Unknown(name))
        allowed = 1e-3 if 'com' in name else 0.05 * truth
        assert abs(e['value'] - truth) < allowed, name
        assert e['low'] < e['value'] < e['high']
    assert metrics['not_identifiable'] == {} and metrics['torque'] == 'command'
    assert metrics['segments']['used'] > 25


def test_the_robot_file_is_the_robot_that_was_found(drive):
    place, other, _ = drive
    metrics = json.loads((place / 'metrics.json').read_text())
    found = load(place / 'identified.yaml')
    for name, e in metrics['estimates'].items():
        if name != 'delay':
            assert described(found, Unknown(name)) == pytest.approx(e['value'], rel=1e-6)
    assert found.link_mass.tolist() == ROBOT.link_mass.tolist()
    assert '95 % interval' in (place / 'identified.yaml').read_text()


def test_the_picture_is_written_and_has_content(drive):
    place, _, _ = drive
    picture = imread(place / 'identify.png')
    assert min(picture.shape[:2]) > 1000 and picture[..., :3].std() > 0.05
    assert (place / 'identify.pdf').stat().st_size > 10_000


def test_the_excitation_stays_near_and_excites(drive):
    place, _, _ = drive
    log = opened(read_run, place / 'bag', ROBOT)
    assert np.hypot(*log.ground_truth.pose[:, :2].T).max() < 1.0
    assert np.abs(log.wheel_effort.value).max() <= 1.2
    # as the source asks: at rest in the end, but for the pull back; the last command is of some
    # hundredths of a second before
    most = Excitation()
    pull = np.array([np.sqrt(2) * most.speed, np.sqrt(2) * most.speed, most.yaw_rate])
    assert (np.abs(log.cmd_vel.value[-3:]) <= pull + 0.05).all()


def test_what_a_run_writes_is_what_is_read(tmp_path):
    robot = replace(ROBOT, steering_sign=[1, -1, 1], steering_zero=[0.1, 0.2, 0.3],
                    wheel_sign=[-1, 1, -1])
    log = simulate_excitation(tmp_path / 'a', excitation=Excitation(1.0))
    write_run(log, robot, tmp_path / 'b')
    back = opened(read_run, tmp_path / 'b', robot)
    for part in ('joints', 'odom', 'ground_truth', 'cmd_vel', 'wheel_effort'):
        for name, sent, got in zip(getattr(log, part)._fields, getattr(log, part),
                                   getattr(back, part), strict=True):
            if isinstance(sent, str):
                assert sent == got
            else:
                np.testing.assert_allclose(got, sent, atol=2e-9, err_msg=f'{part}.{name}')
    with pytest.raises(ValueError, match='exists already'):
        simulate_excitation(tmp_path / 'b')


def test_robots_with_two_motors_are_excited_by_mpc(tmp_path):
    # paper refuses them
    file = tmp_path / 'two.yaml'
    file.write_text('extends: c3p\nname: two\ncasters: {driven: [true, true, false]}\n')
    log = simulate_excitation(tmp_path / 'bag', str(file), excitation=Excitation(3.0))
    turned = np.ptp(log.joints.wheel_angle, axis=0)
    assert (turned > 0.1).all() and not log.wheel_effort.value[:, 2].any()


def run_of(recording, told=None):
    """Return a RunLog of a recording; `told` are the efforts in the joint states."""
    zero = np.zeros_like(recording.steering)
    return RunLog(path='made up', start_ns=0, joints=Joints(
        recording.time, recording.steering, zero, recording.wheel_angle, zero,
        zero if told is None else told), wheel_effort=Series(recording.torque_time,
                                                             recording.torque))


def shifted(torque):
    """Return torques as drives tell them: at the end of the cycle."""
    return np.vstack([torque[:1], torque[:-1]])


def test_what_the_drives_report_is_taken_where_it_fits_better():
    recording = excited(ROBOT, 6.0)
    rng = np.random.default_rng(2)
    # commands that were carried out, and commands a third of which never arrived
    lost = recording._replace(torque=recording.torque * (rng.uniform(size=(1200, 1)) > 0.3))
    options = {'estimate': ['platform_mass', 'rolling_coulomb', 'delay']}
    good = identify_run(run_of(recording, shifted(recording.torque)), ROBOT, **options)
    assert good.torque == 'command' and good.notes == []
    bad = identify_run(run_of(lost, shifted(recording.torque)), ROBOT, **options)
    assert bad.torque == 'measured' and 'used measured, which fits better' in bad.notes[0]
    assert bad.found['platform_mass'].value == pytest.approx(30.0, rel=1e-3)
    # drives that report nonsense are not believed
    nonsense = identify_run(run_of(recording, rng.normal(size=recording.torque.shape)), ROBOT,
                            **options)
    assert nonsense.torque == 'command' and len(nonsense.notes) == 1


def test_disobedience_does_not_count_the_delay():
    recording = excited(ROBOT, 2.0)
    late = recording._replace(
        torque=recording.torque[np.maximum(np.arange(len(recording.time)) - 4, 0)])
    assert disobedience(recording, late) < 0.05
    weaker = recording._replace(torque=0.8 * late.torque)
    assert disobedience(recording, weaker) == pytest.approx(0.2, abs=0.03)


def test_what_cannot_be_used_is_left_out_and_told():
    recording = excited(ROBOT, 3.0)
    torque = recording.torque.copy()
    torque[100, 1], torque[200] = np.nan, np.inf
    time = recording.time.copy()
    time[300] = time[299]
    read = recording_of(run_of(recording._replace(torque=torque, time=time)), ROBOT)
    assert len(read.recording.torque) == 598 and len(read.recording.time) == 599
    assert read.left_out == ['1 joint states that are not later than the one before',
                             '2 of 600 torques, not finite']


def test_angles_that_wrap_are_continued():
    recording = excited(ROBOT, 3.0)
    wrapped = recording._replace(steering=np.angle(np.exp(1j * recording.steering)),
                                 wheel_angle=np.angle(np.exp(1j * recording.wheel_angle)))
    read = recording_of(run_of(wrapped), ROBOT).recording
    for name in ('steering', 'wheel_angle'):
        turned = getattr(read, name) - getattr(recording, name)
        np.testing.assert_allclose(np.ptp(turned, axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize('change, says', [
    ({'wheel_effort': None}, 'it has no topic wheel_effort.*--torque measured'),
    ({'wheel_effort': None, 'messages': {'/wheel_effort': 7}},
     "no message with efforts of the joints .'wheel_joint_1'"),
    ({'wheel_effort': Series(np.arange(9.0), np.full((9, 3), np.nan))}, 'no torque .* finite')])
def test_torques_that_are_missing_are_named(change, says):
    log = replace(run_of(excited(ROBOT, 1.0)), **change)
    with pytest.raises(IdentificationError, match=says):
        recording_of(log, ROBOT)


def test_efforts_that_no_drive_reports_are_named():
    with pytest.raises(IdentificationError, match='joint_states carry no efforts'):
        recording_of(run_of(excited(ROBOT, 1.0)), ROBOT, 'measured')


def bag_of(log, place, robot=ROBOT):
    return str(write_run(log, robot, place))


def test_the_command_line_names_what_is_wrong(tmp_path, capsys):
    still = excited(ROBOT, 2.0)
    still = still._replace(steering=0 * still.steering, wheel_angle=0 * still.wheel_angle)
    stood = bag_of(run_of(still), tmp_path / 'stood')
    for arguments, says in (
            ([], 'no bag given'),
            ([str(tmp_path / 'nothing')], 'no such file'),
            ([stood], 'did not move'),
            ([stood, '--per-caster', 'delay'], 'belongs to the whole robot'),
            (['--excite', stood], 'exists already')):
        out = ['--out', str(tmp_path / 'out')]
        assert main(['identify', *arguments, *out]) == 2
        assert says in capsys.readouterr().err, arguments


def test_joints_of_another_robot_are_named(tmp_path):
    named = replace(ROBOT, wheel_joints=('a', 'b', 'c'))
    bag = bag_of(run_of(excited(ROBOT, 1.0)), tmp_path / 'bag', named)
    with pytest.raises(BagError, match='wheel_joint_1'):
        opened(identify_bag, bag, out=tmp_path / 'out')


def test_per_caster_values_and_what_is_not_identifiable_reach_figures_and_file(tmp_path):
    result = identify(ROBOT, excited(ROBOT, 6.0), ['platform_mass', 'link_mass',
                                                   'rolling_coulomb', 'platform_com_y',
                                                   'platform_inertia', 'link_inertia',
                                                   'wheel_spin_inertia'], ['rolling_coulomb'])
    metrics = json.loads(json.dumps(metrics_of(result), allow_nan=False))
    assert metrics['not_identifiable']['link_mass']['half_width'] is None
    assert any('link_mass is not identifiable' in note for note in metrics['notes'])
    # a robot that is a file is extended by its place, seen from the new file
    (tmp_path / 'mine.yaml').write_text('extends: c3p\nname: mine\n')
    (tmp_path / 'results').mkdir()
    file = tmp_path / 'results' / 'identified.yaml'
    file.write_text(robot_file(result, str(tmp_path / 'mine.yaml'), file, 'a bag'))
    found = load(file)
    assert found.name == 'mine' and '../mine.yaml' in file.read_text()
    np.testing.assert_allclose(found.friction.rolling_coulomb, [
        result[f'rolling_coulomb_{i}'].value for i in (1, 2, 3)], rtol=1e-6)
    np.testing.assert_allclose(found.platform_com, result.robot.platform_com, atol=1e-9)


def test_a_smoothing_that_is_a_bound_is_no_value_for_the_robot(tmp_path):
    result = identify(ROBOT, excited(ROBOT, 3.0), ['rolling_coulomb', 'smoothing', 'delay'])
    text = robot_file(result, 'c3p', tmp_path / 'a.yaml', 'a bag')
    assert 'smoothing:' in text and 'rolling_coulomb:' in text
    text = robot_file(replace(result, sudden=True), 'c3p', tmp_path / 'a.yaml', 'a bag')
    assert 'smoothing:' not in text and 'rolling_coulomb:' in text


def test_a_urdf_robot_gets_a_robot_file_also_from_its_bag_alone(tmp_path):
    urdf = ROOT / 'docs/tutorials/cart.urdf.xacro'
    simulate_excitation(tmp_path / 'bag', str(urdf), excitation=Excitation(8.0))
    for given, name in (([], 'robot.urdf'), (['--robot', str(urdf)], urdf.name)):
        out = tmp_path / f'out{len(given)}'
        assert main(['identify', str(tmp_path / 'bag'), '--out', str(out), *given,
                     '--estimate', 'platform_mass', 'rolling_coulomb']) == 0
        text = (out / 'identified.yaml').read_text()
        assert f'{name}\n' in text and 'urdf: ' in text
        found = load(out / 'identified.yaml')
        assert found.platform_mass == pytest.approx(25.0, rel=0.01)
        assert found.platform_mass != 25.0
        assert found.wheel_joints[0] == 'front_left_wheel' and found.driven.sum() == 3
