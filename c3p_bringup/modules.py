# SPDX-License-Identifier: Apache-2.0
"""Modules that the suite imports, and how an installation that lacks one gets it."""

from __future__ import annotations

# module → extra of setup.py that brings it; other packages than these have the names of some
EXTRAS = {
    **dict.fromkeys(('mujoco', 'xacro'), 'sim'),
    **dict.fromkeys(('OpenGL', 'glfw', 'imageio', 'imageio_ffmpeg'), 'film'),
    **dict.fromkeys(('rerun', 'foxglove', 'trimesh', 'collada'), 'view'),
    **dict.fromkeys(('can', 'canopen', 'serial'), 'hardware'),
    **dict.fromkeys(('dask', 'distributed', 'pandas', 'pyarrow', 'cma'), 'campaign'),
}


def how_to_have(module: str) -> str:
    """Return the remedy for a missing `module`; one that is in no extra is always required."""
    # its package imports NumPy, for which the help of a command need not wait
    from c3p_description.reading.how_to_install import how_to_install

    if module == 'rclpy':
        return f'install ROS 2 and source its setup file, or {how_to_install("jazzy")}'
    return how_to_install(EXTRAS.get(module, ''))
