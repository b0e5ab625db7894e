# SPDX-License-Identifier: Apache-2.0
"""Robots that are not there: plants, sensors, worlds, emulated cards and their nodes."""
