# SPDX-License-Identifier: Apache-2.0
"""Keyboard teleoperation: keys, commands, terminal and screen."""
