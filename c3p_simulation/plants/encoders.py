# SPDX-License-Identifier: Apache-2.0
"""Encoders of a robot: counts, noise and tracking loops for rates."""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array
from c3p_simulation.plants import _sensor_kernels as kernels


class Encoders:
    """
    Encoders of all joints of a robot and the tracking loops of their motor cards.

    An encoder returns ``q·⌊θ/q + φ⌋`` with ``q = 2π/counts``; an incremental one starts at 0 at a
    random phase φ of a count, an absolute one rounds (φ = ½). The rate follows from a critically
    damped tracking loop of bandwidth f: with ``z = exp(−2πf·T)``

        e = θ_read − (θ̂ + T·ω̂),   θ̂ ← θ̂ + T·ω̂ + (1 − z²) e,   ω̂ ← ω̂ + (1 − z)² e/T

    Parameters
    ----------
    quantum : (2n,) array, rad
        One count of each steering, then each wheel encoder; 0 is ideal.
    noise : (2n,) array, counts
        Standard deviation of the angle before it is rounded.
    bandwidth : float, Hz
        Of the tracking loops.
    phases, noises : numpy.random.Generator
        Streams of the phases of the wheel encoders and of the noise.

    Attributes
    ----------
    angle, rate : (2n,) array, rad and rad/s
        The newest readings, steering first.
    """

    def __init__(self, quantum: Array, noise: Array, bandwidth: float,
                 phases: np.random.Generator, noises: np.random.Generator) -> None:
        """Draw the phases; `start` latches the first angles."""
        n = len(quantum) // 2
        self._noise = noise
        self._noisy = bool(noise.any())
        self._bandwidth = bandwidth
        self._phase = np.concatenate([np.full(n, 0.5), phases.uniform(size=n)])
        self._noises = noises
        self._loops = kernels.EncoderLoops(quantum, np.empty(2 * n), np.zeros(2 * n),
                                           np.zeros(2 * n))
        self.angle = self._loops.read
        self.rate = self._loops.read_rate

    def start(self, angle: Array, rate: Array) -> None:
        """Read `angle` (2n,) for the first time; the tracking loops know `rate` (2n,)."""
        self.rate[:] = rate
        self._loops.tracked[:] = angle
        self.read(angle, rate, 0.0)

    def read(self, angle: Array, rate: Array, interval: float) -> None:
        """Read true `angle` and `rate` (2n,), `interval` [s] after the reading before."""
        if self._noisy:
            shift = self._phase + self._noise * self._noises.standard_normal(len(angle))
        else:
            shift = self._phase
        z = math.exp(-2 * math.pi * self._bandwidth * interval)
        kernels.read_encoders(angle, rate, shift, interval, z, tuple(self._loops))
