# SPDX-License-Identifier: Apache-2.0
"""All states of the stop chain: the classes of the suite, stepped through every order of events."""
