# SPDX-License-Identifier: Apache-2.0
"""
Robots that are not there: plants, sensors, worlds, emulated cards and their nodes.

``PLANTS`` names the plants: rolling without slip, and tyres in contact. ``WAIT`` and ``STRICT``
are the behaviours of a simulated robot while the computer is busy (pacing.py). ``SENSORS`` names
the profiles of its sensors (plants/sensor_profiles.py).
"""

PLANTS = ('analytic', 'mujoco')

SENSORS = ('ideal', 'encoders', 'real', 'real_gyro', 'low_cost')

STRICT = 'strict'
WAIT = 'wait'
