# SPDX-License-Identifier: Apache-2.0
"""Gains fitted by drives."""
