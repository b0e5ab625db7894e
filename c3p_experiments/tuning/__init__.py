# SPDX-License-Identifier: Apache-2.0
"""Gain tuning by simulated drives."""
