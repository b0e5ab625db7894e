# SPDX-License-Identifier: Apache-2.0
"""
Robot descriptions: parameters, URDF, meshes and layouts, and the models read from them.

``load('c3p')`` reads ``robots/c3p.yaml``, the one source of every parameter; it also takes the
path of a YAML, URDF or xacro file; ``describe`` returns the reader's notes with the robot.
``robot_description('c3p')`` is the URDF of the same robot.
``load('pvc_tricycle')`` is a tricycle for rough ground, ``load('agv')`` a vehicle with two driven
wheels and one caster.

Examples
--------
>>> from c3p_description import load
>>> load('c3p').total_mass
34.8
"""

from typing import Any

from c3p_description.agv_model import Agv
from c3p_description.model import CasterRobot, ModelError
from c3p_description.pvc_model import PvcTricycle

__all__ = ['Agv', 'CasterRobot', 'ModelError', 'PvcTricycle', 'describe', 'load',
           'robot_description']


def __getattr__(name: str) -> Any:
    """Import the readers of files on first use: the equations need only `model`."""
    if name in ('describe', 'load', 'robot_description'):
        from c3p_description.reading import loader
        return getattr(loader, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
