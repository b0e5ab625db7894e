# SPDX-License-Identifier: Apache-2.0
"""A simulated robot whose joints have another order, sign or zero than described."""

from typing import NamedTuple

import numpy as np

from c3p_controller.brake_sense import BrakeSense
from c3p_experiments.loop.closed_loop import Held, run_loop, timed_odometry
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant

PERIOD = 0.005


def measured_by(wiring, sample):
    """Return a true sample as the channels of a robot with this `wiring` state it."""
    steering, steer = np.empty((2, len(sample.steering)))
    wheel, roll = np.empty((2, len(sample.steering)))
    for k in range(len(steering)):
        i = wiring.steering_of[k]
        j = wiring.wheel_of[k]
        # true = sign · measured + turn
        steering[i] = (sample.steering[k] - wiring.turn[k]) * wiring.steering_sign[k]
        steer[i] = sample.steering_rate[k] * wiring.steering_sign[k]
        wheel[j] = sample.wheel_angle[k] * wiring.wheel_sign[k]
        roll[j] = sample.wheel_rate[k] * wiring.wheel_sign[k]
    return sample._replace(steering=steering, steering_rate=steer, wheel_angle=wheel,
                           wheel_rate=roll)


class MiswiredPlant:
    """
    Plant between its joints and `wiring`.

    With `motors` the torques go to the wheels as their encoders are plugged, for whole casters or
    drives at another place.
    """

    def __init__(self, plant, wiring, motors):
        self._plant = plant
        self._wiring = wiring
        self._motors = motors

    def __getattr__(self, name):
        return getattr(self._plant, name)

    def reset(self, *arguments, **named):
        return measured_by(self._wiring, self._plant.reset(*arguments, **named))

    def sense(self):
        return measured_by(self._wiring, self._plant.sense())

    def step(self, torque, dt):
        torque = np.array(torque, float)
        n = self._plant.robot.count
        if self._motors:
            torque[:n] = torque[:n][list(self._wiring.wheel_of)] * self._wiring.wheel_sign
        return measured_by(self._wiring, self._plant.step(torque, dt))


class MiswiredDrive(NamedTuple):
    """
    Result of a drive.

    reached, stopped : bool
    path : float, m
        True path of the centre until it stands.
    error : float, m
        True end from that of the odometry.
    report : WiringReport
        At the end.
    accused : dict
        Largest confidence of each caster, of slip and faults.
    """

    reached: bool
    stopped: bool
    path: float
    error: float
    report: object
    accused: dict


def controller_of(robot):
    """Return the predictive controller of a robot."""
    return make_controller('mpc', robot, latency=0.0, speed=0.5)


def drive(robot, wiring, goal, sensors=None, seed=0, motors=None, controller=None, plant=None,
          duration=15.0):
    """Drive to a goal (3,) until it is reached or the odometry doubts the wiring; then brake."""
    motors = wiring.parts == 'modules' if motors is None else motors
    rng = np.random.default_rng(seed)
    inner = MiswiredPlant(plant or AnalyticPlant(robot), wiring, motors)
    outer = inner if sensors is None else SensedPlant(inner, sensors, seed)
    timing = None if sensors is None else sensors.timing
    counts = (0.0, 0.0) if sensors is None else (
        2 * np.pi / sensors.wheel_counts, 2 * np.pi / sensors.steering_counts)
    odometry = Odometry(robot, OdometrySettings(
        wheel_resolution=counts[0], steering_resolution=counts[1], **timed_odometry(timing)))
    controller = controller or controller_of(robot)
    accused, held = {}, Held()

    def watch(cycle):
        estimate = cycle.estimate
        for report, caster in ((estimate.slip, estimate.slip.suspect),
                               (estimate.faults, estimate.faults.caster)):
            if caster >= 0:
                accused[caster] = max(accused.get(caster, 0.0), report.confidence)
        reports.append(estimate.wiring)
        return estimate.wiring.doubted or (not estimate.faults.several and held(cycle))

    reports = []
    steering = rng.uniform(-np.pi, np.pi, robot.count)
    log = run_loop(outer, controller.law, GoalSource(controller.position(), [np.array(goal)]),
                   duration=duration, steering=steering, odometry=odometry, stop=watch)
    path = list(log.ground_truth.pose)
    report = reports[-1]
    if report.doubted:
        # as the velocity controller: the wheels brake
        sense = BrakeSense(robot)
        sense.doubt(np.isin(np.arange(robot.count), report.backwards))
        for k in range(200):
            sample = outer.sense()
            torque = sense.torque(2.0 * PERIOD * k, sample.wheel_rate, 0.1, 0.005)
            for _ in range(2):
                sample = outer.step(torque, PERIOD)
                if sample is not None:
                    odometry.step(sample.time, sample.steering, sample.wheel_angle,
                                  sample.wheel_rate, sample.steering_rate)
            path.append(outer.truth().pose)
    steps = np.diff(np.array(path)[:, :2], axis=0)
    way = np.hypot(*steps.T)
    error = float(np.hypot(*(path[-1] - odometry.pose)[:2]))
    return MiswiredDrive(log.ended and not report.doubted, report.doubted, float(way.sum()), error,
                         report, accused)
