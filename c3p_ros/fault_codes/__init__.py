# SPDX-License-Identifier: Apache-2.0
"""Stable codes of faults, locks, refusals and warnings, for programs that read diagnostics."""
