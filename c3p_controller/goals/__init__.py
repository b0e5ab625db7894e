# SPDX-License-Identifier: Apache-2.0
"""Goals and paths: position commands, goal lifecycle, and re-arming of a drive."""
