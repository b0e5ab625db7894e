#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Write test/data/golden_bag: a drive with the ROS 2 nodes, one wheel on oil for a while.

The tyres of the simulated robot grip with μ = 0.8; wheel 2 has 0.08 for the 0.35 s in which the
robot leaves its singular start, so the expected report is known. It needs ROS 2 and MuJoCo, and
writes a bag with different time stamps each time.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from c3p_bringup.drive import drive
from c3p_bringup.nodes import NODES
from c3p_bringup.options import DriveOptions
from c3p_simulation.plants.plant import JointSample, Plant
from c3p_simulation.simulation_node import SimulationNode

ROOT = Path(__file__).resolve().parent.parent

# where to: sideways, which the casters cannot drive at once
GOAL = (1.2, 0.4, 0.6)

# the wheel that loses its grip (from 0), robot time of that, s, and what grip is left
WHEEL, BEGIN, END, GRIP = 1, 3.3, 3.65, 0.08

# cycles per second; enough for the laws, and a small bag
RATE = 100.0

# what the report reads; the frames and the reference ahead would double the size
TOPICS = ('joint_states', 'goal_pose', 'cmd_vel', 'wheel_effort', 'odom', 'ground_truth/odom',
          'sensed_kinematics/wheel_slip', 'position_controller/goal_reached',
          'position_controller/distance_to_goal', '/diagnostics')


class OilyPlant:
    """A contact plant with one wheel on oil for a while."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self._model = getattr(plant, 'plant', plant).model
        self._grip = float(self._model.pair_friction[WHEEL, 0])

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the plant."""
        return getattr(self._plant, name)

    def step(self, wheel_torque: np.ndarray, dt: float) -> JointSample:
        """Step the plant with the current friction."""
        oily = BEGIN <= self._plant.time < END
        self._model.pair_friction[WHEEL, :2] = GRIP if oily else self._grip
        return self._plant.step(wheel_torque, dt)


class OilySimulation(SimulationNode):
    """The simulation on a floor with oil."""

    def start(self) -> None:
        """Start the simulation with the oil patch."""
        self.plant = OilyPlant(self.plant)
        super().start()


def main() -> int:
    """Drive and keep the bag."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--out', type=Path, default=ROOT / 'test' / 'data' / 'golden_bag')
    out = parser.parse_args().out
    NODES['simulation'] = f'{__name__}.{OilySimulation.__name__}'
    with tempfile.TemporaryDirectory() as place:
        known = yaml.safe_load((ROOT / 'config' / 'record_topics.yaml').read_text('utf-8'))
        topics, files = Path(place) / 'topics.yaml', Path(place) / 'recorder.yaml'
        topics.write_text(yaml.safe_dump({'topics': {t: known['topics'][t] for t in TOPICS}}))
        files.write_text(yaml.safe_dump({'recorder': {'ros__parameters': {
            'topics_file': str(topics), 'frames': 'never', 'compression': 'zstd'}},
            # the wheel spins, however fast, until it grips again: there has to be something
            # to report, and a drive that ends at the overspeed would be another one
            'velocity_controller': {'ros__parameters': {'traction.slip_speed': 10.0,
                                                        'traction.slip_fraction': 1.0,
                                                        'traction.overspeed': 10.0}}}))
        figures = drive(DriveOptions(goal=GOAL, out=Path(place) / 'drive', plant='mujoco',
                                     controller='mpc', realtime_factor=0.0,
                                     rate=RATE, keep_bag=True, parameters=[files]))
        if not figures['reached']:
            raise SystemExit(f'the drive has not reached its goal: {figures["missed"]}')
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(figures['files']['bag']), out)
    size = sum(f.stat().st_size for f in out.iterdir())
    print(f'{out}: {size / 1000:.0f} kB, final error {figures["final_error_m"]:.4f} m')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
