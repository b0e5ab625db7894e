# SPDX-License-Identifier: Apache-2.0
"""Experiments of the PVC tricycle on rough ground (Auchter, Moore)."""
