# SPDX-License-Identifier: Apache-2.0
"""What explains a robot's motion, as simple shapes that every viewer can draw."""
