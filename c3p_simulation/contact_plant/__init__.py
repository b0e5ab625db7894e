# SPDX-License-Identifier: Apache-2.0
"""Contact plant: the robot on tyres in MuJoCo."""
