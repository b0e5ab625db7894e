# SPDX-License-Identifier: Apache-2.0
"""Emulated motor cards and encoders with scripted faults."""
