# SPDX-License-Identifier: Apache-2.0
"""The papers' law in two steps is their law in one, and answers are used as they come."""

import numpy as np
import pytest
from robots import C3P

from c3p_controller.command_follower import FollowerSettings
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import TractionControl
from c3p_controller.paper.chain import UNANSWERED, PaperChain
from c3p_controller.paper.velocity import PaperLaw, PaperSettings
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT, inverse_dynamics


@pytest.fixture
def chain():
    return PaperChain(C3P, PaperLaw(C3P))


def motions(count=40):
    rng = np.random.default_rng(5)
    for k in range(count):
        yield Sensed(0.005 * k, 0.1 * rng.standard_normal(3), rng.standard_normal(3), np.zeros(3),
                     0.05 * rng.standard_normal(3))


def dynamics(sensed, accel):
    return inverse_dynamics(C3P, sensed.steering, sensed.twist, accel, VIRTUAL_STEERING_WEIGHT)


def test_question_and_answer_make_the_law_in_one_step(chain):
    law = GrippingLaw(PaperLaw(C3P), TractionControl(C3P))
    command = np.array([0.1, 0.3, 0.2])
    for k, sensed in enumerate(motions()):
        accel = chain.accel(sensed, command, k, 0.005)
        assert chain.follows == 'twist' and chain.expects(k)
        torque = chain.torque(k, dynamics(sensed, accel))
        assert torque == pytest.approx(law.step(sensed, Setpoint(command), 0.005), abs=1e-15)
        assert not chain.expects(k)


def test_without_a_command_it_stops_with_the_deceleration_of_a_stop(chain):
    start = Sensed(0.0, np.zeros(3), np.zeros(3), np.zeros(3), np.array([0.0, 0.4, 0.0]))
    for deceleration in (1.0, 3.0):
        chain.retune(FollowerSettings(stop_deceleration=deceleration), PaperSettings())
        chain.reset(start)
        before, slowest = 0.4, 0.0
        for k in range(200):
            chain.accel(start, None, k, 0.005)
            speed = np.hypot(*chain._law.reference[:2])
            slowest, before = max(slowest, (before - speed) / 0.005), speed
        assert chain.follows == 'stop' and speed == 0.0
        assert slowest == pytest.approx(deceleration)


def test_a_newer_answer_makes_the_older_ones_useless(chain):
    for k, sensed in zip(range(3), motions(), strict=False):
        chain.accel(sensed, np.zeros(3), k, 0.005)
    chain.torque(1, np.zeros(3))
    assert [chain.expects(k) for k in range(3)] == [False, False, True]
    chain.forget()
    assert not chain.expects(2)


def test_so_many_questions_wait_and_no_more(chain):
    for k, sensed in enumerate(motions(UNANSWERED + 3)):
        chain.accel(sensed, np.zeros(3), k, 0.005)
    assert [k for k in range(UNANSWERED + 3) if chain.expects(k)] == list(
        range(3, UNANSWERED + 3))


def test_a_cycle_that_begins_afresh_asks_for_nothing_and_its_answer_counts(chain):
    sensed = next(motions())
    chain.reset(sensed)
    assert not chain.accel(sensed, np.array([0.5, 0.0, 0.0]), 7, None).any()
    assert chain.follows == 'nothing' and chain.expects(7)
    assert not chain.torque(7, np.ones(3)).any()
