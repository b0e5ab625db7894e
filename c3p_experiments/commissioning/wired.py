# SPDX-License-Identifier: Apache-2.0
"""Robots whose channels are wired otherwise than described, and draws of such wirings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_kinematics.commissioning.assignment import (
    NONE,
    Assignment,
    as_described,
)

# directions of the pivots of robots on a circle, degrees
CIRCLES = {'two_casters': (0.0, 180.0), 'four_casters': (45.0, 135.0, 225.0, 315.0),
           'five_casters': (90.0, 162.0, 234.0, 306.0, 18.0)}

# names of the robots of the experiment
ROBOTS = ('two_casters', 'c3p', 'four_casters', 'five_casters', 'powered_caster')

# least and largest relative error of a gear that is wrong
GEARS = 0.05, 0.2

# most parts of a draw of few
MOST_FEW = 3


def robot_named(name: str) -> CasterRobot:
    """Return a robot of `ROBOTS`, or a description by name or path."""
    if name not in CIRCLES:
        return load_casters(name)
    c3p = load_casters('c3p')
    count = len(CIRCLES[name])
    parts = {part: np.resize(getattr(c3p, part), count) for part in (
        'link_mass', 'link_com', 'link_inertia', 'wheel_mass', 'wheel_spin_inertia',
        'wheel_yaw_inertia')}
    resized: dict[str, Any] = {
        f.name: np.resize(getattr(c3p.friction, f.name), count) for f in fields(c3p.friction)
        if f.name != 'smoothing'}
    losses = replace(c3p.friction, **resized)
    return CasterRobot.regular(0.35, np.radians(CIRCLES[name]), 0.04, 0.05, 40.0, 4.5,
                               torque_limit=1.2, wheel_rate_limit=25.0, name=name,
                               friction=losses, **parts)


# changes a wiring of a robot by a draw
Fault = Callable[[CasterRobot, np.random.Generator, Assignment], Assignment]


def everything(robot: CasterRobot, rng: np.random.Generator) -> Assignment:
    """Return a draw of all orders, signs, zeros, gears and leads."""
    n = robot.count
    wiring = as_described(robot)
    gear = rng.choice([-1.0, 1.0], 2 * n)
    gear[n:] *= np.exp(rng.uniform(np.log(1.0 - GEARS[1]), np.log(1.0 + GEARS[1]), n))
    motors = wiring.motor_of.copy()
    for joints in (slice(0, n), slice(n, 2 * n)):
        driven = np.flatnonzero(motors[joints] != NONE)
        motors[joints][driven] = rng.permutation(motors[joints][driven])
    return Assignment(np.concatenate([rng.permutation(n), n + rng.permutation(n)]), gear,
                      np.concatenate([rng.uniform(-np.pi, np.pi, n), np.zeros(n)]), motors,
                      rng.choice([-1.0, 1.0], 2 * n))


def few(robot: CasterRobot, rng: np.random.Generator) -> Assignment:
    """Return a draw of one to `MOST_FEW` wrong parts."""
    wiring = as_described(robot)
    for fault in rng.choice(len(FAULTS), rng.integers(1, MOST_FEW + 1), replace=False):
        wiring = FAULTS[fault](robot, rng, wiring)
    return wiring


def _exchanged(values: Array, places: Array) -> Array:
    out = values.copy()
    out[places] = values[places[::-1]]
    return out


def _joints_exchanged(offsets: tuple[bool, bool], encoders: bool, motors: bool) -> Fault:
    """Return a fault that exchanges joints of two casters: of steering, of wheels, or of both."""
    def fault(robot: CasterRobot, rng: np.random.Generator, wiring: Assignment) -> Assignment:
        two = rng.choice(robot.count, 2, replace=False)
        for first, there in zip((0, robot.count), offsets, strict=True):
            if there and encoders:
                wiring = wiring._replace(encoder_of=_exchanged(wiring.encoder_of, first + two))
            if there and motors:
                wiring = wiring._replace(motor_of=_exchanged(wiring.motor_of, first + two))
        return wiring
    return fault


def _reversed(steering: bool, encoders: bool, motors: bool) -> Fault:
    """Return a fault that reverses an encoder, the leads of a motor, or both."""
    def fault(robot: CasterRobot, rng: np.random.Generator, wiring: Assignment) -> Assignment:
        joint = rng.integers(robot.count) + (0 if steering else robot.count)
        sign = np.ones(2 * robot.count)
        sign[joint] = -1.0
        return wiring._replace(gear=wiring.gear * (sign if encoders else 1.0),
                               leads=wiring.leads * (sign if motors else 1.0))
    return fault


def _turned(robot: CasterRobot, rng: np.random.Generator, wiring: Assignment) -> Assignment:
    """Turn one zero, or all."""
    zero = wiring.zero.copy()
    places = np.arange(robot.count) if rng.random() < 0.5 else rng.integers(robot.count)
    zero[places] += rng.uniform(-np.pi, np.pi)
    return wiring._replace(zero=zero)


def _geared(robot: CasterRobot, rng: np.random.Generator, wiring: Assignment) -> Assignment:
    """Change the gear of one wheel, or of all."""
    gear = wiring.gear.copy()
    n = robot.count
    places = np.arange(n, 2 * n) if rng.random() < 0.5 else n + rng.integers(n)
    gear[places] *= 1.0 + rng.choice([-1.0, 1.0]) * rng.uniform(*GEARS)
    return wiring._replace(gear=gear)


FAULTS: tuple[Fault, ...] = (
    _joints_exchanged((True, True), encoders=True, motors=True),
    _joints_exchanged((False, True), encoders=False, motors=True),
    _joints_exchanged((False, True), encoders=True, motors=False),
    _joints_exchanged((True, False), encoders=True, motors=False),
    _reversed(steering=True, encoders=True, motors=False),
    _reversed(steering=False, encoders=True, motors=False),
    _reversed(steering=False, encoders=False, motors=True),
    _reversed(steering=False, encoders=True, motors=True),
    _turned, _geared)
