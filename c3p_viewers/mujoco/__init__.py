# SPDX-License-Identifier: Apache-2.0
"""Pictures and films rendered by MuJoCo."""
