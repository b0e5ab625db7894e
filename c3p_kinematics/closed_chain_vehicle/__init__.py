# SPDX-License-Identifier: Apache-2.0
"""Vehicles whose wheels roll on any ground: closed chains of joints and contacts."""
