# SPDX-License-Identifier: Apache-2.0
"""Refusal of a command of the live page."""

from __future__ import annotations


class Refusal(ValueError):
    """A command that is not carried out; its text gives the reason and the remedy."""
