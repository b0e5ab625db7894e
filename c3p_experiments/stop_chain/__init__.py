# SPDX-License-Identifier: Apache-2.0
"""All states of the stop chain: classes of the suite, stepped by every order of events."""
