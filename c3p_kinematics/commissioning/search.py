# SPDX-License-Identifier: Apache-2.0
"""
Wiring of a robot from a record of small motions: orders, signs, zeros, gears, probabilities.

First the encoders, by what each wiring leaves of the rolling constraints (`orders`,
`rolling_fit`); then the motors, by forces and moments (`motors`). The likelihood of a wiring with
N equations, of which a fraction is independent, is that of normal errors of unknown size:

    log p = −½ N log(Σe² + N σ₀²) + constant.

Zeros and gears are fitted, and each wiring has equally many of them, so that their volume
(Laplace's factor) is left out. The prior states only that few parts are wrong: each costs `PRIOR`.

Wirings that move alike are found as such: a robot whose pivots are symmetric is the same, for
its own encoders, when it is turned or mirrored. They share the likelihood and differ in the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import (
    NONE,
    Assignment,
    FoundWiring,
    WiringPush,
    WiringRecord,
    channels_of,
    require_following,
)
from c3p_kinematics.commissioning.motors import MotionWindows, MotorWirings, search_motors
from c3p_kinematics.commissioning.orders import Orders, search_orders
from c3p_kinematics.commissioning.patterns import arms_of
from c3p_kinematics.commissioning.pushes import NEAR, PushedWindows, moves_so, with_pushes
from c3p_kinematics.commissioning.rolling_fit import Fit, Modules, Signals, fit
from c3p_kinematics.commissioning.ties import parts_wrong, undecided
from c3p_kinematics.commissioning.windows import Windows, windows_of

# log odds of a wrong part
PRIOR = float(np.log(20.0))

# standard deviation of the logarithm of a gear, before anything is known
GEAR_SPREAD = 0.15

# fraction of the equations that are independent: creep lasts longer than a window
INDEPENDENT = 0.4

# rounds of a first fit of all orders, and of the last one of the best
FIRST_ROUNDS = 5
LAST_ROUNDS = 15

# wirings with a smaller probability are not listed
LEAST_PROBABILITY = 1e-6

# travel of an encoder below which it is dead, where others travel more than a window, m
LEAST_WAY = 1e-3

# squares of forces, relative, that no model of friction explains: 3 %
LEAST_SQUARES = 1e-3

# probability relative to the best with the same encoders, below which motors are ruled out
DOUBT = 1e-3

# likelihood ratio, as a logarithm, below which motions do not distinguish two wirings
ALIKE = 7.0


class WiringError(ValueError):
    """The record has no wiring; the text has the reason and the remedy."""


@dataclass(frozen=True)
class SearchSettings:
    """
    Settings of a search.

    Attributes
    ----------
    window : float, m
        Path of the fastest encoder in a window.
    path_error : float
        Standard deviation of an increment by the path: creep of the tyres, age of the samples.
    count_error : float, m
        Standard deviation of an increment by counts and tyres.
    kept, fitted, listed : int
        Wirings that are kept at each number of casters, fitted, and fitted to the end.
    refused : float
        Residual by its noise above which nothing explains the record.
    least_windows : int
        Below which a record is too short.
    """

    window: float = 0.008
    path_error: float = 0.014
    count_error: float = 5e-5
    kept: int = 600
    fitted: int = 100
    listed: int = 30
    refused: float = 3.0
    least_windows: int = 20


class _Ranked(NamedTuple):
    """Wirings of the encoders that are fitted to the end, and their logarithms of likelihood."""

    orders: Orders
    fit: Fit
    likelihood: Array
    residual: Array
    equations: int


def modules_of(robot: CasterRobot) -> Modules:
    """Return the geometry of the casters."""
    hips = robot.hip_position
    return Modules(hips[:, 0] + 1j * hips[:, 1], robot.caster_offset, robot.lateral_offset,
                   robot.wheel_radius)


def signals_of(windows: Windows, orders: Orders) -> Signals:
    """Return the signals (H, W, n) of each caster by each of the wirings."""
    steering = orders.steering_of
    rolled = np.moveaxis(windows.rolled[:, steering, orders.wheel_of], 1, 0)
    turned = np.moveaxis(windows.turned[:, steering], 1, 0)
    facing = np.moveaxis(windows.facing[:, steering], 1, 0)
    back = (orders.steering_sign < 0)[:, None, :]
    return Signals(np.where(back, rolled.conj(), rolled), np.where(back, -turned.conj(), turned),
                   np.where(back, facing.conj(), facing))


def find_wiring(robot: CasterRobot, record: WiringRecord, settings: SearchSettings | None = None,
                pushes: Sequence[WiringPush] = ()) -> FoundWiring:
    """
    Return the wiring that explains a record, with its probability, and what is not decided.

    Parameters
    ----------
    robot : CasterRobot
        As described; its channels are those of `channels_of`.
    record : WiringRecord
        Of `WiringMotions`. Without torques, as of a robot that is pushed by hand, the joints have
        no motors in what is found.
    settings : SearchSettings, optional
    pushes : sequence of WiringPush
        By hand, after the motions.

    Raises
    ------
    WiringError
        A dead encoder, a record that is too short, one that no wiring explains, or pushes that no
        wiring follows.
    ValueError
        A robot whose wiring is not found so.
    """
    s = settings or SearchSettings()
    channels = channels_of(robot)
    require_following(robot)
    measured = np.asarray(record.measured, float)
    if measured.ndim != 2 or measured.shape[1] != len(channels.encoders):
        raise WiringError(f'record: measured has shape {measured.shape}: must have one column per '
                          f'encoder of {", ".join(channels.encoders)}')
    if not np.all(np.isfinite(measured)):
        raise WiringError('record: every measured angle must be finite')
    arm = arms_of(robot)
    windows = windows_of(measured, arm, s.window)
    if len(windows.begin) < s.least_windows:
        raise WiringError(f'the encoders moved {s.window * len(windows.begin):.2f} m in all: too '
                          f'short to find the wiring, {s.window * s.least_windows:.2f} m are '
                          'needed; move the robot farther')
    way = np.abs(np.diff(measured, axis=0)).sum(0) * arm
    if way.min() < LEAST_WAY:
        dead = channels.encoders[int(np.argmin(way))]
        raise WiringError(f'encoder {dead} does not count while others travel '
                          f'{way.max():.2f} m: check its cable and its supply')
    noise = float(np.hypot(s.count_error, s.path_error * s.window))
    pushed = with_pushes(windows, pushes, arm, s.window, (noise, _lever(robot)))
    ranked = _rank(modules_of(robot), pushed, s, pushes)
    if ranked.residual[0] > s.refused:
        raise WiringError(
            f'no wiring explains the motion: the best leaves {ranked.residual[0]:.1f} times the '
            f'noise, and {ranked.residual[min(1, len(ranked.residual) - 1)]:.1f} the next: '
            'compare offsets, radii and pivots of the description, and whether a wheel slips or '
            'an encoder is loose')
    # forces change faster than zeros and gears show
    found = _found(robot, record, windows_of(measured, arm, 0.5 * s.window), ranked)
    return found._replace(record=record, pushes=tuple(pushes))


def _lever(robot: CasterRobot) -> float:
    """Return the distance of the pivots from the centre, rms, m."""
    return float(np.sqrt((robot.hip_position ** 2).sum(1).mean()))


def _rank(modules: Modules, pushed: PushedWindows, s: SearchSettings,
          pushes: Sequence[WiringPush]) -> _Ranked:
    """Return the wirings of the encoders, the most likely first."""
    windows = pushed.windows
    orders = _chosen(search_orders(modules, windows, s.kept), slice(0, s.fitted))
    signals = signals_of(windows, orders)
    # without the term in d the factors have no sign: zeros may be turned by 180°
    noise = np.hypot(s.count_error, s.path_error * s.window)
    weight = (noise / GEAR_SPREAD) ** 2
    first = [fit(modules, signals, (orders.zero + turn, orders.wheel_sign), FIRST_ROUNDS, weight,
                 pushed.known)
             for turn in (0.0, np.pi)]
    squares = [np.where(moves_so(pushed, one.motion, pushes), one.squares, np.inf)
               for one in first]
    turned = squares[1] < squares[0]
    zero = np.where(turned[:, None], first[1].zero, first[0].zero)
    gear = np.where(turned[:, None], first[1].gear, first[0].gear)
    best = np.argsort(np.minimum(*squares), kind='stable')[:s.listed]
    orders = _chosen(orders, best)
    last = fit(modules, signals_of(windows, orders), (zero[best], gear[best]), LAST_ROUNDS,
               weight, pushed.known)
    good = moves_so(pushed, last.motion, pushes)
    if not np.any(good):
        directions = ', '.join(str(push.direction.tolist()) for push in pushes)
        raise WiringError(f'no wiring moves toward {directions}: push the robot again, straight, '
                          'without turning it, and by 5 cm or more')
    rank = np.argsort(last.squares, kind='stable')
    rank = rank[good[rank]]
    orders = _chosen(orders, rank)
    last = Fit(*(part[rank] for part in last))
    equations = (2 * len(modules.pivot) - 3) * len(windows.begin) + pushed.equations
    floor = equations * s.count_error ** 2
    likelihood = -0.5 * INDEPENDENT * equations * np.log(last.squares + floor)
    return _Ranked(orders, last, likelihood - likelihood[0],
                   np.sqrt(last.squares / equations) / noise, equations)


def _chosen(orders: Orders, index: Array | slice) -> Orders:
    return Orders(*(part[index] for part in orders))


def _encoders(orders: Orders, fitted: Fit, h: int, motors: tuple[Array, Array]) -> Assignment:
    """Return the assignment of a fitted wiring with these motors (2n,)."""
    n = orders.zero.shape[1]
    zero = (fitted.zero[h] + np.pi) % (2.0 * np.pi) - np.pi
    return Assignment(np.concatenate([orders.steering_of[h], n + orders.wheel_of[h]]),
                      np.concatenate([orders.steering_sign[h], fitted.gear[h]]),
                      np.concatenate([zero, np.zeros(n)]), *motors)


def _of_motors(robot: CasterRobot, record: WiringRecord, windows: Windows, ranked: _Ranked, h: int
               ) -> MotorWirings:
    """Return the wirings of the motors with one of the encoders, by shorter `windows`."""
    if not np.any(record.ordered):
        # nothing is known of motors that did not push
        return MotorWirings(np.zeros((1, 0), int), np.zeros((1, 0)), np.zeros(1), 0)
    n = robot.count
    still = (np.full(2 * n, NONE), np.ones(2 * n))
    angles = _encoders(ranked.orders, ranked.fit, h, still).angles(record.measured)[:, :n]
    # the mean over the window is its middle, about
    steering = 0.5 * (angles[windows.begin] + angles[windows.end])
    one = slice(h, h + 1)
    motion = fit(modules_of(robot), signals_of(windows, _chosen(ranked.orders, one)),
                 (ranked.fit.zero[one], ranked.fit.gear[one]), 0).motion[0]
    return search_motors(robot, record, MotionWindows(windows.begin, windows.end, steering,
                                                      motion))


def _motor_assignment(robot: CasterRobot, joint: Array, leads: Array) -> tuple[Array, Array]:
    """Return the motor (2n,) of each joint, and the sign of its leads."""
    motor_of = np.full(2 * robot.count, NONE)
    motor_of[joint] = np.arange(len(joint))
    signs = np.ones(2 * robot.count)
    signs[joint] = leads
    return motor_of, signs


def _found(robot: CasterRobot, record: WiringRecord, windows: Windows, ranked: _Ranked
           ) -> FoundWiring:
    """Return the result, with priors and the motors of each wiring of the encoders."""
    likely = [h for h in range(len(ranked.likelihood))
              if ranked.likelihood[h] > np.log(LEAST_PROBABILITY)]
    motors = [_of_motors(robot, record, windows, ranked, h) for h in likely]
    # forces also distinguish what only rolls alike
    least = min(float(m.squares[0]) for m in motors)
    entries: list[tuple[float, float, int, Assignment]] = []
    for h, of_motors in zip(likely, motors, strict=True):
        equations = INDEPENDENT * of_motors.equations
        likelihoods = ranked.likelihood[h] - 0.5 * equations * np.log(
            (of_motors.squares + LEAST_SQUARES) / (least + LEAST_SQUARES))
        for joint, leads, likelihood in zip(of_motors.joint, of_motors.leads, likelihoods,
                                            strict=True):
            if likelihood < np.log(LEAST_PROBABILITY):
                break
            wiring = _encoders(ranked.orders, ranked.fit, h,
                               _motor_assignment(robot, joint, leads))
            entries.append((likelihood - PRIOR * parts_wrong(robot, wiring), float(likelihood), h,
                            wiring))
    entries.sort(key=lambda entry: -entry[0])
    logs = np.array([entry[0] for entry in entries])
    weights = np.exp(logs - logs[0])
    weights /= weights.sum()
    _, likelihood, h, best = entries[0]
    # the first of each wiring of the encoders is its most probable one
    first = {entry[2]: float(w) for entry, w in zip(entries[::-1], weights[::-1], strict=True)}
    # what moves alike is kept however improbable before, with motors that are as probable
    others = tuple((entry[3], float(w)) for entry, w in zip(entries[1:], weights[1:], strict=True)
                   if (w > LEAST_PROBABILITY or entry[1] > likelihood - ALIKE)
                   and w > DOUBT * first[entry[2]])
    variance = ranked.fit.squares[h] / (INDEPENDENT * ranked.equations)
    return FoundWiring(best, float(weights[0]), _deviation(best, ranked.fit.normal[h], variance),
                 others, undecided(robot, best, [wiring for wiring, _ in others]),
                 float(ranked.residual[h]))


def _deviation(best: Assignment, normal: Array, variance: float) -> Assignment:
    """Return standard deviations of gears and zeros; a direction without information is large."""
    n = len(normal) // 2
    values, vectors = np.linalg.eigh(normal)
    values = np.maximum(values, 1e-9 * values.max())
    deviation = np.sqrt(np.einsum('ij,j,ij->i', vectors, variance / values, vectors))
    return best._replace(gear=np.concatenate([np.zeros(n), deviation[n:] * np.abs(best.gear[n:])]),
                         zero=np.concatenate([deviation[:n], np.zeros(n)]))


def settle(robot: CasterRobot, found: FoundWiring, measured: Array, direction: ArrayLike
           ) -> FoundWiring:
    """
    Return what is left when the robot was pushed in a known direction, without turning it.

    Parameters
    ----------
    robot : CasterRobot
    found : FoundWiring
    measured : (T, k) array_like, rad
        Encoder channels during the push.
    direction : (2,) array_like
        In ``base_link``: (0, 1) is along +Y.

    Raises
    ------
    WiringError
        No wiring moves in that direction.
    """
    toward = np.asarray(direction, float) / np.linalg.norm(direction)
    if found.record is not None and robot.count == FEWEST:
        # rolling alone leaves one equation a window: what the push adds is needed
        push = WiringPush(np.asarray(measured, float), toward)
        return find_wiring(robot, found.record, pushes=(*found.pushes, push))
    arm = _lever(robot)
    kept = []
    for wiring, probability in ((found.assignment, found.probability), *found.others):
        moved = displacement(robot, wiring, np.asarray(measured, float))
        straight = arm * abs(moved[2]) < STRAIGHT * np.hypot(moved[0], moved[1])
        if straight and moved[:2] @ toward > NEAR * np.hypot(moved[0], moved[1]):
            kept.append((wiring, probability))
    if not kept:
        moved = displacement(robot, found.assignment, np.asarray(measured, float))
        raise WiringError(f'no wiring moves toward {toward.tolist()}: the best moved by '
                          f'({moved[0]:.3f}, {moved[1]:.3f}) m; push the robot again, straight '
                          'and by 5 cm or more')
    whole = sum(p for _, p in kept)
    best = kept[0][0]
    others = tuple((w, p / whole) for w, p in kept[1:])
    deviation = found.deviation._replace(gear=_moved_to(found, best, found.deviation.gear),
                                         zero=_moved_to(found, best, found.deviation.zero))
    texts = undecided(robot, best, [w for w, _ in others])
    return found._replace(assignment=best, probability=kept[0][1] / whole, others=others,
                          deviation=deviation, undecided=texts)


# casters of a robot whose pushes are searched together with its motions
FEWEST = 2

# path of the pivots by a turn, relative to that of a straight push, at most
STRAIGHT = 0.5


def _moved_to(found: FoundWiring, best: Assignment, values: Array) -> Array:
    """Return values (2n,) of joints in the places of another assignment of the same channels."""
    of_channel = np.empty_like(values)
    of_channel[found.assignment.encoder_of] = values
    return of_channel[best.encoder_of]


def displacement(robot: CasterRobot, wiring: Assignment, measured: Array) -> Array:
    """Return Δx, Δy and Δφ (3,) of a whole motion by a wiring, in ``base_link`` at its begin."""
    n = robot.count
    windows = windows_of(measured, arms_of(robot), 0.5 * SearchSettings().window)
    orders = Orders(wiring.encoder_of[None, :n], wiring.encoder_of[None, n:] - n,
                    wiring.gear[None, :n], np.sign(wiring.gear[None, n:]),
                    wiring.zero[None, :n], np.zeros(1))
    moved = fit(modules_of(robot), signals_of(windows, orders),
                (orders.zero, wiring.gear[None, n:]), 0).motion[0]
    heading = np.concatenate([[0.0], np.cumsum(moved[:, 2])])
    middle = 0.5 * (heading[1:] + heading[:-1])
    steps = (moved[:, 0] + 1j * moved[:, 1]) * np.exp(1j * middle)
    return np.array([steps.sum().real, steps.sum().imag, heading[-1]])
