# SPDX-License-Identifier: Apache-2.0
"""Wheel slip as numbers, and as earlier versions published it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_kinematics.slip import SlipReport  # noqa: E402
from c3p_ros.cdr import MessageError, PublishError  # noqa: E402
from c3p_ros.wheel_slip import read_slip, suspects  # noqa: E402
from c3p_ros.wire import READERS, JointStateWriter  # noqa: E402

WHEELS = ('wheel_1', 'wheel_2', 'wheel_3')
FIELDS = ('position', 'velocity', 'effort')


def joints(along=0.1, effort=(0.1, 0.8, 0.1)):
    return JointState(name=WHEELS[::-1], position=[along] * 3, velocity=[-0.2, -0.1, 0.0],
                      effort=[float(value) for value in effort[::-1]])


def statuses(along='0.1', suspect=1, confidence='0.8'):
    return DiagnosticArray(status=[DiagnosticStatus(name=f'sensed_kinematics: {joint}', values=[
        KeyValue(key='along', value=along), KeyValue(key='across', value=f'-0.{i}'),
        KeyValue(key='suspect', value='true' if suspect == i else 'false'),
        KeyValue(key='confidence', value=confidence)]) for i, joint in enumerate(WHEELS)])


@pytest.mark.parametrize('message', [joints(), statuses()])
def test_both_types_give_the_slip_of_each_wheel_and_the_suspect(message):
    slip = read_slip(message, WHEELS)
    np.testing.assert_array_equal(slip.residual, [[0.1, 0.0], [0.1, -0.1], [0.1, -0.2]])
    assert slip.suspect == 1 and slip.probability[1] == 0.8


@pytest.mark.parametrize('message', [
    joints(effort=[0.0] * 3), joints(effort=[np.nan] * 3), statuses(suspect=7)])
def test_no_wheel_is_suspected_while_all_roll_or_none_can_be_isolated(message):
    assert read_slip(message, WHEELS).suspect == -1


@pytest.mark.parametrize('confidence', ['', 'high', 'nan', '-1'])
def test_a_suspect_of_an_earlier_version_needs_no_readable_confidence(confidence):
    assert read_slip(statuses(confidence=confidence), WHEELS)[1:][1] == 1


@pytest.mark.parametrize('message, text', [
    (JointState(), 'wheel wheel_1 is missing'), (DiagnosticArray(), 'wheel wheel_1 is missing'),
    (joints(np.nan), 'wheel_1: along = nan'), (statuses('fast'), 'wheel_1: along = nan'),
    (JointState(name=WHEELS, position=[0.0]), 'position has 1 values for 3 names')])
def test_a_message_that_cannot_be_used_is_an_error(message, text):
    with pytest.raises(MessageError, match=text):
        read_slip(message, WHEELS)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_most_probable_wheel_is_suspected_and_at_most_one(rows):
    mask = suspects(rows)
    for row, found in zip(rows, mask, strict=True):
        assert found.sum() == (max(row) > 0)
        assert not found.any() or row[found.argmax()] == max(row)


def report(slipping, suspect, likelihood):
    return SlipReport(np.zeros(3), suspect, 0.0, slipping, np.array(likelihood), 0.0,
                      1.0)


@pytest.mark.parametrize('slip, suspect', [
    (report(False, -1, [1 / 3] * 3), -1), (report(True, -1, [0.3, 0.3, 0.1]), -1),
    (report(True, 2, [0.1, 0.2, 0.7]), 2)])
def test_a_report_comes_back_over_the_wire(slip, suspect):
    write = JointStateWriter(WHEELS, FIELDS, 'wheel_slip', unknown=('effort',))
    numbers = np.arange(6.0).reshape(3, 2)
    data = write(5, position=numbers[:, 0], velocity=numbers[:, 1], effort=slip.probability)
    found = read_slip(READERS[JointState]()(data), WHEELS)
    np.testing.assert_array_equal(found.residual, numbers)
    assert found.suspect == suspect
    assert np.isnan(found.probability).all() == (slip.slipping and suspect < 0)


@pytest.mark.parametrize('field, value', [('effort', np.inf), ('position', np.nan)])
def test_only_nan_of_an_unknown_field_is_written(field, value):
    write = JointStateWriter(WHEELS, FIELDS, 'wheel_slip', unknown=('effort',))
    with pytest.raises(PublishError, match=rf'{field}\[wheel_1\]'):
        write(5, **{**dict.fromkeys(FIELDS, np.zeros(3)), field: np.full(3, value)})
