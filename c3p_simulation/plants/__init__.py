# SPDX-License-Identifier: Apache-2.0
"""Analytic plant, sensors, floors and seeded model errors."""
