# SPDX-License-Identifier: Apache-2.0
"""Motor cards and encoders that behave as real ones on the bus, with a simulated robot behind."""
