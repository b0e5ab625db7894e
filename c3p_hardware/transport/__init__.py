# SPDX-License-Identifier: Apache-2.0
"""CAN buses and what goes over them: the only place that opens one."""
