# SPDX-License-Identifier: Apache-2.0
"""CAN buses, configuration of the devices, and the thread of the cycle."""
