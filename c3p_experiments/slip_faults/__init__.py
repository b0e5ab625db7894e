# SPDX-License-Identifier: Apache-2.0
"""Experiment: slip and sensor faults distinguished, on the contact plant and injected."""
