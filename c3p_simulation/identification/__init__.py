# SPDX-License-Identifier: Apache-2.0
"""Masses, centre of mass and friction from bags."""
