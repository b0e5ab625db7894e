# SPDX-License-Identifier: Apache-2.0
"""
A robot drawn by MuJoCo without a screen, as its URDF describes it; nothing is simulated.

The ground is a checkered floor, or a height field of a terrain. Drawing needs OpenGL (opengl.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from c3p_description.model import Array, ArrayField
from c3p_description.reading.loader import robot_description
from c3p_viewers.mujoco.opengl import gl_context, import_mujoco
from c3p_viewers.mujoco.terrain import GroundRectangle
from c3p_viewers.mujoco.urdf import mujoco_urdf
from c3p_viewers.mujoco.view import View
from c3p_viewers.scene.colours import Colour

SIZE = (1280, 720)

# geoms of a picture: a dozen robots of some 40 shapes, and paths
MOST_SHAPES = 4000

# colours of the floor, and of the sky from above to below
FLOOR = ((0.66, 0.67, 0.69), (0.59, 0.60, 0.63))
SKY = ((0.92, 0.94, 0.97), (0.55, 0.66, 0.80))
WHITE = ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
# directions of sunlight; slopes are distinguished by light from the side of the camera
FLOOR_SUN = (-0.55, -0.15, -1.0)
GROUND_SUN = (-0.42, 0.50, -0.76)
# tyres are darker than this, rims and spokes lighter
RIM = 0.4


class RobotPlacement(NamedTuple):
    """
    A robot somewhere.

    Attributes
    ----------
    position : (3,), m
        Of the root link.
    rotation : (4,)
        Unit quaternion w, x, y, z.
    joints : mapping
        Joint name → position of the URDF, rad.
    """

    position: ArrayField
    rotation: ArrayField
    joints: Mapping[str, float]


Entered = TypeVar('Entered', bound='Studio')


class Studio:
    """
    Draws one robot in any placements, several times in one picture if requested.

    Parameters
    ----------
    robot : str or Path
        Name or path of the description, as for `loader.load`.
    size : (2,) sequence of int, pixels
        Width and height.
    ground : GroundRectangle, optional
        Default: a level floor.
    sky : two colours
    rims : mapping, optional
        Wheel link → colour of its rim and spokes, which distinguishes the wheels.

    Raises
    ------
    PictureError
        No OpenGL, no MuJoCo or no xacro.
    ModelError
        As `loader.load`.
    """

    def __init__(self, robot: str | Path = 'c3p', size: Sequence[int] = SIZE,
                 ground: GroundRectangle | None = None, sky: Sequence[Sequence[float]] = SKY,
                 rims: Mapping[str, Colour] | None = None) -> None:
        """Open an OpenGL context and load the robot's shapes."""
        self._mj = mj = import_mujoco()
        self._size = int(size[0]), int(size[1])
        self.model = studio_model(robot, self._size, ground, sky, rims or {})
        self._data = mj.MjData(self.model)
        self._context = gl_context(*self._size)
        self._context.make_current()
        self._drawing = mj.MjrContext(self.model, mj.mjtFontScale.mjFONTSCALE_100)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self._scene = mj.MjvScene(self.model, MOST_SHAPES)
        self._option = mj.MjvOption()
        # collision shapes are in group 0, visual ones in group 1, the ground in group 2
        self._option.geomgroup[:] = [0, 1, 1, 0, 0, 0]

    def __enter__(self: Entered) -> Entered:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Release the OpenGL context."""
        self._drawing.free()
        self._context.free()

    def picture(self, placements: Sequence[RobotPlacement], view: View,
                decorate: Callable[[Any], None] = lambda scene: None) -> Array:
        """
        Return a picture of the robot in each of some placements.

        Parameters
        ----------
        placements : sequence of RobotPlacement
        view : View
        decorate : callable
            Takes MuJoCo's ``MjvScene`` of the picture and may add shapes to it.

        Returns
        -------
        (height, width, 3) array of uint8
        """
        mj = self._mj
        scene = self._scene
        model = self.model
        camera = self._camera(view)
        # the shadow map of the sun extends beyond the view, about the sun's position: beyond its
        # edge the ground would be speckled
        model.stat.extent = self._drawing.shadowClip = 2.0 * view.distance
        model.light_pos[0] = view.target - 3.0 * view.distance * model.light_dir[0]
        for k, placement in enumerate(placements):
            self._place(placement)
            if k == 0:
                mj.mjv_updateScene(model, self._data, self._option, None, camera,
                                   mj.mjtCatBit.mjCAT_ALL, scene)
            else:
                mj.mjv_addGeoms(model, self._data, self._option, mj.MjvPerturb(),
                                mj.mjtCatBit.mjCAT_DYNAMIC, scene)
        decorate(scene)
        pixels = np.empty((self._size[1], self._size[0], 3), np.uint8)
        self._context.make_current()
        mj.mjr_render(mj.MjrRect(0, 0, *self._size), scene, self._drawing)
        mj.mjr_readPixels(pixels, None, mj.MjrRect(0, 0, *self._size), self._drawing)
        # OpenGL counts rows from below
        return pixels[::-1]

    def _camera(self, view: View) -> Any:
        """Return MuJoCo's camera of a view."""
        camera = self._mj.MjvCamera()
        camera.lookat[:], camera.distance = view.target, view.distance
        # MuJoCo's elevation is that of the line of sight, which looks down
        camera.azimuth, camera.elevation = np.degrees([view.azimuth, -view.elevation])
        self.model.vis.global_.fovy = np.degrees(view.opening)
        return camera

    def _place(self, placement: RobotPlacement) -> None:
        mj = self._mj
        data = self._data
        set_placement(self.model, data, placement)
        mj.mj_kinematics(self.model, data)
        mj.mj_comPos(self.model, data)
        mj.mj_camlight(self.model, data)


def set_placement(model: Any, data: Any, placement: RobotPlacement) -> None:
    """Write a placement into MuJoCo's coordinates ``qpos`` of a `studio_model`."""
    data.qpos[:3], data.qpos[3:7] = placement.position, placement.rotation
    for name, position in placement.joints.items():
        data.qpos[model.joint(name).qposadr[0]] = position


def studio_model(robot: str | Path, size: Sequence[int] = SIZE,
                 ground: GroundRectangle | None = None, sky: Sequence[Sequence[float]] = SKY,
                 rims: Mapping[str, Colour] | None = None) -> Any:
    """
    Return MuJoCo's model of a robot, free to move, between ground, sky and lamps.

    Parameters
    ----------
    robot, ground, sky, rims
        As for `Studio`.
    size : (2,) sequence of int, pixels
        Of the largest picture.

    Raises
    ------
    PictureError
        No MuJoCo, or no xacro.
    """
    mj = import_mujoco()
    text, meshes = mujoco_urdf(robot_description(robot), robot)
    spec = mj.MjSpec.from_string(text)
    spec.assets = meshes
    root = spec.worldbody.first_body()
    root.add_freejoint()
    # MuJoCo requires mass of what moves, also of a frame without a body; nothing is simulated
    root.mass = 1.0
    root.inertia = [1.0, 1.0, 1.0]
    root.explicitinertial = True
    root.fullinertia = np.full(6, np.nan)
    # nor does it matter that inertias of others may be those of no body
    spec.compiler.balanceinertia = True
    spec.compiler.boundmass = spec.compiler.boundinertia = 1e-6
    for link, colour in (rims or {}).items():
        for shape in spec.body(link).geoms:
            if max(shape.rgba[:3]) > RIM:
                shape.rgba = colour
    for k, colour in enumerate({tuple(shape.rgba) for shape in spec.geoms}):
        spec.add_material(name=f'paint_{k}', rgba=colour, specular=0.35, shininess=0.4)
        for shape in spec.geoms:
            if tuple(shape.rgba) == colour:
                shape.material = f'paint_{k}'
    if ground is None:
        _add_floor(mj, spec)
    else:
        ground.add_to(mj, spec)
    _add_light(mj, spec, sky, FLOOR_SUN if ground is None else GROUND_SUN)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = int(size[0]), int(size[1])
    spec.visual.quality.shadowsize = 4096
    spec.visual.quality.offsamples = 4
    spec.visual.map.znear = 0.01
    return spec.compile()


def _add_floor(mj: Any, spec: Any) -> None:
    """Add a checkered floor of half metres."""
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


def _add_light(mj: Any, spec: Any, sky: Sequence[Sequence[float]], sun: Sequence[float]
               ) -> None:
    """Add the sky, a sun that casts shadows, and a weaker lamp from the other side."""
    spec.add_texture(name='sky', type=mj.mjtTexture.mjTEXTURE_SKYBOX, width=256, height=1536,
                     builtin=mj.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=sky[0], rgb2=sky[1])
    spec.worldbody.add_light(type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4],
                             dir=sun, diffuse=[0.68, 0.67, 0.65],
                             specular=[0.35, 0.35, 0.35], castshadow=True)
    spec.worldbody.add_light(type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4],
                             dir=[0.5, 0.5, -0.6], diffuse=[0.22, 0.23, 0.26],
                             specular=[0.0, 0.0, 0.0], castshadow=False)
    spec.visual.headlight.ambient = [0.38, 0.38, 0.40]
    spec.visual.headlight.diffuse = [0.12, 0.12, 0.12]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
