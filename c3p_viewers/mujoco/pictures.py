# SPDX-License-Identifier: Apache-2.0
"""Pictures and films of runs of caster robots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.run_log import RunLog
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_kinematics.singularity import Lines, shown_singularity
from c3p_viewers.mujoco.caption import AHEAD, AIM, DRIVEN, TRUE, Text, caption
from c3p_viewers.mujoco.films import FilmFormat, FilmWriter, write_png
from c3p_viewers.mujoco.shapes import LIFT, add_path, add_shapes, in_world
from c3p_viewers.mujoco.studio import SIZE, RobotPlacement, Studio
from c3p_viewers.mujoco.view import View
from c3p_viewers.scene.colours import Colour, colour
from c3p_viewers.scene.shapes import Arc, Arrow, Label, Shape
from c3p_viewers.screen import PictureError
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment, joint_positions, scene_of

# pictures per second of a film; robots in one picture
FRAME_RATE = 30.0
MOST_PLACES = 12
# of the platform, so that the casters below it are seen
OPACITY = 0.45
# paths: colour and width, m
PATHS = {'driven': (DRIVEN, 0.016), 'ahead': (AHEAD, 0.009), 'truth': (TRUE, 0.009)}


def placement(robot: CasterRobot, pose: ArrayLike, steering: Array, wheel_angle: Array
              ) -> RobotPlacement:
    """
    Return where a robot is.

    Parameters
    ----------
    robot : CasterRobot
    pose : (3,) array_like
        x, y [m] and yaw [rad].
    steering, wheel_angle : (n,) arrays, rad
        In the convention of the model.
    """
    x, y, yaw = (float(value) for value in np.asarray(pose))
    return RobotPlacement([x, y, 0.0], [math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)],
                          joint_positions(robot, steering, wheel_angle))


class CasterStudio(Studio):
    """
    Draws a caster robot on a level floor.

    Parameters
    ----------
    robot, size
        As for `Studio`.

    Examples
    --------
    ::

        with CasterStudio('c3p') as studio:
            pixels = studio.draw([(0.0, 0.0, 0.3)], [[0.1, 0.2, 0.3]])
    """

    def __init__(self, robot: str | Path = 'c3p', size: Sequence[int] = SIZE) -> None:
        """Load robot and floor."""
        self.robot = load_casters(robot)
        super().__init__(robot, size)

    def draw(self, poses: ArrayLike, steering: ArrayLike, wheel_angle: ArrayLike = 0.0,
             path: ArrayLike | None = None, view: View | None = None,
             decorate: Callable[[Any], None] = lambda scene: None) -> Array:
        """
        Return a picture of the robot in each of some poses.

        Parameters
        ----------
        poses : (k, 3) array_like
            X, Y, φ of ``base_link`` in the floor frame, m and rad.
        steering, wheel_angle : (k, n) array_like or what broadcasts to it, rad
        path : (m, 2) array_like, m, optional
            A line on the floor.
        view : View, optional
            Default: the middle of all poses and of the path.
        decorate : callable
            As for `Studio.picture`.

        Returns
        -------
        (height, width, 3) array of uint8
        """
        poses = np.atleast_2d(np.asarray(poses, float))
        shape = len(poses), self.robot.count
        angles = [np.broadcast_to(np.asarray(value, float), shape)
                  for value in (steering, wheel_angle)]
        view = view or self.overview(poses, path)

        def with_path(scene: Any) -> None:
            if path is not None:
                # as wide as visible from there
                add_path(scene, path, 0.004 * view.distance, colour(DRIVEN))
            decorate(scene)

        return self.picture([placement(self.robot, *one) for one in zip(
            poses, *angles, strict=True)], view, with_path)

    @property
    def breadth(self) -> float:
        """Diameter, m, of a circle around ``base_link`` that holds the robot."""
        robot = self.robot
        reach = np.hypot(*robot.hip_position.T) + robot.caster_offset + robot.wheel_radius
        return 2 * float(np.max(reach))

    def overview(self, poses: ArrayLike, path: ArrayLike | None = None) -> View:
        """Return a view of the robot in all `poses` (k, 3), and of a `path` (m, 2)."""
        points = np.atleast_2d(np.asarray(poses, float))[:, :2]
        if path is not None and len(more := np.asarray(path, float)):
            points = np.vstack([points, more])
        low = points.min(axis=0)
        high = points.max(axis=0)
        return View((*(low + high) / 2, View().target[2]),
                    1.4 * self.breadth + 0.85 * math.hypot(*(high - low)))

    def fade(self, scene: Any, opacity: float = OPACITY) -> None:
        """Make the platform and the parts fixed to it translucent."""
        platform = self.model.body_weldid[1]
        for geom in scene.geoms[:scene.ngeom]:
            # 5: mjOBJ_GEOM
            if geom.objtype == 5 and self.model.body_weldid[
                    self.model.geom_bodyid[geom.objid]] == platform:
                geom.rgba[3] = opacity
                geom.transparent = 1


def picture(source: BagSource, robot: CasterRobot, description: str | Path, path: str | Path,
            time: float | None = None, size: Sequence[int] = SIZE) -> Path:
    """
    Write a picture of a run at one time, with its scene, paths and numbers.

    Parameters
    ----------
    source, robot
    description, path, size
        Name or path of the robot's description; PNG; width and height, pixels.
    time : float, s, optional
        Since the first joint states; default when half of the path is driven.

    Raises
    ------
    PictureError
        As `Studio`.
    """
    moment = source.at(source.halfway if time is None else time)
    with CasterStudio(description, size) as studio:
        view = _view(robot, moment, _travel(moment))
        return write_png(path, _explained(studio, source, robot, moment, view, size))


def scene_film(source: BagSource, robot: CasterRobot, description: str | Path, path: str | Path,
               span: Sequence[float] | None = None, form: FilmFormat | None = None,
               progress: Callable[[float], None] = lambda done: None) -> Path:
    """
    Write a film of a run with its scene, paths and numbers; the view follows the robot.

    Parameters
    ----------
    source, robot, description
        As for `picture`.
    path : str or Path
        MP4 or GIF.
    span : (2,) sequence of float, s, optional
        Begin and end since the first joint states; default the whole run.
    form : FilmFormat, optional
    progress
        As for `film`.

    Raises
    ------
    PictureError, ValueError
        As `film`; also for a span that is not within the run.
    """
    speed, size, rate = form or FilmFormat()
    check_speed(speed)
    begin, end = (source.start, source.end) if span is None else span
    if not source.start <= begin < end <= source.end:
        raise ValueError(f'span = {begin:g} to {end:g} s: must be within the run, '
                         f'{source.start:g} to {source.end:g} s')
    times = np.arange(begin, end, speed / rate)
    # the camera moves with the robot but does not turn with it
    first = source.at(float(times[0]))
    last = source.at(float(end))
    way = last.place[:2] - first.place[:2]
    heading = math.atan2(way[1], way[0]) if math.hypot(*way) > 0.1 else first.place[2]
    with FilmWriter(path, rate) as writer, CasterStudio(description, size) as studio:
        for k, time in enumerate(times):
            moment = source.at(float(time))
            view = _view(robot, moment, heading)
            writer.add(_explained(studio, source, robot, moment, view, size))
            progress((k + 1) / len(times))
    return Path(path)


def check_speed(speed: float) -> None:
    """Raise ValueError unless a film can have this `speed`."""
    if not 0 < speed < np.inf:
        raise ValueError(f'speed = {speed}: must be a positive number')


def _explained(studio: CasterStudio, source: BagSource, robot: CasterRobot, moment: Moment,
               view: View, size: Sequence[int]) -> Array:
    """Return the pixels of a moment with scene, paths and numbers."""
    shapes = scene_of(robot, moment)
    paths = _paths(source, moment.time)

    def decorate(scene: Any) -> None:
        studio.fade(scene)
        for name, points in paths.items():
            add_path(scene, points, PATHS[name][1], colour(PATHS[name][0]))
        if moment.goal is not None:
            add_shapes(scene, _goal(robot), moment.goal)
        add_shapes(scene, shapes, moment.place, labels=False)

    pixels = studio.draw([moment.place], [moment.steering], [moment.wheel_angle], view=view,
                         decorate=decorate)
    # the measure stands among the numbers
    texts = [Text(view.project(in_world(shape.position, moment.place), size)[0], shape.text)
             for shape in shapes if isinstance(shape, Label) and shape.name != 'sigma_min']
    shown: dict[str, Colour | str] = {
        shape.name: shape.colour for shape in shapes if not isinstance(shape, Label)}
    shown |= {name: PATHS[name][0] for name in paths}
    if moment.goal is not None:
        shown['goal'] = AIM
    return caption(pixels, f'{robot.name} at {moment.time:.2f} s', numbers(robot, moment), shown,
                   texts)


def numbers(robot: CasterRobot, moment: Moment) -> list[tuple[str, str]]:
    """Return names and values of the numbers in a picture of a `moment`."""
    rows = []
    if moment.twist is not None:
        vx, vy, rate = moment.twist
        rows += [('speed', f'{math.hypot(vx, vy):.2f} m/s'), ('yaw rate', f'{rate:+.2f} rad/s')]
    degrees = np.degrees(np.angle(np.exp(1j * moment.steering)))
    rows.append(('steering', '  '.join(f'{angle:+4.0f}°' for angle in degrees)))
    if moment.torque is not None:
        rows.append(('torque', '  '.join(f'{torque:+.2f}' for torque in moment.torque) + ' N·m'))
    if moment.steering_torque is not None:
        rows.append(('of steering', '  '.join(
            f'{torque:+.2f}' for torque in moment.steering_torque) + ' N·m'))
    if (state := shown_singularity(robot, moment.steering)) is None:
        return rows
    lines = Lines(int(state.lines))
    rows.append(('σ_min', f'{abs(float(state.sigma_min)):.2f}' + (
        '' if lines is Lines.REGULAR else f', lines {lines.name.lower()}')))
    return rows


def _travel(moment: Moment) -> float:
    """Return the direction of travel over the floor, rad; the yaw at standstill."""
    heading = moment.place[2]
    if moment.twist is not None and math.hypot(*moment.twist[:2]) > 0.0:
        heading += math.atan2(moment.twist[1], moment.twist[0])
    return heading


def _view(robot: CasterRobot, moment: Moment, heading: float) -> View:
    """Return a view from above that shows the lines around the robot, along `heading`, rad."""
    reach = float(np.hypot(*robot.hip_position.T).max() + robot.caster_offset.max())
    # from behind and aside, so that the path ahead goes to the upper right
    return View((*moment.place[:2], View().target[2]), 6.2 * reach, heading + math.radians(35),
                math.radians(48))


def _paths(source: BagSource, time: float) -> dict[str, Array]:
    """Return the paths that are drawn (k, 2): driven, ahead, and the true one if it differs."""
    driven = source.driven(time)
    whole = source.path if len(source.path) else source.truth
    paths = {'driven': driven, 'ahead': whole[max(0, len(driven) - 1):]}
    if source.apart:
        paths['truth'] = source.truth
    # paths shorter than 3 cm are not seen
    return {name: path for name, path in paths.items()
            if len(path) > 1 and np.hypot(*np.diff(path, axis=0).T).sum() > 0.03}


def _goal(robot: CasterRobot) -> list[Shape]:
    """Return a ring on the floor and an arrow, in the frame of the goal."""
    reach = 0.5 * float(np.hypot(*robot.hip_position.T).max())
    centre, tip = np.array([[0.0, 0.0, 2 * LIFT], [1.9 * reach, 0.0, 2 * LIFT]])
    return [Arc('goal', 'goal', colour(AIM), centre, reach, 0.0, 2 * math.pi, 0.02),
            Arrow('goal', 'goal', colour(AIM), centre, tip, 0.03)]


def run_picture(log: RunLog, path: str | Path, robot: str | Path = 'c3p',
                size: Sequence[int] = SIZE) -> Path:
    """
    Write one picture with the path of a run and the robot at places that do not overlap.

    Parameters
    ----------
    log : RunLog
    path, robot, size
        PNG; name or path of the robot's description; width and height, pixels.

    Raises
    ------
    PictureError
        As `Studio`; also when the log has neither true poses nor odometry.
    """
    run = _PicturedRun(log)
    with CasterStudio(robot, size) as studio:
        times = run.apart(studio.breadth)
        return write_png(path, studio.draw(*run.at(times), path=run.poses[:, :2]))


def film(log: RunLog, path: str | Path, robot: str | Path = 'c3p', *, speed: float = 1.0,
         size: Sequence[int] = SIZE,
         progress: Callable[[float], None] = lambda done: None) -> Path:
    """
    Write a film of a run.

    Parameters
    ----------
    log, robot, size
        As for `run_picture`; even sizes.
    path : str or Path
        MP4 or GIF.
    speed : float
        Robot time per time of the film; 0.2 is slow motion.
    progress : callable
        Takes the fraction that is done, 0 to 1.

    Raises
    ------
    PictureError
        As `run_picture`; also when imageio or its ffmpeg is missing.
    ValueError
        A speed that is not positive.
    """
    check_speed(speed)
    run = _PicturedRun(log)
    path = Path(path)
    times = np.arange(run.times[0], run.times[-1], speed / FRAME_RATE)
    with FilmWriter(path, FRAME_RATE) as writer, CasterStudio(robot, size) as studio:
        view = studio.overview(run.poses)
        for k, time in enumerate(times):
            writer.add(studio.draw(*run.at(np.array([time])),
                                   path=run.poses[run.times <= time, :2], view=view))
            progress((k + 1) / len(times))
    return path


class _PicturedRun:
    """Poses and angles of a run at any time."""

    def __init__(self, log: RunLog) -> None:
        motion = log.ground_truth or log.odom
        if motion is None or not len(motion.time) or not len(log.joints.time):
            raise PictureError(f'{log.path}: no true poses, no odometry or no joint states, so '
                               'nothing can be drawn')
        self.times, self.poses, self._joints = motion.time, motion.pose, log.joints

    def apart(self, distance: float) -> Array:
        """Return times of places along the path that are `distance` m apart."""
        along = np.concatenate([[0.0], np.cumsum(np.hypot(
            *np.diff(self.poses[:, :2], axis=0).T))])
        count = min(MOST_PLACES, 1 + int(along[-1] / distance))
        times = self.times[np.searchsorted(along, np.linspace(0.0, along[-1], count))]
        # the last place is where the run ends, also after a long standstill there
        times[-1] = self.times[-1]
        return times

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return poses (k, 3), steering and wheel angles (k, n) at `times` (k,)."""
        joints = self._joints
        poses, steering, wheel_angle = (
            np.column_stack([np.interp(times, known, column) for column in values.T])
            for known, values in ((self.times, self.poses), (joints.time, joints.steering),
                                  (joints.time, joints.wheel_angle)))
        return poses, steering, wheel_angle
