# SPDX-License-Identifier: Apache-2.0
"""Commissioning: the wiring of a robot by hand or by small motions, and what mends it."""
