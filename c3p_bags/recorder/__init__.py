# SPDX-License-Identifier: Apache-2.0
"""Recorder node: bags with the parameters of every node and snapshots of the last seconds."""
