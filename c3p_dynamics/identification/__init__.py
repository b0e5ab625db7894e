# SPDX-License-Identifier: Apache-2.0
"""Identification of masses, friction and input delay from a recorded motion."""
