# SPDX-License-Identifier: Apache-2.0
"""Drives to goals with sensors as of real robots and a wrong wiring end soon, with its name."""

import pytest
from miswired_plant import drive

from c3p_description.reading.loader import load_casters
from c3p_kinematics.wiring_hypotheses import wirings
from c3p_simulation.plants.sensors import SensorSettings

C3P = load_casters('c3p')

WRONG = ('casters 1 and 2 exchanged', 'casters 1, 2 and 3 exchanged in a ring',
         'wheel encoders of casters 1 and 3 exchanged',
         'steering encoders of casters 2 and 3 exchanged',
         'wheel encoder of caster 3 reversed', 'steering encoder of caster 1 reversed',
         # the brake of encoders that count against their motors does not accelerate the wheels
         'all wheel encoders reversed',
         'steering zero of caster 2 is 180° off', 'steering zero of caster 2 is 90° off')


@pytest.mark.parametrize('text', WRONG)
def test_it_stops_in_the_first_metre_and_is_named(text):
    wiring = next(w for w in wirings(3) if w.text() == text)
    found = drive(C3P, wiring, (1.0, 1.0, 0.8), SensorSettings.real(), seed=2)
    assert found.stopped and not found.reached and found.path < 0.7
    assert found.report.likely[0].wiring == wiring
    guilty = wiring.casters or range(3)
    innocent = [found.accused.get(i, 0.0) for i in range(3) if i not in guilty]
    assert max(innocent, default=0.0) <= 0.5
