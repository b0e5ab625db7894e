# SPDX-License-Identifier: Apache-2.0
"""Experiments of the 2-DOF AGV on its circle (Saha, Angeles)."""
