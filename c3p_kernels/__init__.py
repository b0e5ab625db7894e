# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: numbers side by side, elementary functions, small systems of equations."""
