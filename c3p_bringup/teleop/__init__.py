# SPDX-License-Identifier: Apache-2.0
"""Keyboard teleoperation: keys, commands, terminal and screen."""

# active time of a first press: terminals begin to repeat after 0.25 to 0.66 s
TAP = 0.48
