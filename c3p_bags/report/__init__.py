# SPDX-License-Identifier: Apache-2.0
"""Report of a run: metrics, plots and one page."""
