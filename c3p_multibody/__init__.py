# SPDX-License-Identifier: Apache-2.0
"""Trees of rigid bodies under constraints, and a vehicle on two driven wheels and a caster."""
