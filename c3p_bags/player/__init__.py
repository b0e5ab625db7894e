# SPDX-License-Identifier: Apache-2.0
"""Player node: a bag back on its topics, on its own clock."""
