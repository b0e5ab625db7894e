# SPDX-License-Identifier: Apache-2.0
"""The papers' laws and gains, as printed and in other readings."""
