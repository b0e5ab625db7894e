# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled filter of a gyro and the joints: one span of motion, and the comparison of its turns.

The errors are those of `GyroFilter`: x = (pose; bias, scale, latency; yaw by the angles of the
last sample alone). The errors c of the parameters and of the rounded steering angles are not
estimated, but their covariance P and A = cov(x, c) are carried (Schmidt's filter). No checks;
derivation: docs/odometry_gyro.md.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kernels.elementary import wrap_angle
from c3p_kinematics.gyro_states import END, ERRORS

# bias before the first standstill, rad/s: 2°/s
FIRST_BIAS = 0.035

# latency of a gyro against the joints, s
LATENCY = 0.02


@inner
def renew_gyro(f):
    """Take bias, scale and latency of the gyro as unknown, but for their priors."""
    n = f.rounded.shape[1]
    for k in range(3):
        f.estimate[k] = 0.0
        a = 3 + k
        for j in range(ERRORS):
            f.covariance[a, j] = f.covariance[j, a] = 0.0
        for j in range(5 * n):
            f.cross[a, j] = 0.0
        for j in range(n):
            f.rounded[a, j] = 0.0
    f.covariance[3, 3] = FIRST_BIAS**2
    f.covariance[4, 4] = f.scale
    f.covariance[5, 5] = LATENCY**2


@inner
def place_slopes(span, dx, dy):
    """Let errors of the yaw within a span turn half of its displacement (dx, dy)."""
    for rows in (span.slopes.by_parameter, span.slopes.by_rounding):
        for j in range(rows.shape[1]):
            rows[0, j] -= 0.5 * dy * rows[2, j]
            rows[1, j] += 0.5 * dx * rows[2, j]
    carry_yaw(span.noise, 0.5 * dx, 0.5 * dy)


@inner
def carry_yaw(covariance, dx, dy):
    """Carry a covariance along (dx, dy): F P Fᵀ, F = [[1, 0, −dy], [0, 1, dx], [0, 0, 1]]."""
    for j in range(covariance.shape[1]):
        covariance[0, j] -= dy * covariance[2, j]
        covariance[1, j] += dx * covariance[2, j]
    for j in range(covariance.shape[0]):
        covariance[j, 0] -= dy * covariance[j, 2]
        covariance[j, 1] += dx * covariance[j, 2]


@inner
def spread_slopes(slopes, spread, out):
    """Write S P (3, 5n), of slopes S and the covariance P of the parameters."""
    k = len(spread)
    for a in range(3):
        for j in range(k):
            out[a, j] = 0.0
        for i in range(k):
            slope = slopes[a, i]
            if slope != 0.0:
                for j in range(k):
                    out[a, j] += slope * spread[i, j]


@inner
def leave_end(f):
    """Take the error of the last sample's angles out of the yaw: the next one is without it."""
    for a in range(ERRORS):
        f.covariance[2, a] -= f.covariance[END, a]
    for a in range(ERRORS):
        f.covariance[a, 2] -= f.covariance[a, END]
    for j in range(f.cross.shape[1]):
        f.cross[2, j] -= f.cross[END, j]
    for j in range(f.rounded.shape[1]):
        f.rounded[2, j] -= f.rounded[END, j]


@inner
def reach_end(f, variance):
    """Take the angles of a new sample, whose yaw has the `variance` alone, rad²."""
    for a in range(ERRORS):
        f.covariance[END, a] = f.covariance[a, END] = 0.0
    for j in range(f.cross.shape[1]):
        f.cross[END, j] = 0.0
    for j in range(f.rounded.shape[1]):
        f.rounded[END, j] = 0.0
    f.covariance[END, END] = variance
    f.covariance[END, 2] = f.covariance[2, END] = variance
    f.covariance[2, 2] += variance


@inner
def end_variance(f, speed, rate):
    """
    Return the variance of a yaw by the angles of one sample, rad².

    Parameters
    ----------
    f : GyroFilter
    speed, rate : float, m/s and rad/s
        Of a contact, and of the yaw: angles are of different times, and the stamp deviates.
    """
    return f.rounding + f.skew * speed**2 + f.jitter * rate**2


@inner
def propagate(f, span, spread, dx, dy, count):
    """
    Carry the covariance of `base` over a span of displacement (dx, dy).

    With e' = F e + S c + noise: Σ' = F Σ Fᵀ + F A Sᵀ + S A'ᵀ + Q, A' = F A + S P. Of a rounding
    error exp(−swept/count) remains after the steering has `swept`, by steps of `count` [rad].
    """
    n = f.rounded.shape[1]
    k = 5 * n
    place_slopes(span, dx, dy)
    leave_end(f)
    carry_yaw(f.covariance, dx, dy)
    for j in range(k):
        f.cross[0, j] -= dy * f.cross[2, j]
        f.cross[1, j] += dx * f.cross[2, j]
    for j in range(n):
        kept = math.exp(-span.swept[j] / count) if count > 0.0 else 0.0
        f.rounded[0, j] -= dy * f.rounded[2, j]
        f.rounded[1, j] += dx * f.rounded[2, j]
        for a in range(ERRORS):
            f.rounded[a, j] *= kept
    s = span.slopes.by_parameter
    t = span.slopes.by_rounding
    spread_slopes(s, spread, f.moved)
    for a in range(ERRORS):
        for b in range(3):
            if a >= 3 or b >= a:
                total = 0.0
                for j in range(k):
                    total += f.cross[a, j] * s[b, j]
                for j in range(n):
                    total += f.rounded[a, j] * t[b, j]
                if a < 3:
                    for j in range(k):
                        total += s[a, j] * f.cross[b, j] + f.moved[a, j] * s[b, j]
                    for j in range(n):
                        total += t[a, j] * (f.rounded[b, j] + t[b, j])
                    total += span.noise[a, b]
                f.covariance[a, b] += total
                if a != b:
                    f.covariance[b, a] = f.covariance[a, b]
    for a in range(3):
        for j in range(k):
            f.cross[a, j] += f.moved[a, j]
        for j in range(n):
            f.rounded[a, j] += t[a, j]
    duration = span.time[1] - span.time[0]
    f.covariance[3, 3] += (f.bias_walk + f.watch.drift[0]) * duration


@inner
def compare_turn(f, span, gyro, noise):
    """
    Return the turn by the gyro less the one expected, and the variance of that.

    `noise` is the variance of the turn by the gyro alone. With u = (duration, turn, −change of the
    rate) the turn of the gyro deviates by u·(bias, scale, latency) and noise. ``by_turn``,
    ``by_spread`` and ``by_rounded`` of `f` are the covariances of y = u·errors + error of the turn
    by the joints with x, and with c. The error of the turn
    ends with that of the last sample, and begins without that of the first: `reach_end` follows.
    """
    n = f.rounded.shape[1]
    k = 5 * n
    s = span.slopes.by_parameter
    t = span.slopes.by_rounding
    duration = span.time[1] - span.time[0]
    turned = span.turned[0]
    change = span.rate[0] - span.rate[1]
    for a in range(ERRORS):
        total = (duration * f.covariance[a, 3] + turned * f.covariance[a, 4]
                 + change * f.covariance[a, 5])
        for j in range(k):
            total += f.cross[a, j] * s[2, j]
        for j in range(n):
            total += f.rounded[a, j] * t[2, j]
        f.by_turn[a] = total - f.covariance[a, END] + (span.noise[a, 2] if a < 3 else 0.0)
    ended = end_variance(f, span.path[0] / duration, span.rate[1])
    # of the begin, which is in nothing else from now on
    began = f.by_turn[END]
    f.by_turn[END] = ended
    f.by_turn[2] += ended
    of_joints = span.noise[2, 2] + ended - began
    for j in range(k):
        own = duration * f.cross[3, j] + turned * f.cross[4, j] + change * f.cross[5, j]
        own -= f.cross[END, j]
        f.by_spread[j] = own + f.moved[2, j]
        of_joints += (f.moved[2, j] + own) * s[2, j]
    for j in range(n):
        own = duration * f.rounded[3, j] + turned * f.rounded[4, j] + change * f.rounded[5, j]
        own -= f.rounded[END, j]
        f.by_rounded[j] = own + t[2, j]
        of_joints += (t[2, j] + own) * t[2, j]
    variance = (duration * f.by_turn[3] + turned * f.by_turn[4] + change * f.by_turn[5]
                + of_joints)
    variance += noise
    expected = (turned * (1.0 + f.estimate[1]) + duration * f.estimate[0]
                + change * f.estimate[2])
    return gyro - expected, variance


@inner
def correct(f, value, variance, more):
    """
    Correct the errors by a compared turn; `more` is added to the variance of the joints' turn.

    The errors of the parameters stay as they are: A is corrected, P is not.
    """
    n = f.rounded.shape[1]
    f.covariance[2, 2] += more
    f.by_turn[2] += more
    part = 1.0 / (variance + more)
    for a in range(ERRORS):
        gain = part * f.by_turn[a]
        for b in range(ERRORS):
            f.covariance[a, b] -= gain * f.by_turn[b]
        for j in range(5 * n):
            f.cross[a, j] -= gain * f.by_spread[j]
        for j in range(n):
            f.rounded[a, j] -= gain * f.by_rounded[j]
        if a < 3:
            f.base[a] += gain * value
        elif a < END:
            f.estimate[a - 3] += gain * value
    f.base[2] = wrap_angle(f.base[2])


@inner
def predict(f, total, dx, dy, spread):
    """
    Write the covariance of the present pose: that of `base`, carried over the motion since then.

    `total` is the motion, of displacement (dx, dy); its slopes are changed.
    """
    n = f.rounded.shape[1]
    k = 5 * n
    place_slopes(total, dx, dy)
    s = total.slopes.by_parameter
    t = total.slopes.by_rounding
    spread_slopes(s, spread, f.moved)
    out = f.pose_covariance
    for a in range(3):
        for b in range(3):
            out[a, b] = f.covariance[a, b]
    # the angles of the sample at `base` are not in the present yaw
    for a in range(3):
        out[2, a] -= f.covariance[END, a]
        out[a, 2] -= f.covariance[a, END]
    out[2, 2] += f.covariance[END, END]
    carry_yaw(out, dx, dy)
    for j in range(k):
        f.by_spread[j] = f.cross[2, j] - f.cross[END, j]
    for j in range(n):
        f.by_rounded[j] = f.rounded[2, j] - f.rounded[END, j]
    for a in range(3):
        # rows of F A are those of A and a part of the yaw's, or the yaw's
        fa = (-dy if a == 0 else dx) if a < 2 else 1.0
        for b in range(a + 1):
            fb = (-dy if b == 0 else dx) if b < 2 else 1.0
            total_ab = total.noise[a, b]
            for j in range(k):
                of_a = fa * f.by_spread[j] + (f.cross[a, j] if a < 2 else 0.0)
                of_b = fb * f.by_spread[j] + (f.cross[b, j] if b < 2 else 0.0)
                total_ab += of_a * s[b, j] + s[a, j] * of_b + f.moved[a, j] * s[b, j]
            for j in range(n):
                of_a = fa * f.by_rounded[j] + (f.rounded[a, j] if a < 2 else 0.0)
                of_b = fb * f.by_rounded[j] + (f.rounded[b, j] if b < 2 else 0.0)
                total_ab += of_a * t[b, j] + t[a, j] * of_b + t[a, j] * t[b, j]
            out[a, b] += total_ab
            out[b, a] = out[a, b]
