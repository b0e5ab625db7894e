# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled cycle of odometry: few calls per sample, as each costs more than what it computes.

A sample passes `inspect`, `observe`, `move` and `settle`; between them odometry.py judges slip and
faults. Arguments are those of `_odometry_state`, of these four as blocks; no checks. Public side:
odometry.py.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.small import put
from c3p_kinematics._fault_kernels import hypotheses
from c3p_kinematics._grip_kernels import HELD, SLOWED, departs, judge
from c3p_kinematics._odometry_kernels import (
    LEAST_TRUST,
    add_slip,
    advance,
    grow,
    increments,
    lengths,
    track,
)
from c3p_kinematics._odometry_state import (
    CAPACITY,
    cut_faults,
    cut_grip,
    cut_lasting,
    cut_motion,
    cut_peak,
    cut_place,
    cut_ring,
    cut_slip,
)
from c3p_kinematics._planar_kernels import measured, solve
from c3p_kinematics._uncertainty_kernels import add_slopes, carry, of_twist
from c3p_kinematics.sample_times import LEAST_RATE, interval, repeated

# verdicts of `inspect`: usable with its rates, or without them; not usable
TIMED, UNTIMED, IMPLAUSIBLE, REPEATED = 0, 1, 2, 3

# plausibility limits of an angle [rad] and a rate [rad/s]: beyond, float64 resolves less than an
# encoder, and no motor turns that fast
LARGEST_ANGLE, LARGEST_RATE = 1e8, 1e6

# mean square residual of a twist beyond which it is slip, relative to that of wrong parameters
UNEXPLAINED = 4.0


@kernel
def inspect(last, steering, wheel, steering_rate, wheel_rate, timed):
    """
    Return the verdict on a sample, which becomes `last` (4, n) if its rates are usable.

    `timed` is false for one without rates, whose arguments are then not read.
    """
    for i in range(len(steering)):
        # nan is not below either
        if not (abs(steering[i]) <= LARGEST_ANGLE and abs(wheel[i]) <= LARGEST_ANGLE):
            return IMPLAUSIBLE
    for i in range(len(steering)):
        timed = (timed and abs(steering_rate[i]) <= LARGEST_RATE
                 and abs(wheel_rate[i]) <= LARGEST_RATE)
    if not timed:
        return UNTIMED
    same = repeated(last, steering, wheel, steering_rate, wheel_rate, LEAST_RATE)
    return REPEATED if same else TIMED


@kernel
def slip_statistic(geometry, steering, wheel_rate, steering_rate, dt, slip, residual):
    """Add a sample to a SlipState as `track`; write the lengths of its residuals, return χ²."""
    gain = -math.expm1(-dt / slip.time_constant) if dt > 0.0 else 0.0
    statistic = track(geometry, steering, wheel_rate, steering_rate, gain, slip.noise,
                      slip.fraction, slip.mean, slip.power, slip.variance, slip.contact,
                      slip.residual, slip.without)
    lengths(slip.residual, residual)
    return statistic


@kernel
def fault_statistic(geometry, steering, wheel_rate, steering_rate, dt, fault, apart):
    """Add a sample to a FaultState as `hypotheses`; write lengths of innovations, return χ²."""
    statistic = hypotheses(geometry, steering, wheel_rate, steering_rate, dt,
                           -math.expm1(-dt / fault.time_constant), fault.noise, fault.leak,
                           fault.trusted, fault.memory, fault.statistic, fault.innovation)
    lengths(fault.innovation, apart)
    return statistic


@kernel
def observe(geometry, motion, steering, wheel, before, after, evident, dt, age, resolution, slip,
            fault, residual, apart):
    """
    Take a sample into `motion` and both monitors.

    Parameters
    ----------
    geometry : (n, 4) array
    motion : block of Motion
    steering, wheel : (n,) arrays, rad
    before, after : (n,) arrays, rad/s
        Wheel rates of the sample before and of this one; not read unless `evident`.
    evident : bool
        The increments are evidence of the time between the samples.
    dt, age, resolution : float
        As of `sample_times.interval`.
    slip, fault : blocks of SlipState and FaultState
    residual, apart : (n,) arrays, m/s
        Lengths of the slip monitor's residuals and of the fault monitor's innovations; written.

    Returns
    -------
    dt, age, statistic, faulty : float
        Time between the samples [s] and age of the newer one [s]; χ² of both monitors.
    """
    n = len(geometry)
    motion, slip, fault = cut_motion(motion, n), cut_slip(slip, n), cut_faults(fault, n)
    increments(motion.latch, steering, wheel, dt, motion.steering, motion.wheel_rate,
               motion.steering_rate)
    if evident:
        span, age = interval(motion.wheel_rate, before, after, dt, resolution, age)
        part, dt = dt / span, span
        for i in range(len(steering)):
            motion.wheel_rate[i] *= part
            motion.steering_rate[i] *= part
    statistic = slip_statistic(geometry, motion.steering, motion.wheel_rate,
                               motion.steering_rate, dt, slip, residual)
    faulty = fault_statistic(geometry, motion.steering, motion.wheel_rate, motion.steering_rate,
                             dt, fault, apart)
    return dt, age, statistic, faulty


@kernel
def plausibility(geometry, steering, wheel_rate, steering_rate, dt, age, trust, grip):
    """Return the verdict of `judge` on a sample; the twist has been held for `age` [s]."""
    contact = np.empty((len(geometry), 2))
    measured(geometry, wheel_rate, steering_rate, contact)
    return judge(geometry, steering, contact, dt, age if age < grip.longest_hold else math.inf,
                 trust, grip)


@kernel
def move(geometry, motion, dt, weight, robust, trust, age, grip, lasting, place, ring, count):
    """
    Fit the step of `motion` and move by it, unless its twist must be held.

    Parameters
    ----------
    geometry : (n, 4) array
    motion : block of Motion
    dt : float, s
    weight : (n,) array
        Of each caster by its slip.
    robust : bool
        Casters that are not plausible and rows that are not trusted are de-weighted.
    trust, age, grip : (n, 2) array, float and block of GripState
        As of `judge`.
    lasting, place, ring : blocks of LastingState, Place and Ring
    count : int
        Number of this step in the ring.

    Returns
    -------
    verdict : int
        Of `judge`.
    moved : bool
        False if the twist must be held, or is not determined: then it is nan.
    back : int
        Steps before this one whose twist must be held as well.
    """
    n = len(geometry)
    motion, grip, lasting = cut_motion(motion, n), cut_grip(grip, n), cut_lasting(lasting, n)
    place, ring = cut_place(place, n), cut_ring(ring, n)
    put(grip.reference, ring.steps[count % CAPACITY, 5:8])
    put(place.pose, ring.steps[count % CAPACITY, 8:])
    verdict = plausibility(geometry, motion.steering, motion.wheel_rate, motion.steering_rate, dt,
                           age, trust, grip)
    if age > 0.0 or verdict == SLOWED:
        # after a hold, or against an obstacle, the velocity begins anew
        put(grip.reference, ring.steps[count % CAPACITY, 5:8])
    for i in range(len(weight)):
        for j in range(2):
            believed = max(trust[i, j], LEAST_TRUST)
            motion.weight[i, j] = (min(weight[i], grip.weight[i], believed) if robust
                                   else weight[i])
    step = motion.twist
    solve(geometry, motion.steering, motion.wheel_rate, motion.steering_rate, motion.weight, step,
          motion.residual, motion.unit)
    held, back = robust and verdict == HELD and age + dt < math.inf, 0
    if not math.isfinite(step[0] + step[1] + step[2]):
        return verdict, False, 0
    if robust and grip.time_error > 0.0 and age < math.inf:
        rolled = place.pose.copy()
        advance(rolled, step, dt)
        since = departs(rolled, dt, place.lever, grip, ring.steps, count)
        if since >= 0:
            verdict, held = HELD, True
            back = since
    if held:
        return verdict, False, back
    for i in range(len(weight)):
        lasting.turned[i] += abs(motion.steering_rate[i]) * dt
    add_slopes(geometry, motion.steering, step, motion.weight, motion.unit, lasting.units,
               lasting.rounding, place.pose[2] + 0.5 * dt * step[2], dt, lasting.slopes,
               lasting.rounded)
    go(motion, dt, held, place, ring, count)
    return verdict, True, 0


@kernel
def go(motion, dt, held, place, ring, count):
    """Move the pose by the twist of `motion`, and keep the step as number `count` of the ring."""
    advance(place.pose, motion.twist, dt)
    casters, steps = ring.casters[count % CAPACITY], ring.steps[count % CAPACITY]
    for i in range(len(motion.weight)):
        casters[0, i], casters[1, i] = motion.steering[i], motion.wheel_rate[i]
        casters[2, i] = motion.steering_rate[i]
        casters[3, i], casters[4, i] = motion.weight[i, 0], motion.weight[i, 1]
    for j in range(3):
        steps[j] = motion.twist[j]
    steps[3], steps[4] = dt, 1.0 if held else 0.0


@kernel
def carry_on(place, unit, lasting, spread, cross):
    """
    Carry both covariances to the pose, and return the length of the path, m.

    At standstill they stay, and −1 is returned. `unit` (3, 3) is that of the newest fit, `spread`
    and `cross` are those of LastingErrors.
    """
    dx, dy = place.pose[0] - place.anchor[0], place.pose[1] - place.anchor[1]
    length = grow(place.covariance, place.anchor, place.pose, place.growth, place.lever,
                  place.standing)
    if length >= 0.0:
        carry(dx, dy, lasting.slopes, lasting.rounded, lasting.turned,
              lasting.resolution, spread, lasting.covariance, cross,
              lasting.lasting)
        place.ends[:] = 0.0
        add_slip(place.ends, place.pose[2], unit, place.end_variance)
    return length


@kernel
def twist_variance(residual, noise, power, peak):
    """
    Return the variance of a contact velocity, m²/s², from the mean square `residual` of a fit.

    Residuals beyond those of described parameters are of slip; smaller ones are expected. `noise`
    [m/s] is that of a rate signal or of the encoder steps, `power` the mean square speed.
    """
    largest = UNEXPLAINED * (noise**2 + peak.fraction**2 * power)
    return residual if residual > largest else noise**2 + peak.creep**2 * power


@kernel
def fit_twist(geometry, steering, wheel_rate, steering_rate, weight, noise, late, time, moved, dt,
              peak, lasting, spread, unit, twist, residual, covariance):
    """
    Fit the present twist and write its covariance; return whether that was possible.

    Parameters
    ----------
    geometry, steering, wheel_rate, steering_rate, weight : arrays
        As of `_planar_kernels.solve`.
    noise, late : float and bool
        Deviation of a contact velocity, m/s; whether it is of rates, which lag.
    time, moved, dt : float, s
        Now, of the last motion, and since the twist before.
    peak, lasting : Peak and LastingState
    spread : (5n, 5n) array
        Of LastingErrors.
    unit, twist, residual, covariance : (3, 3), (3,), (n, 2) and (3, 3) arrays
        Written.
    """
    variance, power = solve(geometry, steering, wheel_rate, steering_rate, weight, twist, residual,
                            unit)
    if not math.isfinite(variance):
        return False
    amount = twist_variance(variance, noise, power, peak)
    value, trace, largest = peak.value, 0.0, 0.0
    for j in range(3):
        trace += unit[j, j] * amount
        largest += value[j, j]
    # at standstill the covariance of the motion stays for a while
    since = peak.time[0] if moved == time else moved
    if time - since > peak.hold or trace >= largest:
        peak.time[0] = time
        for j in range(3):
            for k in range(3):
                value[j, k] = unit[j, k] * amount
    lasting.twist_slopes[:] = 0.0
    lasting.twist_rounded[:] = 0.0
    add_slopes(geometry, steering, twist, weight, unit, lasting.units, lasting.rounding, 0.0, 1.0,
               lasting.twist_slopes, lasting.twist_rounded)
    of_twist(lasting.twist_slopes, lasting.twist_rounded, spread, twist, dt,
             lasting.lag if late else 0.0, lasting.slow, covariance)
    for j in range(3):
        for k in range(3):
            covariance[j, k] += value[j, k]
    return True


@kernel
def settle(geometry, motion, dt, left, slip, held, steering, wheel_rate, steering_rate, noise,
           late, time, moved, place, peak, lasting, spread, cross, twist, residual, covariance):
    """
    Carry the covariances along the step of `motion`, and fit the twist after it.

    Parameters
    ----------
    geometry, motion, dt : array, block of Motion and float
    left, slip : float and block of SlipState
        χ² of the slip monitor that no isolated caster explains.
    held : bool
        The twist is held: it is not fitted.
    steering, wheel_rate, steering_rate, noise, late, time, moved : arrays, ...
        As of `fit_twist`.
    place, peak, lasting : blocks of Place, Peak and LastingState
    spread, cross : (5n, 5n) and (3, 5n) arrays
        Of LastingErrors.
    twist, residual, covariance : arrays
        Of the twist; written if it could be fitted.

    Returns
    -------
    length : float, m
        As of `carry_on`.
    fitted : bool
    """
    n = len(geometry)
    motion, slip, lasting = cut_motion(motion, n), cut_slip(slip, n), cut_lasting(lasting, n)
    place, peak = cut_place(place, n), cut_peak(peak, n)
    # unexplained slip lasts about the filter's time: a velocity error σ adds 2 τ σ² dt
    excess = left / (2 * len(steering) - 3) - 1.0
    if excess > 0.0:
        variance = excess * slip.variance.mean()
        add_slip(place.covariance, place.pose[2], motion.unit,
                 2.0 * slip.time_constant * dt * variance)
    length = carry_on(place, motion.unit, lasting, spread, cross)
    fitted = not held and fit_twist(
        geometry, steering, wheel_rate, steering_rate, motion.weight, noise, late, time,
        time if length >= 0.0 else moved, dt, peak, lasting, spread, motion.unit, twist,
        residual, covariance)
    return length, fitted
