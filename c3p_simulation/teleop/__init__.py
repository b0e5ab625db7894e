# SPDX-License-Identifier: Apache-2.0
"""Driving a robot from a terminal: keys, what they ask for, the screen, the nodes' side."""
