# SPDX-License-Identifier: Apache-2.0
"""Applications: the command c3p, drives, simulations, and the parts of launch files."""
