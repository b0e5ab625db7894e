# SPDX-License-Identifier: Apache-2.0
"""Ground surfaces z = g(x, y) with the derivatives that rolling needs."""
