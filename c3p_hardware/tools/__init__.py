# SPDX-License-Identifier: Apache-2.0
"""Maintenance of motor cards: zeros and parameter files."""
