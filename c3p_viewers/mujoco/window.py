# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's own window: the robot as it moved, or as it moves, with its scene."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.model import CasterRobot
from c3p_viewers.mujoco.caption import DRIVEN
from c3p_viewers.mujoco.opengl import import_mujoco, require_modules
from c3p_viewers.mujoco.pictures import placement
from c3p_viewers.mujoco.shapes import add_line, add_shapes
from c3p_viewers.mujoco.studio import set_placement, studio_model
from c3p_viewers.scene.colours import colour
from c3p_viewers.screen import require_screen
from c3p_viewers.sources.moment import Moment, scene_of

# pictures a second, and distance between two points of the path, m
RATE = 30.0
STEP = 0.05
MOST_POINTS = 400
# of the shadows around the robot, m
REACH = 8.0


class Window:
    """
    MuJoCo's interactive window with one robot in it.

    Parameters
    ----------
    robot : CasterRobot
    description : str or Path
        How it looks, as for `loader.load`.

    Raises
    ------
    PictureError
        No screen, no MuJoCo or no glfw.
    """

    def __init__(self, robot: CasterRobot, description: str | Path) -> None:
        """Load the robot; nothing is shown yet."""
        mj = import_mujoco()
        require_modules('glfw')
        require_screen()
        self._robot = robot
        self._model = studio_model(description)
        # the sun's shadow map reaches farther than is seen; see the studio
        self._model.stat.extent = REACH
        self._model.vis.map.shadowclip = 1.0
        self._data = mj.MjData(self._model)
        self._way: list[list[float]] = []

    def show(self, moments: Callable[[], Moment | None]) -> None:
        """
        Show moments until the window is closed.

        Parameters
        ----------
        moments : callable
            Returns what is to be shown now; None while nothing is known.
        """
        import mujoco.viewer

        with mujoco.viewer.launch_passive(self._model, self._data, show_left_ui=False,
                                          show_right_ui=False) as window:
            with window.lock():
                # collision shapes are in group 0, what is looked at in group 1
                window.opt.geomgroup[:] = [0, 1, 1, 0, 0, 0]
                window.cam.distance = 3.0
                window.cam.elevation = -40.0
                window.cam.azimuth = math.degrees(-2.0)
            while window.is_running():
                begin = clock.monotonic()
                moment = moments()
                if moment is not None:
                    with window.lock():
                        self._draw(window, moment)
                    window.sync()
                clock.sleep(max(0.0, 1.0 / RATE - (clock.monotonic() - begin)))

    def _draw(self, window: Any, moment: Moment) -> None:
        """Place the robot, the camera and the shapes."""
        mj, (x, y, _) = import_mujoco(), moment.place
        set_placement(self._model, self._data, placement(
            self._robot, moment.place, moment.steering, moment.wheel_angle))
        self._model.light_pos[0] = np.array([x, y, 0.0]) - 1.5 * REACH * self._model.light_dir[0]
        mj.mj_forward(self._model, self._data)
        window.cam.lookat[:] = [x, y, 0.06]
        point = [float(x), float(y), 0.004]
        # a run that is played again, or a robot that is carried elsewhere, begins a new way
        if self._way and math.dist(self._way[-1], point) > 20 * STEP:
            self._way.clear()
        if not self._way or math.dist(self._way[-1], point) > STEP:
            self._way = [*self._way, point][-MOST_POINTS:]
        window.user_scn.ngeom = 0
        add_line(window.user_scn, np.array([*self._way, point]), 0.016, colour(DRIVEN))
        add_shapes(window.user_scn, scene_of(self._robot, moment), moment.place)
