# SPDX-License-Identifier: Apache-2.0
"""
Wiring of a robot from what a person turns and pushes, with motors off.

One joint is turned at a time, by a known angle Θ, while every channel is read. The channel of the
joint moves by D = Θ/g, where the factor g is near 1 or, with other counts or gears, anything; all
others move along by little (a wheel rolls on the hand, a fork swings). With the densities of both,

    ln p(order) = Σ_joints [ ln p_turned(D_k | Θ) − ln p_along(D_k) ] + const,   k the channel,

which is a linear assignment; the second best order follows where each pair of the best one is
forbidden in turn. Zeros are what the casters give after a push along +Y, where they trail at
θ_s = 0, and pushes aside and in a turn check the whole by rolling without slip.

Wheels below their pivots do not trail: a person sets them parallel to +Y before the push. A
module that stands the other way round rolls backwards then; its zero is 180° more, which is the
same robot as one with a reversed wheel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from c3p_description.caster_labels import caster_labels
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import sensed_forward
from c3p_kinematics.commissioning.assignment import NONE, Assignment, ChannelNames, FoundWiring
from c3p_kinematics.se2 import wrap

# motion below which a channel stands: backlash and noise, rad
STANDS = 0.06

# relative deviation of a turn by hand, and of unknown gears (in the logarithm); weight of the last
BY_HAND = 0.05
OTHER_GEAR = 1.5
ANY_GEAR = 0.1

# scales of what other channels move along, rad: nearly at rest, and carried by the hand; weight of
# the last
RESTS = 0.03
CARRIED = 1.0
OFTEN_CARRIED = 0.2

# part of the motion of a joint's channel from which another one moves as much
AS_MUCH = 0.7

# probability that nothing moves where a joint is turned
DEAD = 1e-4

# factor from which a gear is not that of the description, in deviations of a turn by hand
OTHER = 3.0

# probability from which an order is accepted
SURE = 0.99

# part of the travel that rolling may leave unexplained: ideal pushes of the C3P leave 1 %, and 5
# to 14 % of a turn where two wheels were taken for each other
ROLLS = 0.05

# least travel of a push that is judged, m and rad
LEAST_PUSH = 0.15

# motions of the platform: place in the twist, its sign, and in words
PUSHES = {'ahead': (1, 1.0, 'along +Y'), 'aside': (0, 1.0, 'along +X'),
          'turn': (2, 1.0, 'counterclockwise')}

LEADS = ('the leads of the motors: by hand no motor gives torque; `c3p commission` without '
         '--by-hand finds them')
LEADS_BELOW = ('the leads of the motors, and the order of those that steer: by hand no motor '
               'gives torque; set the wheels parallel, and `c3p commission` without --by-hand '
               'finds them')


class ByHandError(ValueError):
    """No assignment explains what was turned; the text names the best two and the remedy."""


class Turned(NamedTuple):
    """
    A joint that was turned by hand.

    Attributes
    ----------
    joint : int
        Of the steering joints, then the wheels.
    turn : float, rad
        By which it was turned: steering to the left (counterclockwise seen from above), wheels as
        the robot rolls ahead.
    moved : (k,) ndarray, rad
        By which each channel has moved from begin to end; nan without an answer.
    """

    joint: int
    turn: float
    moved: Array


class Pushed(NamedTuple):
    """
    The robot on the floor, pushed by hand.

    Attributes
    ----------
    direction : str
        ``ahead`` (along +Y), ``aside`` (along +X) or ``turn`` (counterclockwise).
    measured : (T, k) ndarray, rad
        Channels meanwhile.
    """

    direction: str
    measured: Array


def find_by_hand(robot: CasterRobot, channels: ChannelNames, turned: Sequence[Turned],
                 pushed: Sequence[Pushed] = ()) -> FoundWiring:
    """
    Return the wiring that explains turned joints and pushes.

    Parameters
    ----------
    robot : CasterRobot
    channels : ChannelNames
    turned : sequence of Turned
        Each joint once; a joint that is missing is taken as described.
    pushed : sequence of Pushed
        ``ahead`` gives the zeros; without it they are undecided.

    Returns
    -------
    FoundWiring
        Motors are assumed to be wired like the encoders of their drives.

    Raises
    ------
    ByHandError
        Two orders explain the turns, a channel moved with several joints, or rolling contradicts.

    Examples
    --------
    >>> from c3p_description import load
    >>> robot = load('c3p')
    >>> joints = (*robot.steering_joints, *robot.wheel_joints)
    >>> moved = np.eye(6)[[1, 0, 2, 3, 4, 5]] * 6.28  # two steering encoders are exchanged
    >>> turns = [Turned(j, 6.28, moved[j]) for j in range(6)]
    >>> find_by_hand(robot, ChannelNames(joints, robot.wheel_joints), turns).assignment.encoder_of
    array([1, 0, 2, 3, 4, 5])
    """
    names = joint_words(robot)
    moved = np.array([one.moved for one in turned], float).reshape(len(turned), -1)
    turns = np.array([one.turn for one in turned], float)
    orders = _orders(turns, moved)
    found = [_assignment(robot, channels, turned, order) for order, _ in orders]
    probabilities = _softmax(np.array([score for _, score in orders]))
    if probabilities[0] < SURE:
        raise ByHandError('two orders explain what was turned: ' + '; or '.join(
            f'{_order_text(order, turned, channels, names)} (probability {p:.2f})'
            for (order, _), p in zip(orders[:2], probabilities, strict=False))
            + ': turn each joint once more, alone')
    _check_share(turned, moved, orders[0][0], channels, names)
    best = found[0]
    zero_deviation = np.zeros(2 * robot.count)
    undecided = [LEADS if np.all(robot.caster_offset > 0.0) else LEADS_BELOW]
    by_direction = {one.direction: one for one in pushed}
    if 'ahead' in by_direction:
        best, zero_deviation = _with_zeros(robot, best, by_direction['ahead'])
    else:
        undecided.append('the zeros: push the robot along +Y by a metre')
    residual = 0.0
    for one in pushed:
        residual = max(residual, _rolled(robot, best, one))
    deviation = best._replace(gear=np.full(2 * robot.count, BY_HAND), zero=zero_deviation)
    others = tuple((other, float(p)) for other, p in zip(found[1:], probabilities[1:],
                                                        strict=True))
    return FoundWiring(best, float(probabilities[0]), deviation, others, tuple(undecided),
                       residual)


def joint_words(robot: CasterRobot) -> list[str]:
    """
    Return the joints as a person knows them, steering joints first.

    Examples
    --------
    >>> from c3p_description import load
    >>> joint_words(load('c3p'))[2:4]
    ['steering of caster 3', 'wheel of caster 1']
    """
    labels = caster_labels(robot)
    return [*(f'steering of caster {label}' for label in labels),
            *(f'wheel of caster {label}' for label in labels)]


def _orders(turns: Array, moved: Array) -> list[tuple[Array, float]]:
    """Return the channel of each turned joint, or `NONE`, and its score: the best orders."""
    score = _turned_density(turns[:, None], moved) - _along_density(moved)
    # a channel that stands cannot be that of the joint; one that does not answer neither
    score = np.where(np.abs(np.nan_to_num(moved)) > STANDS, score, -np.inf)
    joints = len(turns)
    dead = np.full((joints, joints), -np.inf)
    np.fill_diagonal(dead, math.log(DEAD))
    table = np.concatenate([score, dead], axis=1)
    best = _best(table)
    others = []
    for joint, column in enumerate(best[0]):
        forbidden = table.copy()
        forbidden[joint, column] = -np.inf
        if np.isfinite(forbidden[joint]).any():
            others.append(_best(forbidden))
    others.sort(key=lambda each: -each[1])
    width = moved.shape[1]
    orders: list[tuple[Array, float]] = []
    for columns, value in (best, *others):
        order = np.where(columns < width, columns, NONE)
        if np.isfinite(value) and all((order != known).any() for known, _ in orders):
            orders.append((order, value))
    return orders


def _best(table: Array) -> tuple[Array, float]:
    """Return the columns with the largest sum, one per row, and the sum."""
    finite = np.where(np.isfinite(table), table, -1e9)
    rows, columns = linear_sum_assignment(finite, maximize=True)
    value = float(table[rows, columns].sum())
    return columns, value


def _turned_density(turn: Array, moved: Array) -> Array:
    """Return ln p of what the channel of a turned joint moves, of either sign, 1/rad."""
    size = np.maximum(np.abs(np.nan_to_num(moved)), 1e-9)
    ratio = np.log(size / np.abs(turn))
    near = _normal(ratio, BY_HAND)
    far = _normal(ratio, OTHER_GEAR)
    return np.log(0.5 * ((1.0 - ANY_GEAR) * near + ANY_GEAR * far) / size)


def _along_density(moved: Array) -> Array:
    """Return ln p of what another channel moves along, 1/rad."""
    size = np.abs(np.nan_to_num(moved))
    return np.logaddexp(math.log((1.0 - OFTEN_CARRIED) / (2 * RESTS)) - size / RESTS,
                        math.log(OFTEN_CARRIED / (2 * CARRIED)) - size / CARRIED)


def _normal(value: Array, deviation: float) -> Array:
    return np.exp(-0.5 * (value / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))


def _softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def _assignment(robot: CasterRobot, channels: ChannelNames, turned: Sequence[Turned], order: Array
                ) -> Assignment:
    """Return the wiring of an order of channels."""
    joints = 2 * robot.count
    encoder_of = np.arange(joints)
    gear = np.ones(joints)
    for one, channel in zip(turned, order, strict=True):
        encoder_of[one.joint] = channel
        if channel == NONE:
            continue
        factor = one.turn / one.moved[channel]
        near = abs(abs(factor) - 1.0) < OTHER * BY_HAND
        gear[one.joint] = math.copysign(1.0 if near else abs(factor), factor)
    motor_of = np.full(joints, NONE)
    leads = np.ones(joints)
    names = [*robot.steering_joints, *robot.wheel_joints]
    for joint in range(joints):
        # a drive has the encoder of its motor: both are exchanged and reversed together
        wheel = joint >= robot.count
        source = encoder_of[joint] if wheel and encoder_of[joint] != NONE else joint
        name = channels.encoders[source] if wheel else names[joint]
        if name in channels.motors:
            motor_of[joint] = channels.motors.index(name)
            leads[joint] = math.copysign(1.0, gear[joint]) if wheel else 1.0
    return Assignment(encoder_of, gear, np.zeros(joints), motor_of, leads)


def _order_text(order: Array, turned: Sequence[Turned], channels: ChannelNames,
                names: Sequence[str]) -> str:
    """Return an order in words: only what differs from the description."""
    parts = []
    for one, channel in zip(turned, order, strict=True):
        if channel == NONE:
            parts.append(f'{names[one.joint]} has no channel')
        elif channel != one.joint:
            parts.append(f'{names[one.joint]} is channel {channels.encoders[channel]}')
    return ', '.join(parts) or 'all channels as described'


def _check_share(turned: Sequence[Turned], moved: Array, order: Array, channels: ChannelNames,
                 names: Sequence[str]) -> None:
    """Reject a turn in which another channel has moved as much as that of the joint."""
    for k, (one, channel) in enumerate(zip(turned, order, strict=True)):
        if channel == NONE:
            continue
        size = np.abs(np.nan_to_num(moved[k]))
        rival = int(np.argmax(np.where(np.arange(len(size)) == channel, -1.0, size)))
        # a channel that is known from another turn moves along: a coupled gear
        if size[rival] > AS_MUCH * size[channel] and rival not in order:
            raise ByHandError(
                f'{names[one.joint]} was turned by {math.degrees(one.turn):.0f}°: '
                f'{channels.encoders[channel]} moved by {math.degrees(moved[k, channel]):.0f}°, '
                f'and {channels.encoders[rival]} by {math.degrees(moved[k, rival]):.0f}°: turn '
                'one joint at a time')


def _with_zeros(robot: CasterRobot, assignment: Assignment, push: Pushed
                ) -> tuple[Assignment, Array]:
    """Return the assignment with zeros at the end of a push along +Y, and their deviations."""
    n = robot.count
    end = assignment.angles(push.measured[-1:])[0, :n]
    zero = assignment.zero.copy()
    zero[:n] = wrap(zero[:n] - np.nan_to_num(end))
    offset = robot.caster_offset
    angles = assignment.angles(push.measured[[0, -1]])[:, n:]
    # wheels that a person has set the other way round
    back = np.logical_and(offset <= 0.0, np.nan_to_num(angles[1] - angles[0]) < 0.0)
    zero[:n] = np.where(back, wrap(zero[:n] + math.pi), zero[:n])
    found = assignment._replace(zero=zero)
    travelled = abs(_motion(robot, found, push)[0][1])
    deviation = np.zeros(2 * n)
    # the angle left at the end of the push, from a quarter of a turn at its begin
    deviation[:n] = np.where(offset > 0.0, 0.5 * math.pi * np.exp(
        -travelled / np.maximum(offset, 1e-9)), math.radians(1.0)) + math.radians(0.3)
    return found, deviation


def _motion(robot: CasterRobot, assignment: Assignment, push: Pushed
            ) -> tuple[Array, float, float]:
    """Return how the platform has moved (3,), travel of the wheels, and what rolling leaves, m."""
    n = robot.count
    angles = assignment.angles(np.asarray(push.measured, float))
    known = np.asarray(np.isfinite(angles).all(axis=0))
    angles = np.nan_to_num(angles)
    middle = 0.5 * (angles[1:] + angles[:-1])
    change = np.diff(angles, axis=0)
    weight: Array = np.ones((n, 2))
    weight[~known[n:], 0] = 0.0
    weight[~known[:n]] = 0.0
    solved = sensed_forward(robot, middle[:, :n], change[:, n:], change[:, :n], weight)
    travel = float((np.abs(change[:, n:]) * robot.wheel_radius).sum(axis=0).max())
    left = float(np.abs(solved.residual * (weight > 0.0)).sum(axis=0).max())
    return solved.twist.sum(axis=0), travel, left


def _rolled(robot: CasterRobot, assignment: Assignment, push: Pushed) -> float:
    """Return what rolling leaves of a push per travel and `ROLLS`; reject a contradiction."""
    axis, sign, words = PUSHES[push.direction]
    moved, travel, left = _motion(robot, assignment, push)
    size = float(np.max(np.linalg.norm(robot.hip_position, axis=1)))
    if travel < LEAST_PUSH * min(1.0, size):
        raise ByHandError(f'the push {words} moved the wheels by {travel:.2f} m: push it farther, '
                          'all wheels on the floor')
    scaled = moved * np.array([1.0, 1.0, size])
    amount = f'({moved[0]:+.2f} m, {moved[1]:+.2f} m, {math.degrees(moved[2]):+.0f}°)'
    if left > ROLLS * travel:
        raise ByHandError(
            f'the push {words} contradicts rolling: {left:.2f} m of {travel:.2f} m remain '
            f'unexplained, the platform would have moved by {amount}: was each joint turned in '
            'the sense of the prompt, and each caster the one that was named?')
    if sign * scaled[axis] < 0.5 * np.abs(scaled).max():
        raise ByHandError(f'the push {words} moved the robot by {amount} according to its '
                          'wheels: were all of them turned ahead, and was it pushed that way?')
    return left / (ROLLS * travel)
