# SPDX-License-Identifier: Apache-2.0
"""State of a robot over time for the viewers, from topics or from a bag."""
