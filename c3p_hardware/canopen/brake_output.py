# SPDX-License-Identifier: Apache-2.0
"""Holding brake on the digital outputs of a drive: 60FEh of CiA 402-2, "set brake"."""

from __future__ import annotations

from c3p_hardware.canopen.process_data import CONTROLWORD, TARGET_TORQUE, Entry, PdoLayout

# bit of the outputs (60FEh:1) and of their mask (60FEh:2): 1 closes the brake
SET_BRAKE = 1 << 0

DIGITAL_OUTPUTS = Entry(0x60FE, 1, 32, False, 'digital outputs')

# to a drive with a holding brake, effective on receipt
BRAKED_COMMAND = PdoLayout('BRAKED_COMMAND', (CONTROLWORD, TARGET_TORQUE, DIGITAL_OUTPUTS))
