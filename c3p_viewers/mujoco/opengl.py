# SPDX-License-Identifier: Apache-2.0
"""MuJoCo and OpenGL contexts without a window: EGL, else OSMesa, or what ``MUJOCO_GL`` names."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

from c3p_description.reading.how_to_install import how_to_install
from c3p_simulation.contact_plant.installed_mujoco import installed_mujoco
from c3p_viewers.screen import PictureError

# backends and what they need, in the order in which they are tried
BACKENDS = {'egl': 'libegl1 (Debian, Ubuntu)', 'osmesa': 'libosmesa6 (Debian, Ubuntu)',
            'glfw': 'a screen'}

# modules that MuJoCo's pictures and its window import, and the packages that bring them
PACKAGES = {'OpenGL': 'pyopengl', 'glfw': 'glfw'}


def import_mujoco() -> Any:
    """
    Return the module mujoco.

    Raises
    ------
    PictureError
        It is not installed, or damaged; the text has the remedy.
    """
    try:
        return installed_mujoco('pictures need', 'film')
    except ImportError as error:
        raise PictureError(f'{error}') from None


def require_modules(*names: str) -> None:
    """
    Check that Python modules among `PACKAGES` are installed.

    Raises
    ------
    PictureError
        One is not; the text has the remedy.
    """
    absent = [PACKAGES[name] for name in names if importlib.util.find_spec(name) is None]
    if absent:
        raise PictureError(f'MuJoCo draws with {" and ".join(absent)}, which '
                           f'{"is" if len(absent) == 1 else "are"} not installed: '
                           f'{how_to_install("film")}')


def gl_context(width: int, height: int) -> Any:
    """
    Return an OpenGL context without a window, of the first backend that works.

    Parameters
    ----------
    width, height : int, pixels

    Raises
    ------
    PictureError
        No backend works; the text has the reason of each.
    """
    wanted = os.environ.get('MUJOCO_GL', '').lower()
    require_modules('glfw' if wanted == 'glfw' else 'OpenGL')
    failures = []
    for name in [wanted] if wanted in BACKENDS else BACKENDS:
        if name == 'glfw' and not wanted and not os.environ.get('DISPLAY'):
            failures.append('glfw: DISPLAY names no screen')
            continue
        # PyOpenGL reads the platform once, and MuJoCo refuses another one
        before = os.environ.get('PYOPENGL_PLATFORM')
        try:
            return importlib.import_module(f'mujoco.{name}').GLContext(width, height)
        except Exception as error:  # whatever incomplete libraries raise
            failures.append(f'{name}: {error or type(error).__name__}')
            if before is None:
                os.environ.pop('PYOPENGL_PLATFORM', None)
    needed = ', or '.join(f'{name} with {what}' for name, what in BACKENDS.items())
    raise PictureError(f'no OpenGL ({"; ".join(failures)}); pictures need one of: {needed}. '
                       'MUJOCO_GL chooses')


def require_renderer() -> None:
    """
    Check that pictures can be drawn here.

    Raises
    ------
    PictureError
        No MuJoCo or no OpenGL; the text has the remedy.
    """
    import_mujoco()
    gl_context(16, 16).free()
