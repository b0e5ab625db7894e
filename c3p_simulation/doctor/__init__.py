# SPDX-License-Identifier: Apache-2.0
"""``c3p doctor``: what of this computer and of this robot is as it must be, in plain answers."""
