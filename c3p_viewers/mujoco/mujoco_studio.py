# SPDX-License-Identifier: Apache-2.0
"""
The robot as it looks, drawn by MuJoCo without a screen.

What is drawn is the URDF of the robot's description, so it looks as in RViz; nothing here moves.
Drawing needs OpenGL: EGL (a graphics card or Mesa), else OSMesa, or what ``MUJOCO_GL`` names.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_description.reading.loader import load, robot_description
from c3p_simulation.contact_plant.mujoco_plant import import_mujoco
from c3p_viewers.mujoco.mujoco_urdf import mujoco_urdf

SIZE = (1280, 720)

# what may be drawn at once: a dozen robots of some 40 shapes, and a path; length of its pieces, m
MOST_SHAPES, PIECE = 4000, 0.03

# colours of floor, sky and path
FLOOR = ((0.66, 0.67, 0.69), (0.59, 0.60, 0.63))
SKY = ((0.92, 0.94, 0.97), (0.55, 0.66, 0.80))
PATH = (0.90, 0.32, 0.12, 1.0)

# how the ways to OpenGL come about, in the order in which they are tried
BACKENDS = {'egl': 'libegl1 (Debian, Ubuntu)', 'osmesa': 'libosmesa6 (Debian, Ubuntu)',
            'glfw': 'a screen'}

NO_MUJOCO = ('pictures need MuJoCo; install it with `pip install c3p[sim]` or '
             '`pip install mujoco`')


class PictureError(ValueError):
    """A picture that cannot be drawn here; the text says what is missing."""


class View(NamedTuple):
    """
    Where a picture is taken from.

    Attributes
    ----------
    centre : (2,), m
        What it looks at, on the floor.
    distance : float, m
    azimuth, elevation : float, rad
        Of the line of sight: azimuth from the floor's +X, elevation above the horizon.
    """

    centre: Sequence[float] = (0.0, 0.0)
    distance: float = 1.7
    azimuth: float = math.radians(-125)
    elevation: float = math.radians(28)


class Studio:
    """
    Draws one robot in any pose, several times in one picture if asked to.

    Parameters
    ----------
    robot : str or Path
        Name or path of the description, as for `loader.load`.
    size : (2,) sequence of int, pixels
        Width and height.

    Raises
    ------
    PictureError
        No OpenGL, no MuJoCo or no xacro.
    ModelError
        As `loader.load`.

    Examples
    --------
    ::

        with Studio('c3p') as studio:
            pixels = studio.draw([(0.0, 0.0, 0.3)], [[0.1, 0.2, 0.3]])
    """

    def __init__(self, robot: str | Path = 'c3p', size: Sequence[int] = SIZE) -> None:
        """Open an OpenGL context and load the robot's shapes."""
        try:
            self._mj = mj = import_mujoco()
        except ValueError:
            raise PictureError(NO_MUJOCO) from None
        self._size = int(size[0]), int(size[1])
        self._robot = load(robot)
        self._model = _model(mj, robot, self._size)
        self._data = mj.MjData(self._model)
        self._joints = [[self._model.joint(name).qposadr[0] for name in names] for names in (
            self._robot.steering_joints, self._robot.wheel_joints)]
        self._context = _context(*self._size)
        self._context.make_current()
        self._drawing = mj.MjrContext(self._model, mj.mjtFontScale.mjFONTSCALE_100)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self._scene = mj.MjvScene(self._model, MOST_SHAPES)
        self._option = mj.MjvOption()
        # collision shapes are in group 0, what is looked at in group 1
        self._option.geomgroup[:] = [0, 1, 1, 0, 0, 0]

    def __enter__(self) -> Studio:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Give the OpenGL context back."""
        self._drawing.free()
        self._context.free()

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
            Else one that looks at the middle of all poses and of the path.
        decorate : callable
            Takes MuJoCo's ``MjvScene`` of the picture and may add shapes to it.

        Returns
        -------
        (height, width, 3) array of uint8
        """
        mj, scene = self._mj, self._scene
        poses = np.atleast_2d(np.asarray(poses, float))
        shape = len(poses), self._robot.count
        angles = [np.broadcast_to(np.asarray(value, float), shape)
                  for value in (steering, wheel_angle)]
        view = view or self.overview(poses, path)
        camera = _camera(mj, view)
        # the sun's shadow map reaches farther than the view, around the place of the sun: beyond
        # its edge the floor would be speckled
        self._model.stat.extent = self._drawing.shadowClip = 2.0 * view.distance
        self._model.light_pos[0] = (np.array([*view.centre, 0.0])
                                    - 3.0 * view.distance * self._model.light_dir[0])
        for k, pose in enumerate(poses):
            self._place(pose, angles[0][k], angles[1][k])
            if k == 0:
                mj.mjv_updateScene(self._model, self._data, self._option, None, camera,
                                   mj.mjtCatBit.mjCAT_ALL, scene)
            else:
                mj.mjv_addGeoms(self._model, self._data, self._option, mj.MjvPerturb(),
                                mj.mjtCatBit.mjCAT_DYNAMIC, scene)
        if path is not None and len(path) > 1:
            # as broad as it can be seen from there
            self._add_path(np.asarray(path, float), 0.002 * view.distance)
        decorate(scene)
        pixels = np.empty((self._size[1], self._size[0], 3), np.uint8)
        self._context.make_current()
        mj.mjr_render(mj.MjrRect(0, 0, *self._size), scene, self._drawing)
        mj.mjr_readPixels(pixels, None, mj.MjrRect(0, 0, *self._size), self._drawing)
        # OpenGL counts rows from below
        return pixels[::-1]

    @property
    def model(self) -> Any:
        """MuJoCo's ``MjModel`` of the robot between floor, sky and lamps."""
        return self._model

    @property
    def breadth(self) -> float:
        """Diameter, m, of a circle around ``base_link`` that holds the robot."""
        robot = self._robot
        reach = np.hypot(*robot.hip_position.T) + robot.caster_offset + robot.wheel_radius
        return 2 * float(np.max(reach))

    def overview(self, poses: ArrayLike, path: ArrayLike | None = None) -> View:
        """Return a view of the robot in all `poses` (k, 3), and of a `path` (m, 2)."""
        points = np.atleast_2d(np.asarray(poses, float))[:, :2]
        if path is not None and len(path):
            points = np.vstack([points, path])
        low, high = points.min(axis=0), points.max(axis=0)
        return View(tuple((low + high) / 2), 1.4 * self.breadth + 0.85 * math.hypot(*(high - low)))

    def _place(self, pose: Array, steering: Array, wheel_angle: Array) -> None:
        """Put the robot there; joints as the description counts them."""
        robot, half = self._robot, pose[2] / 2
        self._data.qpos[:7] = [*pose[:2], 0, math.cos(half), 0, 0, math.sin(half)]
        self._data.qpos[self._joints[0]] = robot.steering_sign * (steering - robot.steering_zero)
        self._data.qpos[self._joints[1]] = robot.wheel_sign * wheel_angle
        self._mj.mj_kinematics(self._model, self._data)
        self._mj.mj_comPos(self._model, self._data)
        self._mj.mj_camlight(self._model, self._data)

    def _add_path(self, path: Array, radius: float) -> None:
        """Add a line of `radius` m through the points of `path` (m, 2)."""
        mj, scene = self._mj, self._scene
        way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
        pieces = min(1 + int(way[-1] / PIECE), MOST_SHAPES - scene.ngeom)
        marks = np.linspace(0.0, way[-1], pieces + 1)
        points = np.column_stack([np.interp(marks, way, path[:, 0]),
                                  np.interp(marks, way, path[:, 1]), np.full(len(marks), 0.002)])
        for a, b in zip(points, points[1:], strict=False):
            shape = scene.geoms[scene.ngeom]
            mj.mjv_initGeom(shape, mj.mjtGeom.mjGEOM_CAPSULE, np.zeros(3), np.zeros(3),
                            np.zeros(9), np.array(PATH, np.float32))
            mj.mjv_connector(shape, mj.mjtGeom.mjGEOM_CAPSULE, radius, a, b)
            shape.category = mj.mjtCatBit.mjCAT_DECOR
            scene.ngeom += 1


def studio_model(robot: str | Path, size: Sequence[int] = SIZE) -> Any:
    """
    Return MuJoCo's model of a robot between floor, sky and lamps, for a window.

    Parameters
    ----------
    robot : str or Path
        Description that tells how it looks.
    size : (2,) sequence of int, pixels
        Of the largest picture.

    Raises
    ------
    PictureError
        No MuJoCo, or no xacro.
    """
    try:
        mj = import_mujoco()
    except ValueError:
        raise PictureError(NO_MUJOCO) from None
    return _model(mj, robot, (int(size[0]), int(size[1])))


def _camera(mj: Any, view: View) -> Any:
    """Return MuJoCo's camera of a view."""
    camera = mj.MjvCamera()
    camera.lookat[:] = [*view.centre, 0.06]
    camera.distance = view.distance
    # MuJoCo's elevation is that of the line of sight, which looks down
    camera.azimuth, camera.elevation = math.degrees(view.azimuth), -math.degrees(view.elevation)
    return camera


def _model(mj: Any, robot: str | Path, size: tuple[int, int]) -> Any:
    """Return the URDF of a robot, free to move, between floor, sky and lamps."""
    text, meshes = mujoco_urdf(robot_description(robot), robot)
    spec = mj.MjSpec.from_string(text)
    spec.assets = meshes
    root = spec.worldbody.first_body()
    root.add_freejoint()
    # what moves must weigh something, also a frame without a body; nothing is computed with it
    root.mass, root.inertia, root.explicitinertial = 1.0, [1.0, 1.0, 1.0], True
    for k, colour in enumerate({tuple(shape.rgba) for shape in spec.geoms}):
        spec.add_material(name=f'paint_{k}', rgba=colour, specular=0.35, shininess=0.4)
        for shape in spec.geoms:
            if tuple(shape.rgba) == colour:
                shape.material = f'paint_{k}'
    _add_surroundings(mj, spec)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.quality.shadowsize, spec.visual.quality.offsamples = 4096, 4
    spec.visual.map.znear = 0.01
    return spec.compile()


def _add_surroundings(mj: Any, spec: Any) -> None:
    """Add a checkered floor of half metres, sky and lamps."""
    spec.add_texture(name='sky', type=mj.mjtTexture.mjTEXTURE_SKYBOX, width=256, height=1536,
                     builtin=mj.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=SKY[0], rgb2=SKY[1])
    spec.add_texture(name='tiles', type=mj.mjtTexture.mjTEXTURE_2D, width=512, height=512,
                     builtin=mj.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=FLOOR[0], rgb2=FLOOR[1],
                     mark=mj.mjtMark.mjMARK_EDGE, markrgb=(0.72, 0.73, 0.75))
    floor = spec.add_material(name='floor', reflectance=0.05, specular=0.2, shininess=0.3,
                              texrepeat=[1.0, 1.0], texuniform=True)
    textures = list(floor.textures)
    textures[mj.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
    floor.textures = textures
    spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], material='floor',
                            group=2)
    # a sun that casts shadows, and a weaker one from the other side
    spec.worldbody.add_light(type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4],
                             dir=[-0.55, -0.15, -1.0], diffuse=[0.68, 0.67, 0.65],
                             specular=[0.35, 0.35, 0.35], castshadow=True)
    spec.worldbody.add_light(type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4],
                             dir=[0.5, 0.5, -0.6], diffuse=[0.22, 0.23, 0.26],
                             specular=[0.0, 0.0, 0.0], castshadow=False)
    spec.visual.headlight.ambient = [0.38, 0.38, 0.40]
    spec.visual.headlight.diffuse = [0.12, 0.12, 0.12]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]


def _context(width: int, height: int) -> Any:
    """Return an OpenGL context without a window, of the first backend that gives one."""
    wanted = os.environ.get('MUJOCO_GL', '').lower()
    failures = []
    for name in [wanted] if wanted in BACKENDS else BACKENDS:
        if name == 'glfw' and not wanted and not os.environ.get('DISPLAY'):
            failures.append('glfw: DISPLAY names no screen')
            continue
        # PyOpenGL asks for the platform once, and MuJoCo refuses another one
        before = os.environ.get('PYOPENGL_PLATFORM')
        try:
            return importlib.import_module(f'mujoco.{name}').GLContext(width, height)
        except Exception as error:  # whatever libraries that are half there raise
            failures.append(f'{name}: {error or type(error).__name__}')
            if before is None:
                os.environ.pop('PYOPENGL_PLATFORM', None)
    needed = ', or '.join(f'{name} with {what}' for name, what in BACKENDS.items())
    raise PictureError(f'no OpenGL ({"; ".join(failures)}); pictures need one of: {needed}. '
                       'MUJOCO_GL chooses')
