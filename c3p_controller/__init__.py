# SPDX-License-Identifier: Apache-2.0
"""
Torque laws and position laws: predictive control, and the papers' cascade.

``CONTROLLERS`` names the controllers of the suite, the first without a preview; controllers.py
has their classes.
"""

PAPER = 'paper'

MPC = 'mpc'

CONTROLLERS = (PAPER, MPC)
