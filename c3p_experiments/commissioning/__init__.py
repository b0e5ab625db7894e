# SPDX-License-Identifier: Apache-2.0
"""Experiment: robots that are wired at random, and the wiring that is found."""
