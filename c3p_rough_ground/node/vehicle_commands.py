# SPDX-License-Identifier: Apache-2.0
"""Desired joint rates of any vehicle for rough ground from commanded speed and yaw rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from c3p_description.vehicle_model import RoughVehicle
from c3p_rough_ground.node.commands import Array, Commands
from c3p_rough_ground.vehicles import closed_chain

# fraction of the range of a steering joint for commands: the ground may turn it further
USABLE = 0.95


class VehicleCommands(Commands):
    """
    Latest command and the desired joint rates of a vehicle.

    On flat ground wheel i at (x, y) moves with ``(v − ω y, ω x)``: its steering joint turns
    towards this direction, and it spins with the component along its present heading. Wheels
    without steering keep to x. Passive joints have the desired rate zero, which does not count.

    Parameters
    ----------
    model : RoughVehicle
    **options
        As of `Commands`.

    Examples
    --------
    >>> from c3p_description.reading.vehicle_files import load_vehicle
    >>> commands = VehicleCommands(load_vehicle('vla_tricycle'), autodrive=False)
    >>> commands.command(0.3, 0.0, now=0.0)
    >>> commands.rates(np.zeros(6), now=0.0, period=0.01).round(9).tolist()
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    """

    def __init__(self, model: RoughVehicle, **options: Any) -> None:
        """Find steering joint, place and radius of every wheel."""
        super().__init__(model, **options)
        vehicle = closed_chain(model)
        self._size = vehicle.size[0]
        self._cambers = [vehicle.index(name) for name in model.camber]
        self._limits = USABLE * vehicle.limits
        self._wheels = []
        for wheel, spin in zip(vehicle.wheels, vehicle.spins, strict=True):
            # the place of the wheel while all joints are at zero, from its steering joint on
            rotation = np.eye(3)
            place = np.zeros(3)
            steered = -1
            pivot = np.zeros(2)
            turn = 1.0
            for name in wheel.joints:
                joint = vehicle.joints[vehicle.index(name)]
                place = place + rotation @ joint.origin
                rotation = rotation @ joint.rotation
                if name in model.steering:
                    steered = vehicle.index(name)
                    pivot = place[:2]
                    turn = math.copysign(1.0, float((rotation @ joint.axis)[2]))
            if wheel.joints[-1] not in model.passive:
                self._wheels.append((spin, steered, turn, pivot, place[:2] - pivot,
                                     wheel.surface.outer_radius))
        self._drives = [spin for spin, *_ in self._wheels]

    def _commanded(self, speed: float, yaw_rate: float, joint: Array, period: float) -> Array:
        rates = np.zeros(self._size)
        model = self._model
        for spin, steered, turn, pivot, arm, radius in self._wheels:
            heading = 0.0
            if steered >= 0:
                heading = turn * joint[steered]
                rates[steered] = self._steer(steered, turn, joint[steered], speed, yaw_rate,
                                             pivot, period)
            c, s = math.cos(heading), math.sin(heading)
            x, y = pivot[0] + c * arm[0] - s * arm[1], pivot[1] + s * arm[0] + c * arm[1]
            rates[spin] = ((speed - yaw_rate * y) * c + yaw_rate * x * s) / radius
        drives = np.abs(rates[self._drives]).max(initial=0.0)
        rates[self._drives] /= max(1.0, drives / model.drive_rate_limit)
        return rates

    def _steer(self, steered: int, turn: float, angle: float, speed: float, yaw_rate: float,
               pivot: Array, period: float) -> float:
        """Return the rate of a steering joint towards the direction in which its pivot moves."""
        ahead = speed - yaw_rate * pivot[1]
        aside = yaw_rate * pivot[0]
        if ahead == 0.0 and aside == 0.0:
            return 0.0
        # a wheel rolls either way: at most a quarter of a turn
        target = turn * (math.atan(aside / ahead) if ahead else math.copysign(math.pi / 2, aside))
        low, high = self._limits[steered]
        limit = self._model.steering_rate_limit
        return float(np.clip((min(max(target, low), high) - angle) / period, -limit, limit))
