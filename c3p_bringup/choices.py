# SPDX-License-Identifier: Apache-2.0
"""Choices of the command line, from packages that import nothing slow."""

from __future__ import annotations

from c3p_controller import AUTO as AUTO_LAW
from c3p_controller import law_names
from c3p_simulation import PLANTS, SENSORS, STRICT, WAIT

__all__ = ['AUTO_LAW', 'EXPERIMENTS', 'HARDWARE', 'PLANTS', 'REALTIME', 'SENSORS', 'STRICT',
           'SYNCHRONOUS', 'WAIT', 'law_names']

HARDWARE = ('none', 'emulated')

# behaviour of a simulated robot while the computer is busy
REALTIME = (WAIT, STRICT)

# for shells that complete, without the import of an experiment
EXPERIMENTS = (
    'line', 'triangle', 'figure_eight', 'ramp_y', 'ramp_x', 'flip', 'spin', 'sideways',
    'goal_behind', 'steerings', 'pushes', 'slope', 'oil_patch', 'self_calibration', 'consistency',
    'slip_faults', 'real_sensors', 'postures', 'structure', 'feed_forward', 'commissioning',
    'stopping', 'hill', 'random_terrain', 'camber_power', 'planar_models', 'agv', 'crossover',
    'methods', 'flexible', 'berthing', 'grasp', 'chain', 'all')

# parameters of sensed_kinematics for joint states that are of one instant, with its stamp: motor
# cards sample by their SYNC, and so does the simulation unless its sensors have a timing
SYNCHRONOUS = {'stamp_jitter': 0.0, 'sample_skew': 0.0}
