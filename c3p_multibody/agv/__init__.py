# SPDX-License-Identifier: Apache-2.0
"""Vehicle on two driven wheels and a caster: kinematics, closed-form dynamics, bodies, circle."""
