# SPDX-License-Identifier: Apache-2.0
"""The closed-form law: casters that align and torques that are shared, without optimisation."""
