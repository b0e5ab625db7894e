# SPDX-License-Identifier: Apache-2.0
"""Laws of wheel torques and of position: predictive, closed form, and the papers' cascade."""
