# SPDX-License-Identifier: Apache-2.0
"""What a bag says about a robot: figures, pictures and one page to read."""
