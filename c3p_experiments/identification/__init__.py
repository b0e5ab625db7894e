# SPDX-License-Identifier: Apache-2.0
"""Identification of masses, centre of mass and friction from bags."""
