# SPDX-License-Identifier: Apache-2.0
"""One picture of a bag, by the viewer that is asked for."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from c3p_bags.runs.log_reader import read_run
from c3p_description.reading.loader import load_casters
from c3p_kinematics.singularity import singularity
from c3p_viewers.sources.bag_source import BagSource


def screenshot(arguments: Namespace) -> dict[str, Any]:
    """
    Write the picture and return what it shows.

    Parameters
    ----------
    arguments : Namespace
        Of ``c3p view``.

    Returns
    -------
    dict
        For JSON: ``viewer``, ``robot``, ``bag``, ``time_s``, ``pose``, ``steering_rad``,
        ``sigma_min`` and ``files``.

    Raises
    ------
    BagError, ModelError
        A bag or robot that cannot be read.
    PictureError
        The viewer cannot draw here; the text says what is missing.
    """
    robot = load_casters(arguments.robot)
    source = BagSource(read_run(arguments.bag, robot, arguments.namespace))
    moment = source.at(source.halfway if arguments.time is None else arguments.time)
    viewer = arguments.viewer or 'mujoco'
    if viewer == 'rerun':
        from c3p_viewers.rerun.rerun_picture import rerun_picture
        from c3p_viewers.rerun.rerun_view import save_run

        path = rerun_picture(lambda file: save_run(source, robot, arguments.robot, file),
                             arguments.headless_screenshot, moment.time)
    else:
        from c3p_viewers.mujoco.pictures import picture

        path = picture(source, robot, arguments.robot, arguments.headless_screenshot,
                       moment.time, arguments.size)
    return {'viewer': viewer, 'robot': robot.name, 'bag': str(arguments.bag),
            'time_s': moment.time, 'pose': np.asarray(moment.place, float).tolist(),
            'steering_rad': np.asarray(moment.steering, float).tolist(),
            'sigma_min': abs(float(singularity(robot, moment.steering).sigma_min)),
            'files': {'picture': str(path)}}
