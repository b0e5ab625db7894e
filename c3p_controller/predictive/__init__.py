# SPDX-License-Identifier: Apache-2.0
"""Model-predictive control of the wheel torques."""
