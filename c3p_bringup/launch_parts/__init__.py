# SPDX-License-Identifier: Apache-2.0
"""Actions that the launch files are composed of."""
