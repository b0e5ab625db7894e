# SPDX-License-Identifier: Apache-2.0
"""Many drives with robots that are drawn around their description."""
