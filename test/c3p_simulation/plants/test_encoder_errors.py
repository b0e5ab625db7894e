# SPDX-License-Identifier: Apache-2.0
"""Creep of tyres, lost counts, backlash and analog steering: their sizes, and nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_simulation.plants.encoder_errors import EncoderErrors
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

IDEAL = SensorSettings.ideal()
# straight along +Y with aligned wheels: all wheels turn at a constant rate without torque
FREE = replace(C3P, friction=replace(C3P.friction, **dict.fromkeys(
    ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb', 'scrub_coulomb'),
    0.0)))
ALONG = {'steering': 0.0, 'twist': (0.0, 0.5, 0.0)}
STILL = np.zeros(3)


def rolled(cycles, base=IDEAL, seed=0, start=ALONG, **errors):
    """Return sensed samples and true ones of a robot that rolls without torque."""
    plant = SensedPlant(AnalyticPlant(FREE), replace(base, errors=EncoderErrors(**errors)), seed)
    plant.reset(**start)
    told, true = [], []
    for _ in range(cycles):
        told.append(plant.step(STILL, 0.005))
        true.append(plant.plant.sense())
    return told, true


def column(samples, name):
    return np.array([getattr(sample, name) for sample in samples])


def error(told, true, name):
    return column(told, name) - column(true, name)


def test_creep_is_a_fraction_of_the_path_with_its_deviation_and_correlation():
    slips = []
    for seed in range(40):
        told, true = rolled(1200, seed=seed, creep=0.01, creep_time=0.25)
        moved = np.diff(column(true, 'wheel_angle'), axis=0)
        slips.append(np.diff(error(told, true, 'wheel_angle'), axis=0) / moved)
    # (seed, time, wheel)
    slip = np.array(slips)
    # 40 drives of 12 correlation lengths and 3 wheels: 1440 independent draws, 4 sigma
    assert slip.std() == pytest.approx(0.01, rel=0.08)
    assert abs(slip.mean()) < 4 * 0.01 / math.sqrt(1440)
    for lag, expected in ((50, math.exp(-1.0)), (100, math.exp(-2.0)), (300, math.exp(-6.0))):
        found = np.mean(slip[:, :-lag] * slip[:, lag:]) / slip.var()
        assert found == pytest.approx(expected, abs=0.11)
    # wheels creep independently
    assert abs(np.mean(slip[..., 0] * slip[..., 1])) < 0.15 * slip.var()


def test_creep_is_in_the_rates_as_well_and_not_at_rest():
    told, true = rolled(400, creep=0.02)
    np.testing.assert_allclose(
        column(told, 'wheel_rate')[1:].mean(0),
        np.diff(column(told, 'wheel_angle'), axis=0).mean(0) / 0.005, rtol=1e-3)
    assert not error(told, true, 'steering').any()
    still, real = rolled(100, start={}, creep=0.02)
    assert not error(still, real, 'wheel_angle').any()


@pytest.mark.parametrize('base', [IDEAL, SensorSettings(wheel_counts=240)])
def test_counts_are_lost_in_proportion_to_the_path_of_each_wheel(base):
    told, true = rolled(2000, base=base, lost_counts=(0.0, 0.02, 0.18))
    path = column(true, 'wheel_angle')[-1]
    lost = -error(told, true, 'wheel_angle')[-1] / path
    # 125 rad: 4800 counts of 240 per turn, of which 96 ± 10 and 860 ± 29 are lost; 4 sigma
    np.testing.assert_allclose(lost, [0.0, 0.02, 0.18], atol=0.026)
    assert abs(lost[0]) < 1e-3 and lost[1] > 0.01
    # backwards less of the way back is counted
    told, true = rolled(2000, base=base, lost_counts=(0.1,),
                        start={**ALONG, 'twist': (0.0, -0.5, 0.0)})
    assert (error(told, true, 'wheel_angle')[-1] > 0.08 * 125).all()


def test_lost_counts_are_whole_counts():
    told, _ = rolled(500, base=SensorSettings(wheel_counts=240), lost_counts=(0.1,))
    counts = column(told, 'wheel_angle') * 240 / (2 * math.pi)
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    # at most what was passed: 2 or 3 counts in a cycle, by another phase one less
    assert -1.0 <= np.diff(counts, axis=0).min() <= 0.0


def test_backlash_delays_a_reversal_by_the_play_of_the_gear():
    plant = SensedPlant(AnalyticPlant(C3P), replace(
        IDEAL, errors=EncoderErrors(wheel_backlash=0.02, steering_backlash=0.01)))
    plant.reset(steering=0.4)
    told, true = [], []
    for k in range(600):
        told.append(plant.step(0.6 * np.sin(0.05 * k + np.arange(3)), 0.005))
        true.append(plant.plant.sense())
    for name, play in (('wheel_angle', 0.02), ('steering', 0.01)):
        off = error(told, true, name)
        step = np.diff(column(true, name), axis=0)
        assert np.abs(off).max() == pytest.approx(0.5 * play, rel=1e-6)
        # within the play the reading stands; at its end it lags in the direction of motion
        moved = np.diff(column(told, name), axis=0)
        np.testing.assert_allclose(moved[moved != 0.0], step[moved != 0.0], atol=play)
        ahead = (np.abs(step) > 1e-6) & (np.abs(off[1:]) > 0.4999 * play)
        assert ahead.any() and (np.sign(off[1:][ahead]) == -np.sign(step[ahead])).all()


def test_analog_steering_is_white_noise_of_the_angle_alone():
    told, true = rolled(3000, analog_noise=0.002)
    noise = error(told, true, 'steering')
    # 9000 draws know a deviation to 0.75 %, 4 sigma
    assert noise.std() == pytest.approx(0.002, rel=0.03)
    assert abs(np.mean(noise[1:] * noise[:-1])) < 0.06 * noise.var()
    assert not error(told, true, 'steering_rate').any()
    assert not error(told, true, 'wheel_angle').any()


def test_encoders_that_are_set_from_it_jump_while_they_do_not_turn():
    told, true = rolled(3000, analog_noise=0.002, rezero_ratio=0.3)
    offset = error(told, true, 'steering')
    jumps = np.diff(offset, axis=0)
    jumped = np.abs(jumps) > 1e-12
    assert jumped.mean() == pytest.approx(0.3, abs=0.02)
    # the difference of two draws; most are the measured 2 to 5 mrad
    assert jumps[jumped].std() == pytest.approx(0.002 * math.sqrt(2.0), rel=0.06)
    # turning faster than the threshold, none is set
    turning, real = rolled(500, start={'steering': 0.0, 'twist': (0.0, 0.0, 0.5)},
                           analog_noise=0.002, rezero_ratio=0.3, rezero_rate=0.0)
    assert np.abs(np.diff(error(turning, real, 'steering'), axis=0)).max() < 1e-12


def test_each_property_has_its_own_random_numbers():
    alone = {name: error(*rolled(200, seed=3, **{name: size}), part) for name, size, part in (
        ('creep', 0.01, 'wheel_angle'), ('analog_noise', 0.002, 'steering'))}
    told, true = rolled(200, seed=3, creep=0.01, analog_noise=0.002)
    assert np.array_equal(error(told, true, 'steering'), alone['analog_noise'])
    assert np.array_equal(error(told, true, 'wheel_angle'), alone['creep'])
    other = error(*rolled(200, seed=4, creep=0.01), 'wheel_angle')
    assert not np.array_equal(other, alone['creep'])


def test_a_reset_draws_the_same_again():
    settings = replace(SensorSettings(), errors=EncoderErrors(
        creep=0.01, lost_counts=(0.05,), wheel_backlash=0.01, analog_noise=0.002,
        rezero_ratio=0.3))
    plant = SensedPlant(AnalyticPlant(FREE), settings, 7)

    def drive():
        plant.reset(**ALONG)
        return np.array([np.concatenate(plant.step(STILL, 0.005)[1:]) for _ in range(100)])

    assert np.array_equal(drive(), drive())


@pytest.mark.parametrize(('wrong', 'text'), [
    ({'creep': -0.1}, 'creep'), ({'creep': 1.0}, 'creep'), ({'creep_time': 0.0}, 'creep_time'),
    ({'lost_counts': (0.1, 1.0)}, 'lost_counts'), ({'lost_counts': -0.1}, 'lost_counts'),
    ({'wheel_backlash': -1.0}, 'wheel_backlash'), ({'analog_noise': math.nan}, 'analog_noise'),
    ({'steering_backlash': math.inf}, 'steering_backlash'),
    ({'rezero_ratio': 0.3}, 'analog_noise'), ({'rezero_rate': -1.0}, 'rezero_rate'),
    ({'analog_noise': 0.1, 'rezero_ratio': 1.0}, 'rezero_ratio')])
def test_settings_out_of_range_are_refused_by_name(wrong, text):
    with pytest.raises(ValueError, match=text):
        EncoderErrors(**wrong)


def test_losses_must_be_of_all_wheels_or_of_each():
    with pytest.raises(ValueError, match='lost_counts has 2 values: must have 1, or 3'):
        SensedPlant(AnalyticPlant(C3P), SensorSettings(errors=EncoderErrors(
            lost_counts=(0.1, 0.2))))
