# SPDX-License-Identifier: Apache-2.0
"""A bag as arrays: logs of a run, metrics, and controllers recomputed on recorded input."""
