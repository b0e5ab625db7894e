# SPDX-License-Identifier: Apache-2.0
"""Any caster robot: its abilities, a standard battery of drives, and their page."""
