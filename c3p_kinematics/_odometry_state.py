# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Arrays and constants of the odometry and its monitors, as its kernels take them.

Each is made once by the class that owns it, and its arrays change in place. They are parts of one
array, its `block`, which the kernels of a sample take and cut themselves: to pass them a tuple of
ten arrays costs more than what they compute. A block begins with the constants.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kernels.compiled import kernel

# numbers that the fault monitor keeps of a caster, see _fault_kernels.py
MEMORY = 20

# steps kept for the second fit: 0.2 s at 320 Hz; at higher rates its span is shorter
CAPACITY = 64


class Layout(NamedTuple):
    """Kernel that cuts a block of ``head + rows n`` numbers into a state."""

    cut: Callable[..., Any]
    head: int
    rows: int

    def state(self, n: int, constants: Sequence[float] = ()) -> Any:
        """Return the state of a new block: `constants`, then zeros."""
        block = np.zeros(self.head + self.rows * n)
        block[:len(constants)] = constants
        return getattr(self.cut, 'py_func', self.cut)(block, n)


class SlipState(NamedTuple):
    """
    Of a SlipMonitor, as `_odometry_kernels.track` takes it.

    Attributes
    ----------
    time_constant, noise, fraction : float
        Of the low-pass, s; noise of a contact velocity, m/s, and per speed.
    mean, power : (n, 2) and (n,) arrays
        Low-passed residuals in ``base_link``, m/s, and squared contact speeds.
    variance, without : (n,) arrays
        Of the contact velocities, m²/s²; χ² without each caster.
    contact, residual : (n, 2) arrays, m/s
        Low-passed contact velocities, and their residuals.
    """

    block: Array
    time_constant: float
    noise: float
    fraction: float
    mean: Array
    power: Array
    variance: Array
    contact: Array
    residual: Array
    without: Array


@kernel
def cut_slip(block, n):
    """Return the SlipState of a block."""
    rows = block[3:].reshape(9, n)
    return SlipState(block, float(block[0]), float(block[1]), float(block[2]),
                     rows[:2].reshape(n, 2), rows[2], rows[3], rows[4:6].reshape(n, 2),
                     rows[6:8].reshape(n, 2), rows[8])


SLIP = Layout(cut_slip, 3, 9)


class FaultState(NamedTuple):
    """
    Of a FaultMonitor, as `_fault_kernels.hypotheses` takes it.

    Attributes
    ----------
    time_constant, leak : float, s and 1/m
    noise, trusted : (7,) and (n,) arrays
    memory, statistic, innovation : (n, MEMORY), (n, 4) and (n, 2) arrays
    """

    block: Array
    time_constant: float
    leak: float
    noise: Array
    trusted: Array
    memory: Array
    statistic: Array
    innovation: Array


@kernel
def cut_faults(block, n):
    """Return the FaultState of a block."""
    rows = block[9:].reshape(MEMORY + 7, n)
    return FaultState(block, float(block[0]), float(block[1]), block[2:9], rows[0],
                      rows[1:1 + MEMORY].reshape(n, MEMORY),
                      rows[1 + MEMORY:5 + MEMORY].reshape(n, 4), rows[5 + MEMORY:].reshape(n, 2))


FAULTS = Layout(cut_faults, 9, MEMORY + 7)


class GripState(NamedTuple):
    """
    Of a GripMonitor, as `_grip_kernels.judge` takes it.

    Attributes
    ----------
    acceleration, noise, resolution, fraction, longest_hold, time_error, window : float
        As of GripSettings.
    reference, twist : (3,) arrays
        Plausible, and fitted or held twist.
    weight, excess : (n,) arrays
    mean, elapsed : (n, 2) and (1,) arrays, m/s and s
        Contact velocities over the window, in ``base_link``, and the time since it began.
    """

    block: Array
    acceleration: float
    noise: float
    resolution: float
    fraction: float
    longest_hold: float
    time_error: float
    window: float
    reference: Array
    twist: Array
    weight: Array
    excess: Array
    mean: Array
    elapsed: Array


@kernel
def cut_grip(block, n):
    """Return the GripState of a block."""
    rows = block[14:].reshape(4, n)
    return GripState(block, float(block[0]), float(block[1]), float(block[2]), float(block[3]),
                     float(block[4]), float(block[5]), float(block[6]), block[7:10],
                     block[10:13], rows[0], rows[1], rows[2:].reshape(n, 2),
                     block[13:14])


GRIP = Layout(cut_grip, 14, 4)


class LastingState(NamedTuple):
    """
    Of LastingErrors, as `_uncertainty_kernels` take it.

    Attributes
    ----------
    units : (5n,) array
    rounding, resolution, lag : float, rad, rad and s
    covariance : (3, 3) array
    slopes, rounded, lasting : (3, 5n), (3, n) and (3, n) arrays
    turned, slow : (n,) and (3,) arrays
    twist_slopes, twist_rounded : (3, 5n) and (3, n) arrays
        Derivatives of the newest twist.
    """

    block: Array
    units: Array
    rounding: float
    resolution: float
    lag: float
    covariance: Array
    slopes: Array
    rounded: Array
    lasting: Array
    turned: Array
    slow: Array
    twist_slopes: Array
    twist_rounded: Array


@kernel
def cut_lasting(block, n):
    """Return the LastingState of a block."""
    rows = block[15:].reshape(45, n)
    return LastingState(block, rows[:5].reshape(5 * n), float(block[0]), float(block[1]),
                        float(block[2]), block[3:12].reshape(3, 3),
                        rows[5:20].reshape(3, 5 * n), rows[20:23], rows[23:26], rows[26],
                        block[12:15], rows[27:42].reshape(3, 5 * n), rows[42:])


LASTING = Layout(cut_lasting, 15, 45)


class Motion(NamedTuple):
    """
    Of one step, from sample to sample.

    Attributes
    ----------
    latch : (3, n) array
        As of `_odometry_kernels.increments`.
    steering, wheel_rate, steering_rate : (n,) arrays, rad and rad/s
        Halfway, and mean rates.
    weight : (n, 2) array
        Of each caster in the fit, along and across.
    twist, residual, unit : (3,), (n, 2) and (3, 3) arrays
        Of the fit, and its covariance for unit variance.
    """

    block: Array
    latch: Array
    steering: Array
    wheel_rate: Array
    steering_rate: Array
    weight: Array
    twist: Array
    residual: Array
    unit: Array


@kernel
def cut_motion(block, n):
    """Return the Motion of a block."""
    rows = block[12:].reshape(10, n)
    return Motion(block, rows[:3], rows[3], rows[4], rows[5], rows[6:8].reshape(n, 2), block[:3],
                  rows[8:].reshape(n, 2), block[3:12].reshape(3, 3))


MOTION = Layout(cut_motion, 12, 10)


class Ring(NamedTuple):
    """
    Newest steps, for a second fit.

    Attributes
    ----------
    casters, steps : (k, 5, n) and (k, 11) arrays
        As of `_step_kernels.repeat`.
    """

    block: Array
    casters: Array
    steps: Array


@kernel
def cut_ring(block, n):
    """Return the Ring of a block."""
    return Ring(block, block[11 * CAPACITY:].reshape(CAPACITY, 5, n),
                block[:11 * CAPACITY].reshape(CAPACITY, 11))


RING = Layout(cut_ring, 11 * CAPACITY, 5 * CAPACITY)


class Place(NamedTuple):
    """
    Pose on the floor and its covariance, without errors that last.

    Attributes
    ----------
    pose, anchor : (3,) arrays, m and rad
        Now, and where `covariance` is of.
    covariance, ends : (3, 3) arrays
        Of the path, and of the rounding of the angles at both of its ends.
    growth : (4,) array
        Variances of position per metre and radian, and of yaw.
    lever, standing, end_variance : float, m, m and m²/s²
        Lever of yaw; motion that counts as none; of the rounding of a contact velocity's integral.
    """

    block: Array
    pose: Array
    anchor: Array
    covariance: Array
    ends: Array
    growth: Array
    lever: float
    standing: float
    end_variance: float


@kernel
def cut_place(block, n):
    """Return the Place of a block, whatever `n`."""
    return Place(block, block[7:10], block[10:13], block[13:22].reshape(3, 3),
                 block[22:].reshape(3, 3), block[3:7], float(block[0]), float(block[1]),
                 float(block[2]))


PLACE = Layout(cut_place, 31, 0)


class Peak(NamedTuple):
    """
    The largest covariance of a twist in the last seconds of motion.

    Attributes
    ----------
    hold : float, s
        At standstill it stays for so long.
    fraction, creep : float
        Deviations of a contact velocity per speed: of wrong parameters, and of creep.
    value, time : (3, 3) and (1,) arrays
        The covariance and its time, s.
    """

    block: Array
    hold: float
    fraction: float
    creep: float
    value: Array
    time: Array


@kernel
def cut_peak(block, n):
    """Return the Peak of a block, whatever `n`."""
    return Peak(block, float(block[0]), float(block[1]), float(block[2]), block[4:].reshape(3, 3),
                block[3:4])


PEAK = Layout(cut_peak, 13, 0)


def _restored(kind: Callable[..., Any], block: Array, parts: Sequence[Any]) -> Any:
    return kind(block, *(np.ndarray(part[1], buffer=block, offset=part[0])
                         if isinstance(part, tuple) else part for part in parts))


def _reduced(state: Any) -> tuple[Any, ...]:
    # for copies and pickles, whose arrays are parts of a block again: their places and shapes
    begin, block = state.block.ctypes.data, state.block
    return _restored, (type(state), block, [
        (part.ctypes.data - begin, part.shape) if isinstance(part, np.ndarray) else part
        for part in state[1:]])


for _kind in (SlipState, FaultState, GripState, LastingState, Motion, Ring, Place, Peak):
    copyreg.pickle(_kind, _reduced)
