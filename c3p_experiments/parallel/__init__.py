# SPDX-License-Identifier: Apache-2.0
"""Independent simulations on many cores or computers."""
