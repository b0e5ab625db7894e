# SPDX-License-Identifier: Apache-2.0
"""CANopen protocol and profiles: pure functions and tables, without bus and clock."""
