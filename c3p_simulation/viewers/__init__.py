# SPDX-License-Identifier: Apache-2.0
"""The robot on a screen, live or from a bag: Rerun, MuJoCo and Foxglove."""
