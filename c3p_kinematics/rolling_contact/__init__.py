# SPDX-License-Identifier: Apache-2.0
"""Wheels that roll on grounds: surfaces and Montana's contact equations."""
