# SPDX-License-Identifier: Apache-2.0
"""Robots on a screen, live or from a bag: RViz markers, Rerun, Foxglove and MuJoCo."""
