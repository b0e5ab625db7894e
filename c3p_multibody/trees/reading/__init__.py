# SPDX-License-Identifier: Apache-2.0
"""Readers of trees of bodies from files."""
