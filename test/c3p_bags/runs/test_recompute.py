# SPDX-License-Identifier: Apache-2.0
"""Odometry of a bag again: made-up bags, without nodes and without a clock."""

import json
from dataclasses import replace

import numpy as np
import pytest
from synthetic import notes_of, opened, read_topics, topics_of

from c3p_bags.runs.agreement import SAME
from c3p_bags.runs.recompute import ODOMETRY, read_samples, recompute
from c3p_bags.runs.recompute_bag import compare, recompute_bag
from c3p_bags.runs.run_bag import odometry_message, odometry_numbers
from c3p_bags.storage import bag_parameters
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_bringup.cli.main import main
from c3p_description.reading.loader import load_casters
from c3p_kinematics.odometry import Odometry, odometry_settings
from c3p_ros.cycle import CycleClock

ROBOT = load_casters('c3p')
BEGIN, PERIOD = 10**18, 5_000_000
PARAMETERS = {'wheel_counts': 4096, 'robust': False, 'odom_frame': 'map', 'robot': 'c3p'}
SETTINGS = odometry_settings(wheel_counts=4096, robust=False)
# tyres without errors and rates without a lag: equations have equal weights, nothing is learned
EQUAL = {'rate_lag': 0.0, 'tyre_creep': 0.0, 'side_slip': 0.0}


class Value:
    """A ParameterValue of nobody's library."""

    def __init__(self, value):
        kinds = {bool: (1, 'bool_value'), int: (2, 'integer_value'), float: (3, 'double_value'),
                 str: (4, 'string_value')}
        self.type, field = kinds[type(value)]
        for name, empty in zip(bag_parameters.FIELDS.values(), (
                False, 0, 0.0, '', [], [], [], [], []), strict=True):
            setattr(self, name, empty)
        setattr(self, field, value)


def angles(count):
    """Return (count, 4, 3) angles and rates of casters that roll along a curve."""
    random = np.random.default_rng(1)
    rates = 2.0 + np.cumsum(random.normal(0.0, 0.05, (count, 3)), axis=0)
    turns = 0.2 * np.sin(np.arange(count)[:, None] / 40.0 + np.arange(3))
    return np.stack([np.cumsum(turns, axis=0) * 0.005, turns, np.cumsum(rates, axis=0) * 0.005,
                     rates], axis=1)


def bag(path, count=200, space='', refused=(), resets=None, parameters=PARAMETERS, start=0,
        odom=True, lost=(), **errors):
    """Write what a robot would: every sample, and an odometry of those that were not refused."""
    store_kinds = {'joint_states': 'sensor_msgs/msg/JointState', 'odom': ODOMETRY}
    stream = Odometry(ROBOT, replace(SETTINGS, **errors))
    clock = CycleClock()
    with BagWriter(path) as writer:
        writer.note({'c3p_robot': 'c3p'})
        for topic, kind in store_kinds.items():
            writer.add(f'{space}/{topic}', kind)
        t = writer.types.types
        if parameters:
            writer.add(f'{space}/recorder/parameters', bag_parameters.EVENT, latched=True)
            event = bag_parameters.event(t, BEGIN, f'{space}/sensed_kinematics', {
                name: Value(value) for name, value in parameters.items()})
            writer.write_message(f'{space}/recorder/parameters', BEGIN, event)
        joints = t['sensor_msgs/msg/JointState']
        names = [*ROBOT.steering_joints, *ROBOT.wheel_joints]
        sign = np.concatenate([ROBOT.steering_sign, ROBOT.wheel_sign])
        zero = np.concatenate([ROBOT.steering_zero, np.zeros(ROBOT.count)])
        for k, (steering, steering_rate, angle, rate) in enumerate(angles(count)):
            stamp = BEGIN + k * PERIOD
            position = (np.concatenate([steering, angle]) - zero) * sign
            velocity = np.concatenate([steering_rate, rate]) * sign
            header = t['std_msgs/msg/Header'](
                t['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), '')
            if k >= start:
                writer.write_message(f'{space}/joint_states', stamp + 1000, joints(
                    header, names, position, velocity, np.zeros(6)))
            if k in refused:
                continue
            if k in (resets or {}):
                stream.reset(resets[k])
            # as the node reads it
            back = sign * position + zero
            estimate = stream.step_by(clock.accept(stamp), back[:3], back[3:],
                                      sign[3:] * velocity[3:], sign[:3] * velocity[:3])
            if odom and k >= start and k not in lost:
                writer.write_message(f'{space}/odom', stamp + 2000, odometry_message(
                    t, stamp, odometry_numbers(
                        estimate.pose, estimate.twist, estimate.pose_covariance,
                        estimate.twist_covariance), 'map', 'base_link'))
    return path


def test_every_bit_is_that_of_the_recorded_odometry(tmp_path):
    found = opened(recompute_bag, bag(tmp_path / 'bag'))
    assert found.known and not found.changed and found.frames == ('map', 'base_link')
    assert found.parameters == {'wheel_counts': 4096, 'robust': False}
    assert (found.agreement.compared, found.agreement.identical) == (200, 200)
    assert found.odometry.refused == 0 and found.odometry.resets == ()


def test_what_was_refused_is_left_out_and_a_pose_that_was_set_is_found(tmp_path):
    path = bag(tmp_path / 'bag', space='/robot_1', refused=(50, 51, 120),
               resets={100: (0.0, 0.0, 0.0), 150: (2.0, -1.0, 3.0)})
    found = opened(recompute_bag, path)
    assert found.namespace == '/robot_1' and found.odometry.refused == 3
    assert found.odometry.resets == (BEGIN + 100 * PERIOD, BEGIN + 150 * PERIOD)
    # after the pose that was set the yaw has gone through a quaternion, which rounds it
    assert found.agreement.compared == 197 and found.agreement.identical >= 147
    assert max(found.agreement.position, found.agreement.yaw, found.agreement.twist) < 1e-14
    everything = opened(recompute_bag, path, everything=True)
    assert len(everything.odometry.stamp) == 200 and everything.agreement.position > 1.0


def test_answers_that_were_not_recorded_are_told_from_samples_that_were_refused(tmp_path):
    path = bag(tmp_path / 'bag', refused=(50, 51), lost=(80, 81, 82, 120))
    found = opened(recompute_bag, path)
    assert found.odometry.refused == 2 and len(found.odometry.stamp) == 198
    # every answer that there is, is the same; and those that are not are computed
    assert found.agreement.compared == found.agreement.identical == 194


def test_a_bag_that_begins_in_the_middle_of_a_run_agrees_to_rounding(tmp_path):
    path = bag(tmp_path / 'bag', start=100, **EQUAL)
    samples, recorded = opened(lambda bag: read_samples(bag, ROBOT), path)
    found = recompute(samples, ROBOT, replace(SETTINGS, **EQUAL), recorded)
    agreed = compare(found, recorded)
    assert found.resumed and not found.resets and not found.left_out
    assert agreed.compared == 100
    # metres and radians of order one, through one quaternion
    assert max(agreed.position, agreed.yaw) < 1e-14
    assert agreed.twist == 0.0
    # the covariance begins anew
    assert agreed.covariance > 0.0


def test_a_bag_that_begins_in_the_middle_of_a_run_agrees_within_its_weights(tmp_path):
    # the run has learned the errors of its tyres before the first message
    path = bag(tmp_path / 'bag', start=100)
    found = opened(recompute_bag, path)
    assert found.odometry.resumed and not found.odometry.resets
    assert found.agreement.close == found.agreement.compared == 100
    # a bag with all samples has no such limit
    whole = opened(recompute_bag, bag(tmp_path / 'whole'))
    assert np.all(whole.odometry.limit == SAME) and np.all(found.odometry.limit[1:] > SAME)
    # the first one only latches, at the recorded pose; its twist is of rates whose lag is unknown
    pose, twist = found.odometry.limit[0]
    assert pose == SAME < twist


def test_other_parameters_give_another_odometry_and_are_told(tmp_path):
    path = bag(tmp_path / 'bag')
    found = opened(recompute_bag, path, changes={'rate_noise_std': 0.1})
    assert found.changed and found.agreement.position == 0.0 and found.agreement.covariance > 0.0
    with pytest.raises(BagError, match='gain: not a parameter of the odometry'):
        opened(recompute_bag, path, changes={'gain': 1})


def test_without_parameters_and_without_odometry_it_is_computed_all_the_same(tmp_path):
    found = opened(recompute_bag, bag(tmp_path / 'bag', parameters=None, odom=False))
    assert not found.known and found.agreement is None and len(found.odometry.stamp) == 200
    assert np.linalg.norm(found.odometry.numbers[-1, :2]) > 0.03


def test_the_command_compares_and_writes(tmp_path, capsys):
    path = bag(tmp_path / 'bag')
    assert main(['recompute', str(path), '--out', str(tmp_path / 'new'), '--json', '-']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['largest_difference'] == 0.0 and shown['identical'] == shown['compared'] == 200
    topics = topics_of(tmp_path / 'new')
    assert topics['/odom'] == topics['/odom/recorded'] == (ODOMETRY, 200)
    assert notes_of(tmp_path / 'new')['c3p_recomputed'] == bag_parameters.suite_version()
    both = [[m.message.pose.pose.position.x for m in read_topics(tmp_path / 'new', [t])]
            for t in ('/odom', '/odom/recorded')]
    assert both[0] == both[1] and len(both[0]) == 200
    # a second time, from the new bag: nothing changes; and a place that is taken is refused
    assert main(['recompute', str(tmp_path / 'new')]) == 0
    assert main(['recompute', str(path), '--out', str(tmp_path / 'new')]) == 2


def test_a_difference_is_a_failure_unless_it_was_asked_for(tmp_path, capsys):
    # with the gap that the bag tells of, every sample would only have latched
    path = bag(tmp_path / 'bag', count=60, parameters={**PARAMETERS, 'max_gap': 0.001})
    assert main(['recompute', str(path)]) == 1
    assert main(['recompute', str(path), '--set', 'max_gap=0.25']) == 0
    assert main(['recompute', str(path), '--set', 'max_gap=-1']) == 2
    assert 'max_gap = -1' in capsys.readouterr().err
