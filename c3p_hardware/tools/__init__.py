# SPDX-License-Identifier: Apache-2.0
"""What a person does with motor cards besides driving: zeros and parameters."""
