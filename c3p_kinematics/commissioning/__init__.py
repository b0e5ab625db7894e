# SPDX-License-Identifier: Apache-2.0
"""Search for the wiring of a robot: which channel is which joint, with which sign, zero and gear."""
