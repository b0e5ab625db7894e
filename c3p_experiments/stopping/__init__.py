# SPDX-License-Identifier: Apache-2.0
"""Stopping distances on the contact plant when parts fail, against their formula."""
