# SPDX-License-Identifier: Apache-2.0
"""Simulated robots: rolling without slip, or tyres in contact; sensors and errors around them."""
