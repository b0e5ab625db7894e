# SPDX-License-Identifier: Apache-2.0
"""Bags from which messages are missing: what is there is judged, and what is not is named."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from synthetic import opened

from c3p_bags.report import write
from c3p_bags.runs.agreement import SAME
from c3p_bags.runs.losses import Losses, losses
from c3p_bags.runs.recompute import RecordedOdometry, Samples, read_samples, recompute
from c3p_bags.runs.recompute_bag import (
    compare,
    recompute_bag,
    recorded_settings,
    write_recomputed,
)
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import message_types
from c3p_bringup.cli.main import main

GOLDEN = Path(__file__).parents[2] / 'data' / 'golden_bag'


@pytest.fixture(scope='module')
def complete(tmp_path_factory):
    """Return a bag of a drive in which a wheel slips, with the odometry of this version."""
    path = tmp_path_factory.mktemp('complete') / 'bag'
    with Bag(GOLDEN) as bag:
        write_recomputed(bag, path, recompute_bag(bag))
    return path


@pytest.fixture(scope='module')
def run(complete):
    """Return robot, settings, joint states and odometry of this drive."""
    with Bag(complete) as bag:
        robot = bag.casters()
        return robot, recorded_settings(bag, '')[0], *read_samples(bag, robot)


def without(columns, dropped):
    """Return columns without some rows; an input that the recording does not have remains so."""
    return type(columns)(*(None if column is None else np.delete(column, sorted(dropped), axis=0)
                           for column in columns))


def recomputed(run, joints, odometry):
    """Return odometry and agreement of the run without some joint states and odometry."""
    robot, settings, samples, recorded = run
    samples, recorded = without(samples, joints), without(recorded, odometry)
    found = recompute(samples, robot, settings, recorded)
    return found, compare(found, recorded), losses(samples.stamp, recorded.stamp)


# the weights of the wheels are learned from all samples: without some of them a step of the pose
# differs by this much at most, in the slip of a wheel, m or rad
LEARNED = 1e-5

# of joint states; the recording ended between the last ones and their odometry
COUNT = 1729
# single messages, and bursts of up to a third of a second, as an overflowing queue loses them
single = st.integers(1, COUNT - 2).map(lambda k: {k})
bursts = st.tuples(st.integers(1, COUNT - 40), st.integers(2, 33)).map(
    lambda burst: set(range(burst[0], burst[0] + burst[1])))
lost = st.lists(st.one_of(single, bursts), max_size=12).map(lambda sets: set().union(*sets))


# a failing case takes minutes to shrink
@settings(phases=[Phase.explicit, Phase.generate])
@example(joints={1, *range(299, 319)}, odometry=set())
@given(joints=lost, odometry=lost)
def test_a_recording_with_losses_agrees_in_all_that_it_has(run, joints, odometry):
    found, agreed, named = recomputed(run, joints, odometry)
    assert agreed.close == agreed.compared
    assert max(agreed.position, agreed.yaw) < LEARNED
    # the pose was set by no service
    assert found.resets == () and not found.resumed
    # at most the message after each gap is left out, and some around the slip
    both = COUNT - 1 - len(joints | odometry)
    assert agreed.compared >= both - len(found.left_out) - 2
    assert named.lost == len(joints - odometry)


@pytest.mark.parametrize('joints, odometry', [
    # single ones: in a curve, in the slip of wheel 2 at 3.6 s, between the two
    ({100}, set()), ({359, 363, 366}, set()), (set(), {100, 101, 360}), ({200, 201}, {300}),
    # bursts longer than max_gap, in motion and around the slip
    (set(range(150, 190)), set()), (set(range(340, 380)), set()), (set(range(300, 358)), set()),
    # of both at once, where only the interval shows it
    ({120, 121}, {120, 121}), (set(range(350, 362)), set(range(345, 365))),
    # the begin and the end
    (set(range(60)), set()), (set(), set(range(60))), (set(range(1700, COUNT)), set()),
    (set(), set(range(1700, COUNT - 1)))])
def test_losses_neither_set_the_pose_nor_spoil_what_follows(run, joints, odometry):
    found, agreed, named = recomputed(run, joints, odometry)
    assert agreed.close == agreed.compared and max(agreed.position, agreed.yaw) < LEARNED
    assert found.resets == ()
    inside = {k for k in joints - odometry if min(set(range(COUNT)) - joints) < k < max(
        set(range(COUNT)) - joints)}
    assert named.lost == len(inside)


def test_begin_and_end_of_a_recording_are_no_losses(run):
    _, _, named = recomputed(run, {*range(10), *range(1720, COUNT)}, set())
    assert named == Losses(0, 0, 10, COUNT - 1 - 1720)
    found, agreed, named = recomputed(run, set(), set(range(10)))
    assert named == Losses() and found.unused == 11 and agreed.close == agreed.compared


def test_half_of_all_messages_is_enough_to_judge(run):
    # every second joint state: no two steps are those of the node
    found, agreed, named = recomputed(run, set(range(1, COUNT, 2)), set())
    assert named.lost == COUNT // 2 and found.resets == ()
    assert agreed.close == agreed.compared


def test_another_robot_differs_in_spite_of_losses(run):
    robot, settings, samples, recorded = run
    wrong = replace(robot, wheel_radius=1.01 * robot.wheel_radius)
    # one in nine is lost
    samples = without(samples, set(range(5, COUNT, 9)))
    found = recompute(samples, wrong, settings, recorded)
    agreed = compare(found, recorded)
    # between 2 and 6 s the robot drives: each step differs by a hundredth. Most are not judged,
    # because a message that differs after a gap is left out
    judged = agreed.compared + len(found.left_out)
    assert agreed.position > 1e-6 and agreed.close < 0.95 * judged
    # other weights explain no more than some of the steps
    assert agreed.close < agreed.compared - 20
    true = compare(recompute(samples, robot, settings, recorded), recorded)
    assert true.close == true.compared


def test_another_robot_differs_in_a_recording_that_begins_during_the_drive(run):
    robot, settings, samples, recorded = run
    # after the slip
    begin = set(range(450))
    samples, recorded = without(samples, begin), without(recorded, begin)
    found = recompute(samples, robot, settings, recorded)
    agreed = compare(found, recorded)
    assert found.resumed and agreed.close == agreed.compared
    wrong = replace(robot, wheel_radius=1.01 * robot.wheel_radius)
    agreed = compare(recompute(samples, wrong, settings, recorded), recorded)
    assert agreed.close < 0.95 * agreed.compared


def test_odometry_of_another_source_has_no_losses():
    times = np.arange(0, 10**9, 5_000_000)
    assert losses(times, times + 137) == Losses()
    assert losses(times, np.zeros(0, np.int64)) == Losses()


def drop(path, to, plugin, dropped):
    """Write the messages of a bag except some, by topic and place, in the storage `plugin`."""
    seen = {}
    with AnyReader([path], default_typestore=message_types()) as reader, Writer(
            to, version=9, storage_plugin=plugin) as writer:
        known = {c.id: writer.add_connection(
            c.topic, c.msgtype, typestore=reader.typestore,
            offered_qos_profiles=c.ext.offered_qos_profiles) for c in reader.connections}
        for connection, time, data in reader.messages():
            k = seen[connection.topic] = seen.get(connection.topic, -1) + 1
            if k not in dropped.get(connection.topic, ()):
                writer.write(known[connection.id], time, bytes(data))
    return to


@pytest.mark.parametrize('plugin', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_the_command_names_what_is_missing_and_succeeds(plugin, complete, tmp_path, capsys):
    path = drop(complete, tmp_path / 'bag', plugin, {
        '/joint_states': {*range(200, 230), 400, 402}, '/odom': {500, 501}})
    assert main(['recompute', str(path)]) == 0
    text = ' '.join(capsys.readouterr().out.split())
    assert ('32 joint states are not in the bag (odometry has their stamps), in 3 gaps: recorded '
            'with too small a queue?') in text
    assert '2 odometry messages are not in the bag (joint_states has their stamps)' in text
    assert 'pose set' not in text
    assert main(['recompute', str(path), '--json', '-']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['missing']['joint_states'] == {'lost': 32, 'gaps': 3, 'before': 0, 'after': 0}
    assert shown['missing']['odometry'] == 2 and shown['resets'] == 0
    # also around the slip of wheel 2, whose memory has a gap: they differ by its weights alone
    assert shown['close'] == shown['compared'] == COUNT - 1 - 32 - 2


def test_recomputed_odometry_follows_the_recorded_one_over_gaps(complete, tmp_path):
    path = drop(complete, tmp_path / 'bag', StoragePlugin.MCAP,
                {'/joint_states': set(range(200, 240))})
    assert main(['recompute', str(path), '--out', str(tmp_path / 'new')]) == 0
    samples, recorded = opened(lambda bag: read_samples(bag, bag.casters()), tmp_path / 'new')
    assert isinstance(samples, Samples) and isinstance(recorded, RecordedOdometry)
    before = opened(lambda bag: read_samples(bag, bag.casters())[1], path)
    np.testing.assert_allclose(recorded.numbers[-2, :7], before.numbers[-1, :7], atol=SAME)


def test_the_report_names_what_is_missing_first(monkeypatch, complete, tmp_path, capsys):
    monkeypatch.setattr(write, '_pictures', lambda *rest: ({}, {}))
    monkeypatch.setattr(write, 'drive_figure', lambda log, robot, metrics, path: (path, path))
    path = drop(complete, tmp_path / 'bag', StoragePlugin.SQLITE3, {
        '/joint_states': {*range(200, 230), 400, 402}, '/odom': {500, 501}})
    assert main(['report', str(path), '--out', str(tmp_path / 'out')]) == 0
    shown = capsys.readouterr().out
    sentence = '32 joint states are not in the bag (odometry has their stamps), in 3 gaps'
    assert f'34 messages are missing. {sentence}' in shown
    assert '2 odometry messages are not in the bag (joint_states has their stamps)' in shown
    # the loop itself lost nothing
    assert 'Did the loop keep time?        Yes.' in shown and 'no sample is missing' in shown
    page = (tmp_path / 'out' / 'report.html').read_text(encoding='utf-8')
    assert page.index(sentence) < page.index('Which wheel slipped?')
    timing = json.loads((tmp_path / 'out' / 'figures.json').read_text())['timing']
    assert (timing['samples_lost'], timing['samples_unrecorded'],
            timing['odometry_unrecorded']) == (0, 32, 2)
