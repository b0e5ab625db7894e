# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
One sample of odometry, from the angles of the encoders to pose, twist and covariances.

    increments ─► slip, faults, wiring ─► weights ─► plausible? ─► step of the pose ─► covariances
                                                         └ no: the twist is held

`step` is the whole algorithm: each of its lines is a function below, or a formula of another file.
A sample that cannot be integrated as usual goes through `start_again`. The state is that of
odometry_states.py; nothing is checked here: odometry.py does that.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._channel_kernels import (
    begin_anew,
    compare_channels,
    contradicted,
    correct_leaps,
)
from c3p_kinematics._fault_alarm_kernels import SURE, watch_faults
from c3p_kinematics._gap_kernels import add_gap, bridge
from c3p_kinematics._grip_kernels import HELD, SLOWED, departs, plausibility
from c3p_kinematics._held_kernels import drop, hold_twist, prove, put_rows
from c3p_kinematics._odometry_kernels import LEAST_TRUST, add_slip, advance, grow, increments
from c3p_kinematics._planar_kernels import contact_rows, redundant, solve
from c3p_kinematics._present_kernels import fit_present, fit_start, take_rates
from c3p_kinematics._ring_kernels import go, refit
from c3p_kinematics._row_kernels import add_creep, expect_errors, learn_errors
from c3p_kinematics._slip_kernels import watch_slip
from c3p_kinematics._time_kernels import (
    correct_ages,
    forget_motion,
    watch_samples,
    watch_times,
)
from c3p_kinematics._uncertainty_kernels import add_slopes, carry
from c3p_kinematics._wiring_kernels import share_of_caster, watch_window
from c3p_kinematics.odometry_states import CAPACITY, KINDS, OdometryState
from c3p_kinematics.sample_times import LEAST_RATE, interval, likely_step, repeated

cut_state = OdometryState.cut

# verdicts on a sample: moved by it; not usable; sent again; taken with the next one; not to be
# integrated as usual; moved, but its twist is not determined
MOVED, IMPLAUSIBLE, REPEATED, WAITS, IRREGULAR, UNDETERMINED = 0, 1, 2, 3, 4, 5

# plausibility limits of an angle [rad] and a rate [rad/s]: beyond, float64 resolves less than an
# encoder, and no motor turns that fast
LARGEST_ANGLE = 1e8
LARGEST_RATE = 1e6

# shortest step [s]: a shorter one is rounding of a time stamp in seconds since 1970
SHORTEST_STEP = 1e-6

# a sample whose stamp goes back by less is late or has a wrong stamp: the next one contains its
# increments. Beyond, the clock was set back, s
OUT_OF_ORDER = 0.05


@kernel
def step(block, geometry, spread, cross, time, dt):
    """
    Process ``sample`` of the state; return the verdict.

    Parameters
    ----------
    block : array
        Of OdometryState.
    geometry : (n, 7) array
    spread, cross : (5n, 5n) and (3, 5n) arrays
        Of LastingErrors; shared with the calibration.
    time, dt : float, s
        Stamp of the sample, and since the sample before.
    """
    geometry = borrowed(geometry)
    spread = borrowed(spread)
    cross = borrowed(cross)
    s = cut_state(block, len(geometry))
    stamped = dt
    verdict, dt = inspect(s, dt)
    if verdict != MOVED:
        return verdict
    watch_samples(s.times, s.channels, s.sample, s.latch, stamped)
    timed = compare_channels(s.channels, s.latch, s.sample, stamped)
    if not timed:
        drop_rates(s)
    s.place.time[0] = time
    dt = measure_step(s, timed, dt)
    watch_slip(geometry, s.motion, s.slip, dt)
    watch_faults(geometry, s.motion, s.faults, dt)
    alarm = s.slip.slipping[0] + s.faults.alarm[0] > 0.0
    near = not alarm and s.slip.held[0] + s.faults.held[0] > 0.0
    watch_window(s.motion, s.wiring, alarm, near, dt)
    share_with_wiring(s)
    unexplained = trust(s)
    moved = move(geometry, s, dt)
    if not math.isfinite(s.motion.twist[0] + s.motion.twist[1] + s.motion.twist[2]):
        return UNDETERMINED
    rolls = moved and usual(s)
    learn_errors(s.rows, s.motion, rolls, dt)
    watch_times(geometry, s.times, s.motion, s.rows, rolls, dt)
    correct_last_steps(geometry, s, dt)
    add_unexplained_slip(geometry, s, unexplained, dt)
    carry_on(s.place, s.motion, s.lasting, spread, cross)
    add_creep(s.rows, s.motion, s.place, dt)
    if moved:
        take_rates(s, timed, dt)
        fit_present(geometry, s, spread)
    else:
        put(s.grip.twist, s.out.twist)
        put_rows(s.motion.residual, s.out.residual)
    prove(geometry, s.hold, s.grip, s.place, s.ring, dt, not moved)
    finish(s)
    return MOVED


@inner
def inspect(s, dt):
    """
    Return the verdict on a sample, and the time since the last one, s.

    Rates that are not plausible become nan.
    """
    n = len(s.rate)
    sample = s.sample
    for i in range(n):
        # nan is not below either
        if not (abs(sample[0, i]) <= LARGEST_ANGLE and abs(sample[1, i]) <= LARGEST_ANGLE):
            return IMPLAUSIBLE, dt
    timed = True
    for i in range(n):
        timed = (timed and abs(sample[2, i]) <= LARGEST_RATE and abs(sample[3, i]) <= LARGEST_RATE)
    correct_leaps(s.channels, s.latch, sample, dt)
    if timed:
        # angles and rates contain the time as well, and stamps jitter
        known = s.before[0, 0] == s.before[0, 0] and dt <= s.max_gap
        span = dt
        ahead = 0.0
        if known and s.stamp_weight > 0.0 and s.channels.proved[0] >= 0.0:
            span, ahead = likely_step(s.before, sample, s.stamp_weight, dt, s.ahead[0])
        if repeated(s.before, sample[0], sample[1], sample[2], sample[3], LEAST_RATE):
            return REPEATED, dt
        s.ahead[0] = ahead
        dt = span
    else:
        drop_rates(s)
    s.dt[0] = dt
    if -OUT_OF_ORDER < dt < s.shortest:
        return WAITS, dt
    if dt < SHORTEST_STEP or not dt <= s.max_gap:
        begin_anew(s.channels, sample, timed)
        if contradicted(s.channels):
            drop_rates(s)
        return IRREGULAR, dt
    return MOVED, dt


@inner
def drop_rates(s):
    """Take the rates of the sample as unknown."""
    for i in range(len(s.rate)):
        s.sample[2, i] = math.nan
        s.sample[3, i] = math.nan


@inner
def measure_step(s, timed, dt):
    """Take the increments of all angles; return the time in which they happened, s."""
    motion = s.motion
    increments(s.latch, s.sample[0], s.sample[1], dt, motion.steering, motion.wheel_rate,
               motion.steering_rate)
    # increments of a slipping wheel have no evidence of the time
    if timed and s.slip.slipping[0] == 0.0:
        span, age = interval(motion.wheel_rate, s.rate, s.sample[3], dt, s.wheel_resolution,
                             s.age[0])
        part = dt / span
        for i in range(len(s.rate)):
            motion.wheel_rate[i] *= part
            motion.steering_rate[i] *= part
        s.age[0] = age
        dt = span
    put(s.sample[3], s.rate)
    correct_ages(s.times, motion, dt)
    # what the times still deviate by is expected by the monitors
    s.slip.skew[0] = s.times.skew[0]
    s.faults.skew[0] = s.times.skew[0]
    return dt


@inner
def share_with_wiring(s):
    """Lower the confidence in the caster at fault by the probability of the description."""
    slip = s.slip
    faults = s.faults
    whole = 0.0
    most = 0.0
    # a caster that the faults name is not the one that the residuals alone suspect
    caster = int(slip.suspect[0])
    share = share_of_caster(s.wiring, caster)
    if share < 1.0:
        slip.confidence[0] *= share
        if slip.confidence[0] <= 0.5:
            slip.suspect[0] = -1.0
        for i in range(len(s.weight)):
            slip.likelihood[i] *= share_of_caster(s.wiring, i)
    for i in range(len(s.weight) if faults.alarm[0] != 0.0 else 0):
        here = 0.0
        for k in range(KINDS):
            here += faults.table[i, k]
        whole += here
        if here > most:
            most = here
            caster = i
    share = share_of_caster(s.wiring, caster)
    s.wiring.share[0] = share
    if share == 1.0:
        return
    if share >= SURE and faults.suspect[0] >= 0.0:
        s.wiring.proved[0] = 1.0
        return
    if share * most <= 1.0 - share * whole:
        faults.caster[0] = -1.0
    if share * most < SURE:
        faults.suspect[0] = -1.0
        for i in range(len(s.weight)):
            faults.trust[i, 0] = 1.0
            faults.trust[i, 1] = 1.0


@inner
def trust(s):
    """Write the weight of each caster by its slip; return the χ² that stays unexplained."""
    slip = s.slip
    faults = s.faults
    n = len(s.weight)
    for i in range(n):
        s.weight[i] = 1.0
    left = slip.statistic[0]
    if s.robust == 0.0:
        for i in range(n):
            faults.trust[i, 0] = 1.0
            faults.trust[i, 1] = 1.0
        faults.suspect[0] = -1.0
        return left
    # a caster that the fault monitor names is left out by its rows, whatever slips
    if faults.suspect[0] >= 0.0:
        return slip.without[int(faults.suspect[0])]
    if slip.slipping[0] != 0.0 and slip.suspect[0] >= 0.0:
        more = 0.0
        for i in range(n):
            s.weight[i] = max(1.0 - slip.likelihood[i], LEAST_TRUST)
            more += slip.likelihood[i] * (slip.without[i] - slip.statistic[0])
        left += more
    return left


@inner
def usual(s):
    """Return whether all casters roll by all that is known."""
    rolls = s.slip.slipping[0] == 0.0 and s.faults.alarm[0] == 0.0
    for i in range(len(s.weight)):
        rolls = rolls and s.grip.weight[i] == 1.0
    return rolls


@inner
def move(geometry, s, dt):
    """
    Fit the step and move the pose by it or, beyond friction, by the held twist.

    Returns whether it was by the fit; then its twist may be nan, and the pose stays.
    """
    motion = s.motion
    grip = s.grip
    place = s.place
    ring = s.ring
    contact_rows(geometry, motion.steering, motion.rolling, motion.axle)
    expect_errors(s.rows, motion, grip.reference, dt)
    row = int(ring.count[0]) % CAPACITY
    age = grip.age[0]
    put(grip.reference, ring.steps.reference[row])
    put(place.pose, ring.steps.pose[row])
    verdict = plausibility(geometry, motion, dt, s.faults.trust, grip)
    if age > 0.0 or verdict == SLOWED:
        # after a hold, or against an obstacle, the velocity begins anew
        put(grip.reference, ring.steps.reference[row])
    weigh_rows(s)
    solve(geometry, motion)
    if not math.isfinite(motion.twist[0] + motion.twist[1] + motion.twist[2]):
        return True
    held = False
    if s.robust != 0.0:
        back = 0
        held = verdict == HELD and age + dt < math.inf
        if grip.time_error > 0.0 and age < math.inf:
            # with stamps that jitter a slow spin shows in the path of several steps
            put(place.pose, s.hold.rolled)
            advance(s.hold.rolled, motion.twist, dt)
            since = departs(s.hold.rolled, dt, place.lever, grip, ring)
            if since >= 0:
                if verdict != HELD:
                    grip.age[0] = age + dt
                    grip.verdict[0] = HELD
                held = True
                back = since
        if held:
            hold_twist(s.hold, motion, grip, place, ring, dt, back)
            go(motion, dt, held, place.pose, ring)
            return False
    for i in range(len(s.weight)):
        s.lasting.turned[i] += abs(motion.steering_rate[i]) * dt
    add_slopes(geometry, motion, s.lasting, place.pose[2] + 0.5 * dt * motion.twist[2], dt,
               s.lasting.pose)
    go(motion, dt, held, place.pose, ring)
    return True


@inner
def weigh_rows(s):
    """Write the weights of the fit: by slip, by plausibility, and by the trust of the rows."""
    for i in range(len(s.weight)):
        for j in range(2):
            believed = max(s.faults.trust[i, j], LEAST_TRUST)
            believed = (min(s.weight[i], s.grip.weight[i], believed)
                        if s.robust != 0.0 else s.weight[i])
            s.motion.weight[i, j] = believed * s.rows.weight[i, j]


@inner
def correct_last_steps(geometry, s, dt):
    """Fit the last steps again, once per slip or wrong angle, as soon as it is isolated."""
    slip = s.slip
    ring = s.ring
    wrong = s.faults.suspect[0]
    # an alarm comes within about twice the filter's time, and a wheel is isolated in it once no
    # other wiring explains it; until then the wheel has had its full weight, and a yaw error would
    # grow with every metre driven afterwards
    span = 2.0 * slip.time_constant + ring.unclear[0]
    if wrong >= 0.0 and wrong != ring.left_out[0]:
        refit(geometry, ring, span, int(wrong), s.place.pose)
    ring.left_out[0] = wrong
    if slip.slipping[0] == 0.0:
        ring.refitted[0] = 0.0
    elif s.robust != 0.0 and ring.refitted[0] == 0.0 and slip.confidence[0] >= slip.isolated:
        suspect = slip.suspect[0]
        named = s.faults.caster[0]
        # another caster's fault explains the residuals as well
        if named < 0.0 or named == suspect:
            refit(geometry, ring, span, int(suspect), s.place.pose)
    alarm = slip.slipping[0] + s.faults.alarm[0] > 0.0
    clear = wrong >= 0.0 or ring.refitted[0] != 0.0
    ring.unclear[0] = ring.unclear[0] + dt if alarm and not clear else 0.0


@inner
def add_unexplained_slip(geometry, s, left, dt):
    """Add slip that no isolated caster explains, of χ² `left`, to the covariance of the pose."""
    n = len(s.weight)
    place = s.place
    slip = s.slip
    # it lasts about the filter's time: a velocity error σ adds 2 τ σ² dt
    excess = left / redundant(geometry) - 1.0
    if excess > 0.0:
        mean = 0.0
        for i in range(n):
            mean += slip.variance[i]
        variance = excess * (mean / n)
        add_slip(place.covariance, place.pose[2], s.motion.unit,
                 2.0 * slip.time_constant * dt * variance)


@inner
def carry_on(place, motion, lasting, spread, cross):
    """
    Carry both covariances to the pose, and count the path.

    At standstill they stay. ``motion.unit`` is of the newest fit.
    """
    dx, dy = place.pose[0] - place.anchor[0], place.pose[1] - place.anchor[1]
    turned = abs(wrap_angle(place.pose[2] - place.anchor[2]))
    length = grow(place.covariance, place.anchor, place.pose, place.growth, place.lever,
                  place.standing)
    if length < 0.0:
        return
    carry(dx, dy, lasting, spread, cross)
    if place.tyre > 0.0:
        add_slip(place.covariance, place.pose[2], motion.unit,
                 place.tyre * (length + place.lever * turned))
    for j in range(3):
        for k in range(3):
            place.ends[j, k] = 0.0
    add_slip(place.ends, place.pose[2], motion.unit, place.end_variance)
    place.distance[0] += length
    place.moved[0] = place.time[0]


@inner
def finish(s):
    """Write the covariance of the pose: of the path, of what lasts, and of its ends."""
    for j in range(3):
        for k in range(3):
            s.out.pose_covariance[j, k] = (s.place.covariance[j, k] + s.lasting.covariance[j, k]
                                           + s.place.ends[j, k])


@kernel
def start_again(block, geometry, spread, cross, time, largest):
    """
    Latch a sample that cannot be integrated, and begin anew; return the path over a gap, m.

    After a gap the pose moves by positions alone. A negative path: there is no gap, or a wheel
    would have turned faster than `largest` [rad/s] and its counter was reset.
    """
    geometry = borrowed(geometry)
    spread = borrowed(spread)
    cross = borrowed(cross)
    s = cut_state(block, len(geometry))
    place = s.place
    dt = s.dt[0]
    path = -1.0
    place.time[0] = time
    if s.max_gap < dt < math.inf:
        path = bridge(geometry, s.latch, s.sample, s.rate, dt, largest, place, s.ring.fit)
        if path >= 0.0:
            carry_on(place, s.motion, s.lasting, spread, cross)
            add_gap(path, place)
    put(s.sample[0], s.latch[0])
    put(s.sample[1], s.latch[1])
    s.ring.count[0] = 0.0
    forget_motion(s.times)
    drop(s.hold)
    place.moved[0] = min(place.moved[0], time)
    # a clock that was set back does not prolong the hold
    s.peak.time[0] = min(s.peak.time[0], time)
    fit_start(geometry, s, spread)
    put(s.sample[3], s.rate)
    finish(s)
    return path
