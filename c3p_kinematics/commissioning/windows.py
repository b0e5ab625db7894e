# SPDX-License-Identifier: Apache-2.0
"""
Increments of the encoder channels over short pieces of their motion.

Over a window a wheel j on a caster whose steering channel i has turned by α = σ m_i moves its
pivot, in axes that are fixed to the caster at α = 0, by what these integrals state:

    X_ij = ∫ e^{jα} dm_j,   S_i = ∫ e^{jα} dα = −j Δe^{jα},   E_i = mean of e^{jα}.

With the other sign σ of a steering channel they are the conjugates, and S is negative as well.
Increments do not depend on the time of the samples, only on their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array


class Windows(NamedTuple):
    """
    Integrals of W windows, for steering channels that count as the model does.

    Attributes
    ----------
    rolled : (W, n, n) complex ndarray, rad
        X of each steering and wheel channel.
    turned : (W, n) complex ndarray, rad
        S of each steering channel.
    facing : (W, n) complex ndarray
        E of each steering channel.
    begin, end : (W,) ndarray of int
        Samples of the record at which it begins and ends.
    """

    rolled: Array
    turned: Array
    facing: Array
    begin: Array
    end: Array

    def signed(self, sign: float) -> Windows:
        """Return the integrals for steering channels of that sign."""
        if sign > 0:
            return self
        return self._replace(rolled=self.rolled.conj(), turned=-self.turned.conj(),
                             facing=self.facing.conj())


def cut(travel: Array, length: float) -> tuple[Array, Array]:
    """
    Return begin and end of windows in which the fastest channel travels `length`.

    `travel` (T, k) is the position of each channel, m. What is left at the end does not count.
    """
    begins = [0]
    last = 0
    for t in range(1, len(travel)):
        if np.abs(travel[t] - travel[last]).max() >= length:
            begins.append(t)
            last = t
    edges = np.array(begins)
    return edges[:-1], edges[1:]


def windows_of(measured: Array, arm: Array, length: float) -> Windows:
    """
    Return the windows of a record.

    Parameters
    ----------
    measured : (T, 2n) ndarray, rad
        Steering channels, then wheel channels.
    arm : (2n,) ndarray, m
        Travel of a radian of each channel.
    length : float, m
        Travel of the fastest channel in a window.
    """
    n = measured.shape[1] // 2
    begin, end = cut(measured * arm, length)
    unit = np.exp(1j * measured[:, :n])
    middle = np.exp(0.5j * (measured[1:, :n] + measured[:-1, :n]))
    steps = np.diff(measured[:, n:], axis=0)
    # cumulative sums, so that a window is a difference
    path = np.zeros((len(measured), n, n), complex)
    np.cumsum(middle[:, :, None] * steps[:, None, :], axis=0, out=path[1:])
    pace = np.abs(np.diff(measured, axis=0) * arm).max(1) + 1e-12
    way = np.concatenate([[0.0], np.cumsum(pace)])
    seen = np.zeros((len(measured), n), complex)
    np.cumsum(middle * pace[:, None], axis=0, out=seen[1:])
    facing = (seen[end] - seen[begin]) / (way[end] - way[begin])[:, None]
    return Windows(path[end] - path[begin], -1j * (unit[end] - unit[begin]), facing, begin, end)
