# SPDX-License-Identifier: Apache-2.0
"""Laws of installed packages, and their settings as parameters of the nodes."""
