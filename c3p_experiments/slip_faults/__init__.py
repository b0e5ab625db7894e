# SPDX-License-Identifier: Apache-2.0
"""Experiment: slip and sensor faults told apart, on the contact plant and with injected faults."""
