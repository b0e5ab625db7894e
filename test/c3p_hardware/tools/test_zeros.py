# SPDX-License-Identifier: Apache-2.0
"""Zeros of the steering encoders, on emulated ones that stand where they were put."""

import math
import threading

import can
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description.reading.loader import load
from c3p_hardware.axes import card_settings
from c3p_hardware.emulator.cards import EmulatedCards, EmulatedDevices
from c3p_hardware.settings import EncoderSettings
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.tools.zeros import Moved, measure_zeros, parameters, zero_of
from c3p_hardware.transport.configure import ConfigurationError
from c3p_kinematics.casters import steering_jacobian
from c3p_simulation.make_plant import make_plant

OFFSETS = (17, 4090, 2048)


@pytest.fixture
def bus(request):
    """A bus with cards in a thread, whose encoders tell OFFSETS at steering 0; and the cards."""
    name = request.node.name
    ours, theirs = (can.Bus(name, interface='virtual') for _ in range(2))
    cards = EmulatedCards(theirs, make_plant('analytic', 'c3p'),
                          EmulatedDevices(steering_zero_counts=OFFSETS))
    stop = threading.Event()
    thread = threading.Thread(target=cards.run, args=(stop,))
    thread.start()
    yield ours, cards
    stop.set()
    thread.join()
    ours.shutdown()
    theirs.shutdown()


def settings(**parameters):
    return card_settings(load('c3p'), hardware_values(**parameters))


def test_zeros_and_serial_numbers_are_those_of_the_encoders(bus):
    written = []
    for encoder in bus[1].encoders:
        encoder.writers[0x6003, 0] = written.append
    zeros = measure_zeros(bus[0], settings(**{'encoders.zeros': [17, 0, 0]}), 3, 0.0)
    assert parameters(zeros) == {'encoders.zeros': list(OFFSETS),
                                 'encoders.serial_numbers': [2001, 2002, 2003]}
    assert [round(z.change_deg, 3) for z in zeros] == [0.0, round(-6 * 360 / 4096, 3), -180.0]
    assert all(z.spread == 0 for z in zeros) and written == []


def test_other_counts_an_alarm_and_silence_are_told(bus):
    with pytest.raises(ConfigurationError, match='encoders.counts is 1024: correct the wrong one'):
        measure_zeros(bus[0], settings(**{'encoders.counts': [1024]}), 1, 0.0)
    with pytest.raises(ConfigurationError, match='not a device of CiA 406'):
        measure_zeros(bus[0], settings(**{'encoders.node_ids': [1, 12, 13],
                                          'drives.node_ids': [11, 2, 3]}), 1, 0.0)
    bus[1].devices['encoder2'].encoder.alarms = 1
    with pytest.raises(ConfigurationError, match='position error'):
        measure_zeros(bus[0], settings(), 1, 0.0)


def test_a_caster_that_turns_is_named(bus):
    encoder = bus[1].devices['encoder3'].encoder
    ticks = iter(range(0, 10**6, 5))
    bus[1].encoders[2].live[0x6004, 0] = lambda: (encoder.position + next(ticks)) % 4096
    with pytest.raises(Moved, match=r'steering_joint_3 \(node 13\) moved by \d+ counts: hold'):
        measure_zeros(bus[0], settings(), 5, 0.0)


@given(middle=st.integers(0, 4095), half=st.integers(0, 20), turns=st.sampled_from([1, 16]))
def test_the_middle_is_found_across_the_end_of_the_range(middle, half, turns):
    encoder = EncoderSettings(11, 'steering_joint_1', 4096, 4096 * turns, zero=middle)
    positions = [(middle + k) % (4096 * turns) for k in range(-half, half + 1)]
    zero = zero_of(encoder, positions)
    assert (zero.counts, zero.spread, zero.change_deg) == (middle, 2 * half, 0.0)


def test_a_push_along_y_aligns_the_casters():
    # from dθ/ds = −sin θ/d: tan(θ/2) falls by e for each caster offset of way
    robot = load('c3p')
    offset, steps = float(robot.caster_offset[0]), 5000
    steering = start = np.array([1.0, -1.2, 3.0])
    twist = np.array([0.0, 5 * offset / steps, 0.0])
    for _ in range(steps):
        middle = steering + 0.5 * steering_jacobian(robot, steering) @ twist
        steering = steering + steering_jacobian(robot, middle) @ twist
    assert np.tan(steering / 2) == pytest.approx(np.tan(start / 2) * math.exp(-5), rel=1e-5)
