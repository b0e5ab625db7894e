# SPDX-License-Identifier: Apache-2.0
"""Meshes of a description → trimesh; what cannot be read without risk is left out."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from c3p_description.model import ModelError
from c3p_description.reading.mesh_files import mesh_file

# formats that are read; others are left out
READ = ('.stl', '.obj', '.dae')
# of all shapes of a robot together
MOST_TRIANGLES = 1_000_000


def import_trimesh() -> Any:
    """
    Return the module trimesh.

    Raises
    ------
    ModelError
        It is not installed; the text has the remedy.
    """
    try:
        import trimesh
    except ImportError:
        raise ModelError('the shapes of a robot need trimesh; install it with '
                         '`pip install c3p[view]` or `pip install trimesh`') from None
    return trimesh


def read_mesh(uri: str, robot: str | Path = '') -> Any:
    """
    Return a mesh as a trimesh, or None if it is missing or damaged.

    Only the named file is read, and none that it names itself, such as materials.

    Parameters
    ----------
    uri, robot
        As for `mesh_file`.
    """
    trimesh = import_trimesh()
    try:
        path = mesh_file(uri, robot)
        kind = path.suffix.lower()
        if kind not in READ:
            return None
        data = path.read_bytes()
        if kind == '.dae':
            _check_collada(data)
        mesh = trimesh.load(io.BytesIO(data), file_type=kind[1:], force='mesh', process=False)
        corners = np.asarray(mesh.triangles, float)
    # a damaged mesh shows itself by whatever its bytes happen to mean
    except Exception:
        return None
    fine = corners.shape[1:] == (3, 3) and len(corners) and np.isfinite(corners).all()
    return mesh if fine else None


def _check_collada(data: bytes) -> None:
    """Refuse entities, which can name other files, and parts that repeat parts."""
    def refuse(name: str, *_: Any) -> None:
        raise ValueError(f'COLLADA with {name}')

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: name.endswith('instance_node') and refuse(name)
    parser.Parse(data, True)
