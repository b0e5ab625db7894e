# SPDX-License-Identifier: Apache-2.0
"""The vehicle on two driven wheels and one caster, on the circle of Saha & Angeles."""
