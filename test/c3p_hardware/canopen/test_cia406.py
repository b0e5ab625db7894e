# SPDX-License-Identifier: Apache-2.0
"""Absolute encoders: objects, alarms and warnings."""

from c3p_hardware.canopen.cia406 import EncoderObject, alarm_texts, warning_texts


def test_alarms_and_warnings_have_words():
    assert alarm_texts(0) == warning_texts(0) == []
    assert len(alarm_texts(0xFFFF)) == len(warning_texts(0xFFFF)) == 16
    assert [t.split(':')[0] for t in alarm_texts(0x0003)] == ['position error',
                                                              'commissioning diagnostic failed']
    assert 'frequency' in warning_texts(1)[0] and 'battery' in warning_texts(1 << 4)[0]
    assert warning_texts(0x8040) == ['reserved warning (bit 6)',
                                     "manufacturer's warning (bit 15)"]


def test_objects_have_the_numbers_of_the_profile():
    assert {o.name: o.value for o in EncoderObject} == {
        'COUNTS_PER_TURN': 0x6001, 'TOTAL_RANGE': 0x6002, 'POSITION': 0x6004, 'ALARMS': 0x6503,
        'WARNINGS': 0x6505}
