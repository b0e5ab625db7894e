# SPDX-License-Identifier: Apache-2.0
"""Vehicles with masses: energy, free fall, statics on a slope, limits of friction, messages."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_rough_ground.closed_chain import DescriptionError, place, simulate
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.dynamics import (
    DriveTimes,
    DynamicError,
    HeavyVehicle,
    Servo,
    Tyre,
    drive,
    heavy,
    heavy_tricycle,
    tricycle_bodies,
)
from c3p_rough_ground.dynamics import _vehicle_kernels as kernels
from c3p_rough_ground.dynamics.motion import HeavyDrive
from c3p_rough_ground.dynamics.presets import AXLE, CAMBER, LOCKED
from c3p_rough_ground.rolling_contact import CappedCylinder
from c3p_rough_ground.terrain import Flat, Incline, Plateau, SplineGround
from c3p_rough_ground.vehicles import caster_vehicle, four_wheel_rover, pvc_tricycle

MODEL = load('pvc')
FORMS = (CAMBER, LOCKED, AXLE)


def driven(heavy_vehicle: HeavyVehicle, rate: float = 1.0) -> list[float]:
    """Return desired rates: spins at `rate`, all else at zero."""
    spins = heavy_vehicle.vehicle.spins
    return [rate * (k in spins) for k in range(heavy_vehicle.vehicle.size[0])]


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('seed', [2, 3])
def test_energy_of_a_drive_over_hills_balances_to_a_millionth_of_the_work(form, seed):
    vehicle = heavy_tricycle(MODEL, form)
    run = drive(vehicle, SplineGround.random(seed, degree=5), driven(vehicle), 8.0)
    assert not run.ended
    assert run.balance_error < 1e-6
    # every loss is one: none of the four sums ever decreases
    assert np.all(np.diff(run.dissipated, axis=0) > -1e-9)


@pytest.mark.parametrize('vehicle', [
    heavy(four_wheel_rover()), heavy(caster_vehicle(), ('caster_pivot', 'caster_wheel'))],
    ids=['rover', 'caster vehicle'])
def test_any_closed_chain_vehicle_moves_and_keeps_its_energy(vehicle):
    run = drive(vehicle, SplineGround.random(1, degree=5), driven(vehicle), 4.0)
    assert not run.ended and run.balance_error < 1e-6
    assert np.linalg.norm(run.position[-1] - run.position[0]) > 0.7


def test_the_error_of_the_energy_falls_with_the_fourth_power_of_the_step():
    vehicle = heavy_tricycle(MODEL)
    ground = SplineGround.random(4, degree=5)
    coarse, fine = (np.abs(drive(vehicle, ground, driven(vehicle), 2.0, times=DriveTimes(
        step=step)).imbalance[-1])
                    for step in (2e-3, 1e-3))
    # 16 of the fourth order, less or more by terms of higher order
    assert 8.0 < coarse / fine < 64.0


def test_power_and_losses_are_the_derivative_of_the_energy_in_any_state():
    # at random states, wheels in the ground, off it and sliding: finite differences along the flow
    rng = np.random.default_rng(0)
    vehicle = heavy_tricycle(MODEL)
    ground = SplineGround.random(0, degree=5)
    arrays = ground_arrays(ground)
    n, (m, w) = vehicle.tree.count, vehicle.vehicle.size
    lost = 2 * n + 2 * w + 2 * m
    for _ in range(40):
        base = HeavyDrive(vehicle, ground, rng.uniform(-3, 3, 3))
        state, memory = base.state, base._memory
        state[2] += rng.uniform(-0.02, 0.005)
        state[3:n] += rng.uniform(-0.02, 0.02, n - 3)
        state[n:2 * n] = rng.uniform(-1, 1, n)
        state[2 * n:2 * n + 2 * w] = rng.uniform(-1e-3, 1e-3, 2 * w)
        desired = rng.uniform(-2, 2, m)

        def energy(at, desired=desired, memory=memory):
            out = np.zeros_like(at)
            assert kernels.rates(vehicle.system, arrays, at, desired, memory, out)[0] == 0
            return memory.energy.sum(), out.copy()

        _, rate = energy(state)
        h = 1e-6
        slope = (energy(state + h * rate)[0] - energy(state - h * rate)[0]) / (2 * h)
        power = rate[lost - m:lost].sum() - rate[lost:].sum()
        # rounding of energies of 1e3 J over 2e-6 s, and the kink where a wheel leaves the ground
        assert slope == pytest.approx(power, abs=2e-5 * (1.0 + np.abs(rate[lost:]).max()))


def test_above_the_ground_it_falls_freely_and_keeps_its_rates():
    vehicle = replace(heavy_tricycle(MODEL, LOCKED), servos={})
    run = HeavyDrive(vehicle, Flat())
    n = vehicle.tree.count
    run.state[2] += 1.0
    before = run.state[:n].copy()
    run.state[n:n + 2] = 0.5, -0.2
    records = run.advance(np.zeros((1, 4)), 0.01, 40)
    fallen = before[2] - records.states[-1, 2]
    assert fallen == pytest.approx(9.81 * 0.4**2 / 2, abs=1e-12)
    assert records.states[-1, :2] - before[:2] == pytest.approx([0.2, -0.08], abs=1e-12)
    assert records.energy[:, :2].sum(axis=1) == pytest.approx(records.energy[0, :2].sum())


@pytest.mark.parametrize('form', FORMS)
def test_on_a_slope_the_motors_hold_the_weight(form):
    # Σ τ / r = m g sin β, with r from the wheel centre to the middle of the deflected tread
    slope = 0.2
    vehicle = heavy_tricycle(MODEL, form, tyre=Tyre(rolling=0.0))
    run = drive(vehicle, Incline(slope=slope), driven(vehicle, 0.0), 1.0,
                times=DriveTimes(settling=6.0))
    at, _ = run.joint.shape
    torque = run.motor_torque[-1][list(vehicle.vehicle.spins)]
    radius = MODEL.outer_radius - run.deflection[-1] / 2
    force = vehicle.mass * 9.81 * math.sin(math.atan(slope))
    # creep of the tread at standstill, and the settling of the integrals, leave less than 1e-3
    assert np.sum(torque / radius) == pytest.approx(force, rel=1e-3)
    assert run.normal_force[-1].sum() == pytest.approx(
        vehicle.mass * 9.81 * math.cos(math.atan(slope)), rel=1e-3)
    assert np.abs(run.velocity[-1]).max() < 2e-4


def test_climbing_a_slope_takes_weight_times_speed_times_sine():
    slope = 0.15
    vehicle = heavy_tricycle(MODEL)
    run = drive(vehicle, Incline(slope=slope), driven(vehicle), 6.0)
    late = run.time > 4.0
    rise = vehicle.mass * 9.81 * run.velocity[late, 2].mean()
    lost = np.diff(run.dissipated[late].sum(axis=1)).sum() / (run.time[late][-1]
                                                              - run.time[late][0])
    assert run.motor_power[late].sum(axis=1).mean() == pytest.approx(rise + lost, rel=2e-3)
    # weight is most of it
    assert rise > 0.85 * run.motor_power[late].sum(axis=1).mean()


def test_a_slope_steeper_than_friction_slides_with_its_limit():
    friction, slope = 0.3, 0.6
    vehicle = heavy_tricycle(MODEL, LOCKED, tyre=Tyre(friction=friction))
    run = HeavyDrive(vehicle, Incline(slope=slope))
    records = run.advance(np.zeros((1, 4)), 0.01, 150)
    n, angle = vehicle.tree.count, math.atan(slope)
    accel = np.diff(np.linalg.norm(records.states[100:, n:n + 3], axis=1)).mean() / 0.01
    # down the slope: g (sin β − µ cos β); the wheels are held
    assert accel == pytest.approx(9.81 * (math.sin(angle) - friction * math.cos(angle)), rel=0.02)


def test_a_slow_drive_follows_the_kinematics_to_the_first_order_of_the_compliance():
    # all joints follow the rates of the kinematic run, which the contacts permit: what is left is
    # the deflection of tyres, in proportion to their softness
    vehicle, ground = pvc_tricycle(MODEL), Plateau(width=1.5, start=2.0,
                                                   direction=math.radians(20))
    wanted = simulate(vehicle, ground, place(vehicle, ground, 0, 0, 0).require(),
                      [0, 0.6, 0, 0.6, 0, 0.6], 10.0)
    stiff = Servo(gain=200.0, integral=4000.0)
    servos = {joint.name: stiff for joint in vehicle.joints}
    left = []
    for factor in (2.0, 8.0):
        tyre = Tyre(stiffness=40e3 * factor, shear_stiffness=40e3 * factor,
                    shear_damping=200 * math.sqrt(factor))
        run = drive(HeavyVehicle(vehicle, tricycle_bodies(MODEL), servos, tyre), ground,
                    wanted.joint_rates, 10.0, times=DriveTimes(0.02, 5e-4))
        assert not run.ended
        left.append(np.linalg.norm(run.position[-1] - wanted.position[-1]))
    assert left[0] < 0.05
    assert 2.0 < left[0] / left[1] < 8.0


def rolled(servo_change) -> object:
    """Return a drive on flat ground with other camber springs."""
    vehicle = heavy_tricycle(MODEL)
    servos = {name: replace(servo, **servo_change) if servo.spring else servo
              for name, servo in vehicle.servos.items()}
    return drive(replace(vehicle, servos=servos), Flat(), [0, 1, 0, 1, 0, 1], 20.0)


def test_springs_carry_the_moment_of_the_wheels_on_flat_ground():
    # standing, friction would hold the wheels; rolling, they lean until the spring carries N e
    assert np.abs(rolled({}).joint[-1][[2, 4]]).max() < 0.01
    assert np.abs(rolled({'preload': 0.0}).joint[-1][[2, 4]]).min() > 0.05


def test_a_wheel_that_rolls_on_a_camber_joint_without_a_spring_falls_over():
    run = rolled({'spring': 0.0, 'preload': 0.0})
    assert run.ended.startswith('joint camber_joint_')
    assert 'take a stiffer spring' in run.ended


def test_it_is_twenty_times_as_fast_as_real_time():
    import time

    vehicle, ground = heavy_tricycle(MODEL), SplineGround.random(0)
    drive(vehicle, ground, driven(vehicle), 0.1)
    begin = time.process_time()
    drive(vehicle, ground, driven(vehicle), 4.0, times=DriveTimes(settling=0.0))
    assert 4.0 / (time.process_time() - begin) > 20.0


def test_invalid_parts_are_named_with_a_remedy():
    vehicle = pvc_tricycle(MODEL)
    bodies = tricycle_bodies(MODEL)
    with pytest.raises(DescriptionError, match='joint camber_joint_2 has no body: give its mass'):
        HeavyVehicle(vehicle, [b for b in bodies if b.name != 'camber_joint_2'])
    with pytest.raises(DescriptionError, match="servo 'spoiler': no such joint"):
        HeavyVehicle(vehicle, bodies, {'spoiler': Servo()})
    with pytest.raises(DescriptionError, match='friction = 0.0: must be finite and positive'):
        Tyre(friction=0.0)
    flat = replace(vehicle, wheels=[replace(w, surface=CappedCylinder(0.3, 0.1, 0.02))
                                    for w in vehicle.wheels])
    with pytest.raises(DescriptionError, match='wheel 1 has a flat tread'):
        HeavyVehicle(flat, bodies)
    with pytest.raises(DynamicError, match='desired of shape'):
        drive(heavy_tricycle(MODEL), Flat(), [1.0], 1.0)
    with pytest.raises(DynamicError, match='is not a whole number of periods'):
        drive(heavy_tricycle(MODEL), Flat(), [0.0] * 6, 0.015)
    with pytest.raises(ValueError, match="form = 'soft': must be 'camber', 'locked' or 'axle'"):
        heavy_tricycle(MODEL, 'soft')
