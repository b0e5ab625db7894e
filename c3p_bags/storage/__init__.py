# SPDX-License-Identifier: Apache-2.0
"""The format: bags, topics, messages and notes, and the limits of files from outside."""
