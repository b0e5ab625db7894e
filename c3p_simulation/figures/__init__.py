# SPDX-License-Identifier: Apache-2.0
"""The numbers and pictures of a drive."""
