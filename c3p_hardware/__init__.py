# SPDX-License-Identifier: Apache-2.0
"""Motor cards of a robot: safety state machine, CANopen transport, emulator and nodes."""
