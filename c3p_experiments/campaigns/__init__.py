# SPDX-License-Identifier: Apache-2.0
"""Monte-Carlo campaigns: many drives with seeded model errors."""
