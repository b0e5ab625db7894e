# SPDX-License-Identifier: Apache-2.0
"""Numbers that count the operations done with them."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

Other: TypeAlias = 'Counted | float'


class Operations(NamedTuple):
    """
    Operations of one state.

    Attributes
    ----------
    multiplications : int
        Also divisions and square roots.
    additions : int
        Also subtractions.
    """

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """Both."""
        return self.multiplications + self.additions


class Counter:
    """Operations so far."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.multiplications = self.additions = 0

    @property
    def operations(self) -> Operations:
        """Operations so far."""
        return Operations(self.multiplications, self.additions)


class Counted:
    """
    A number that counts operations with others in `counter`.

    Operations with Python's own 0, 1 and −1 are free: these are what a program would leave out. A
    change of sign is free, too.

    Examples
    --------
    >>> from c3p_multibody.comparison.counting import Counted, Counter
    >>> counter = Counter()
    >>> x = Counted(3.0, counter)
    >>> (x * x + 0.0 * x - 2.0).value, counter.operations
    (7.0, Operations(multiplications=1, additions=1))
    """

    __slots__ = ('counter', 'value')
    __array_ufunc__ = None

    def __init__(self, value: float, counter: Counter) -> None:
        """Keep both."""
        self.value = value
        self.counter = counter

    def _product(self, value: float) -> Counted:
        self.counter.multiplications += 1
        return Counted(value, self.counter)

    def _sum(self, value: float) -> Counted:
        self.counter.additions += 1
        return Counted(value, self.counter)

    def __add__(self, other: Other) -> Counted:
        """Return self + other."""
        if isinstance(other, Counted):
            return self._sum(self.value + other.value)
        return self if other == 0.0 else self._sum(self.value + other)

    __radd__ = __add__

    def __sub__(self, other: Other) -> Counted:
        """Return self − other."""
        if isinstance(other, Counted):
            return self._sum(self.value - other.value)
        return self if other == 0.0 else self._sum(self.value - other)

    def __rsub__(self, other: float) -> Counted:
        """Return other − self."""
        return -self if other == 0.0 else self._sum(other - self.value)

    def __mul__(self, other: Other) -> Counted | float:
        """Return self · other."""
        if isinstance(other, Counted):
            return self._product(self.value * other.value)
        if other == 0.0:
            return 0.0
        if other in (1.0, -1.0):
            return Counted(self.value * other, self.counter)
        return self._product(self.value * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Other) -> Counted:
        """Return self / other."""
        return self._product(self.value / _plain(other))

    def __rtruediv__(self, other: float) -> Counted | float:
        """Return other / self."""
        return 0.0 if other == 0.0 else self._product(other / self.value)

    def __neg__(self) -> Counted:
        """Return −self."""
        return Counted(-self.value, self.counter)

    def __gt__(self, other: Other) -> bool:
        """Return self > other."""
        return self.value > _plain(other)


def _plain(number: Other) -> float:
    return number.value if isinstance(number, Counted) else number


class Mathematics:
    """Stands for the module `math` while kernels count."""

    def __init__(self, counter: Counter) -> None:
        """Keep the counter."""
        self._counter = counter

    def sqrt(self, x: Counted) -> Counted:
        """Return √x, a multiplication."""
        self._counter.multiplications += 1
        return Counted(math.sqrt(x.value), self._counter)
