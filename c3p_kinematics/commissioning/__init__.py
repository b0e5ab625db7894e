# SPDX-License-Identifier: Apache-2.0
"""Search for the wiring of a robot: the channel of each joint, with sign, zero and gear."""
