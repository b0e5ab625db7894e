# SPDX-License-Identifier: Apache-2.0
"""Between wheel commands and motors: what must hold whatever drives the wheels."""
