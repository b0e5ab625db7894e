# SPDX-License-Identifier: Apache-2.0
"""Promises of safety.md on a bag and on a running robot: one judge, and the monitor node."""
