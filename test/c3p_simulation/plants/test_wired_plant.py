# SPDX-License-Identifier: Apache-2.0
"""Plants whose channels are wired otherwise than described."""

import sys

import numpy as np
import pytest

pytest.importorskip('canopen', reason='the wiring is that of emulated cards')

from c3p_description.reading.loader import load_casters  # noqa: E402
from c3p_hardware.emulator.wiring import (  # noqa: E402
    CardWiring,
    CardWiringError,
    wired_channels,
)
from c3p_simulation.make_plant import PlantOptions, make_plant  # noqa: E402

C3P = load_casters('c3p')


def test_a_wiring_in_words_exchanges_encoders_and_motors_of_a_plant():
    wiring = wired_channels(C3P, CardWiring(exchanged_modules=('1 2',), zeros=('3 90',),
                                            reversed_motors=('3',)))
    right = make_plant('analytic', C3P)
    wrong = make_plant('analytic', C3P, PlantOptions(wiring=wiring))
    start = [0.1, 0.2, 0.3]
    right.reset(steering=start)
    said = wrong.reset(steering=start)
    # what is taken for caster 1 sits on 2; the third states 90° at angle 0
    assert said.steering == pytest.approx([0.2, 0.1, 0.3 + np.pi / 2])
    ordered = np.array([0.3, 0.1, 0.2])
    true = right.step([0.1, 0.3, -0.2], 0.1)
    said = wrong.step(ordered, 0.1)
    assert said.wheel_rate == pytest.approx(true.wheel_rate[[1, 0, 2]])
    # a drive states what it was ordered
    assert said.wheel_torque == pytest.approx(ordered)


def test_a_wiring_of_nothing_is_none_and_others_name_the_remedy():
    assert wired_channels(C3P, CardWiring()) is None
    with pytest.raises(CardWiringError, match="no joint or caster 'x'"):
        wired_channels(C3P, CardWiring(zeros=('x 90',)))
    with pytest.raises(CardWiringError, match='is fixed'):
        wired_channels(load_casters('tricycle_agv'), CardWiring(zeros=('1 90',)))


def test_a_robot_without_a_wiring_needs_no_library_of_canopen(monkeypatch):
    """The first command of the README runs without the extra `hardware`."""
    for name in [*sys.modules]:
        if name == 'canopen' or name.startswith('c3p_hardware.emulator.axes'):
            monkeypatch.setitem(sys.modules, name, None)
    assert wired_channels(C3P, CardWiring()) is None
