# SPDX-License-Identifier: Apache-2.0
"""Experiments of the C3P papers (El-Shenawy, Wagner, Badreddin)."""
