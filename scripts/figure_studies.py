# SPDX-License-Identifier: Apache-2.0
"""All studies by their name, in the order in which write_figures.py runs them."""

from __future__ import annotations

from figure_study import Study
from module_studies import MODULE_LEARNING, MODULE_TRIANGLE, PUSHED_STUDY, REVERSAL_STUDY
from predictive_studies import ABLATION, AHEAD, CIRCLE, DELAY, EIGHT, STARTS
from robot_studies import CRUISING, OILY, PAIRS, PUBLISHED, SHORT_DRIVES, STRONG
from sensor_studies import CONSISTENCY, FAULTY_STUDY, QUIET
from wiring_studies import MISWIRED

STUDIES: dict[str, Study] = {
    'first_seconds': STARTS, 'delays': DELAY, 'ahead': AHEAD, 'short_drives': SHORT_DRIVES,
    'circles': CIRCLE, 'eight': EIGHT, 'ablation': ABLATION, 'pairs': PAIRS, 'strong': STRONG,
    'oil': OILY, 'cruise': CRUISING, 'published': PUBLISHED,
    'module_triangle': MODULE_TRIANGLE, 'module_learning': MODULE_LEARNING,
    'reversals': REVERSAL_STUDY, 'pushed': PUSHED_STUDY, 'quiet': QUIET, 'faulty': FAULTY_STUDY,
    'consistency': CONSISTENCY, 'miswired': MISWIRED}
