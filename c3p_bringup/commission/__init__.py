# SPDX-License-Identifier: Apache-2.0
"""Commissioning of a robot: its wiring found by hand or by itself, and the files that mend it."""
