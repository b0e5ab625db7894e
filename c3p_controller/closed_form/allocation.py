# SPDX-License-Identifier: Apache-2.0
"""Control allocation: weighted least squares within box constraints, in plain Python."""

from __future__ import annotations


def solve_box(hessian: list[list[float]], gradient: list[float], lower: list[float],
              upper: list[float]) -> list[float]:
    """
    Return the x (n) that minimises ``½ xᵀHx + gᵀx`` within ``lower ≤ x ≤ upper``.

    The `hessian` H is symmetric and positive definite, g is the `gradient`. Active set: all free
    at first; an entry outside the box is held at its side, and set free again when its multiplier
    points inside, the strongest first.

    Examples
    --------
    >>> x = solve_box([[2.0, 0.0], [0.0, 2.0]], [-2.0, -8.0], [-1.0, -1.0], [3.0, 3.0])
    >>> [round(value, 9) for value in x]
    [1.0, 3.0]
    """
    n = len(gradient)
    held: dict[int, float] = {}
    x = [0.0] * n
    for _ in range(3 * n):
        free = [i for i in range(n) if i not in held]
        for i, value in held.items():
            x[i] = value
        _solve_free(hessian, gradient, held, free, x)
        # hold the free entry that is furthest outside
        worst, out = 0.0, -1
        for i in free:
            excess = max(lower[i] - x[i], x[i] - upper[i])
            if excess > worst:
                worst, out = excess, i
        if out >= 0:
            held[out] = lower[out] if x[out] < lower[out] else upper[out]
            continue
        # free the held entry whose slope points inside most strongly
        strongest, back = 0.0, -1
        for i, value in held.items():
            row = hessian[i]
            slope = gradient[i]
            for j in range(n):
                slope += row[j] * x[j]
            pull = slope if value == upper[i] else -slope
            if pull > strongest and upper[i] > lower[i]:
                strongest, back = pull, i
        if back < 0:
            return x
        del held[back]
    # cycling by rounding: the result must be inside the box
    return [min(max(x[i], lower[i]), upper[i]) for i in range(n)]


def _solve_free(hessian: list[list[float]], gradient: list[float], held: dict[int, float],
                free: list[int], x: list[float]) -> None:
    """Write the minimising free part of x while the others are held; Cholesky."""
    factor: list[list[float]] = []
    rest: list[float] = []
    for row, i in enumerate(free):
        line = hessian[i]
        total = -gradient[i]
        for j, value in held.items():
            total -= line[j] * value
        new: list[float] = []
        for column in range(row):
            entry, other = line[free[column]], factor[column]
            for k in range(column):
                entry -= new[k] * other[k]
            new.append(entry / other[column])
        pivot = line[i]
        for k in range(row):
            pivot -= new[k] * new[k]
            total -= new[k] * rest[k]
        # a pivot lost to rounding belongs to a direction without weight
        root = max(pivot, 1e-12 * line[i]) ** 0.5
        new.append(root)
        factor.append(new)
        rest.append(total / root)
    for row in range(len(free) - 1, -1, -1):
        total = rest[row]
        for k in range(row + 1, len(free)):
            total -= factor[k][row] * x[free[k]]
        x[free[row]] = total / factor[row][row]
