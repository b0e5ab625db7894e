# SPDX-License-Identifier: Apache-2.0
"""Vehicles on rough ground: terrains, rolling contact, closed chains, dynamics, worlds, node."""
