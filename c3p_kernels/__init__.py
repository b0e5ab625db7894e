# SPDX-License-Identifier: Apache-2.0
"""What makes Python fast: compiled kernels, numbers side by side, small systems of equations."""
