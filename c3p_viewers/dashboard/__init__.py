# SPDX-License-Identifier: Apache-2.0
"""Live page of a robot in a browser on this computer."""
