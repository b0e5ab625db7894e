# SPDX-License-Identifier: Apache-2.0
"""Straight-line code: expressions of a calculation that has run once, and their source."""
