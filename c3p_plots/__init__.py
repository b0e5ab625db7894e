# SPDX-License-Identifier: Apache-2.0
"""Style and colours of plots, pages and scenes."""
