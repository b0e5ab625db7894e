# SPDX-License-Identifier: Apache-2.0
"""Faults put into the tape of a drive, and what is said of them."""

import numpy as np
import pytest

from c3p_description.reading.loader import load_casters
from c3p_experiments.slip_faults.joint_faults import FAULTS, FaultPlace, JointFault, put_fault
from c3p_experiments.slip_faults.named_faults import first_rolling, naming
from c3p_experiments.slip_faults.scenes import drive
from c3p_experiments.slip_faults.tapes import CYCLE, PERIOD, Tape, TapePlant, sensed, taped
from c3p_kinematics.casters import inverse
from c3p_kinematics.fault_report import KINDS
from c3p_simulation.plants.sensors import SensorSettings

C3P = load_casters('c3p')
CASTER = 1


@pytest.fixture(scope='module')
def scene():
    return drive(C3P, 'clean', 3, 14.0, 'analytic', sensors=SensorSettings.ideal())


@pytest.fixture(scope='module')
def tape(scene):
    return taped(scene)


@pytest.fixture(scope='module')
def place(tape):
    return FaultPlace(C3P, CASTER, first_rolling(C3P, tape, CASTER, np.random.default_rng(0)),
                      np.random.default_rng(1))


def test_a_tape_passes_through_the_samples_and_rolls_between_them(scene, tape):
    every = round(CYCLE / PERIOD)
    wheel = scene.joints.wheel_angle
    count = len(tape.wheel_angle[::every])
    assert tape.wheel_angle[::every] == pytest.approx(wheel[:count], abs=1e-9)
    # and between them, wheels and casters do what the platform does
    for k in range(102, len(tape.pose), 500):
        rolling, turning, _ = inverse(C3P, tape.steering[k], tape.twist[k])
        assert tape.wheel_rate[k] == pytest.approx(rolling, abs=0.1)
        assert tape.steering_rate[k] == pytest.approx(turning, abs=0.1)


def test_ideal_sensors_read_what_is_on_the_tape(tape):
    for time, sample in sensed(C3P, tape, SensorSettings.ideal(), 0)[::50]:
        k = round(time / PERIOD)
        assert sample.wheel_angle.tolist() == tape.wheel_angle[k].tolist()
        assert sample.steering.tolist() == tape.steering[k].tolist()
    plant = TapePlant(C3P, tape)
    plant.step(np.zeros(3), 1e3)
    assert plant.time == pytest.approx(PERIOD * (len(tape.pose) - 1))
    assert plant.reset().time == 0.0


@pytest.mark.parametrize('name', FAULTS)
def test_a_fault_changes_joints_of_its_caster_from_its_begin_on(name, tape, place):
    kept = Tape(*(column.copy() for column in tape))
    wrong = put_fault(FAULTS[name], tape, place)
    for column, true, before in zip(wrong, tape, kept, strict=True):
        assert np.array_equal(true, before)
        changed = np.argwhere(column != true)
        assert not len(changed) or changed[:, 0].min() >= place.begin
        assert set(changed[:, 1]) <= {CASTER}
    assert any((column != true).any() for column, true in zip(wrong, tape, strict=True))
    assert set(FAULTS[name].kinds) <= set(KINDS)


def test_sizes_of_faults_are_those_of_their_names(tape, place):
    def added(name, joint='wheel_angle'):
        wrong = put_fault(FAULTS[name], tape, place)
        return (getattr(wrong, joint) - getattr(tape, joint))[place.begin:, CASTER]

    time = PERIOD * np.arange(len(tape.pose) - place.begin)
    assert np.abs(added('wheel drift of 5 rad/s')) == pytest.approx(5.0 * time)
    assert np.abs(added('steering drift of 2 rad/s', 'steering')).max() == pytest.approx(4.0)
    turned = tape.wheel_angle[place.begin:, CASTER] - tape.wheel_angle[place.begin, CASTER]
    assert added('15 % of the counts lost') == pytest.approx(-0.15 * turned)
    assert added('tyre -10 %') == pytest.approx(turned / 9.0)
    jumped = added('jump of a wheel encoder')
    assert np.ptp(jumped) == pytest.approx(0.0, abs=1e-12)
    assert abs(jumped[0]) * C3P.wheel_radius[CASTER] >= 0.006
    assert np.abs(added('wheel backlash of 3°')).max() == pytest.approx(np.radians(1.5), rel=0.02)
    spun = C3P.wheel_radius[CASTER] * np.abs(added('spin of 0.1 m/s'))
    assert spun.max() == pytest.approx(0.04)
    noise = added('steering noise of 1.1°', 'steering')
    assert noise.std() == pytest.approx(np.radians(1.1), rel=0.1)


def test_a_side_slip_ends_in_the_rolling_of_the_platform(tape, place):
    wrong = put_fault(FAULTS['side slip of 0.1 m/s'], tape, place)
    for after, slip in ((100, 0.1), (800, 0.0)):
        k = place.begin + after
        rolling, turning, _ = inverse(C3P, wrong.steering[k], tape.twist[k])
        assert wrong.wheel_rate[k, CASTER] == pytest.approx(rolling[CASTER], abs=1e-6)
        across = C3P.caster_offset[CASTER] * (wrong.steering_rate[k] - turning)[CASTER]
        assert abs(across) == pytest.approx(slip, abs=1e-6)


@pytest.mark.parametrize('profile', [SensorSettings(), SensorSettings.real()],
                         ids=['encoders', 'real'])
def test_a_stuck_encoder_is_found_and_named_and_nothing_else_is(profile, tape):
    found = naming(C3P, tape, FAULTS['wheel encoder stuck'], profile, 4)
    assert found.found < 0.5 and found.caster and found.kind
    # a fault that lasts for no sample changes nothing, and nothing is found
    none = JointFault(lambda tape, place: None, ('rolling slip',))
    assert naming(C3P, tape, none, profile, 4) == (np.inf, None, None)


def test_a_name_that_is_not_that_of_the_fault_is_wrong(tape):
    fault = FAULTS['wheel encoder stuck']._replace(kinds=('side slip',))
    assert naming(C3P, tape, fault, SensorSettings(), 4)[1:] == (True, False)
