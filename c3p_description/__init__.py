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

from typing import TYPE_CHECKING, Any

from c3p_description.agv_model import Agv
from c3p_description.model import CasterRobot, ModelError
from c3p_description.pvc_model import PvcTricycle

__all__ = ['Agv', 'CasterRobot', 'ModelError', 'PvcTricycle', 'describe', 'load',
           'robot_description']


if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias, overload

    from c3p_description.reading.loader import Place, describe, robot_description

    Options: TypeAlias = Mapping[str, Any] | None

    @overload
    def load(name_or_path: Literal['amr', 'c3p', 'c3p_25kg', 'powered_caster', 'swerve',
                                   'tricycle_agv', 'twin'], options: Options = None
             ) -> CasterRobot: ...

    @overload
    def load(name_or_path: Literal['pvc', 'pvc_tricycle'], options: Options = None
             ) -> PvcTricycle: ...

    @overload
    def load(name_or_path: Literal['agv'], options: Options = None) -> Agv: ...

    @overload
    def load(name_or_path: Place, options: Options = None
             ) -> CasterRobot | PvcTricycle | Agv: ...

    def load(name_or_path: Place, options: Options = None) -> Any:
        """Stand for the function that `__getattr__` returns."""


def __getattr__(name: str) -> Any:
    """Import the readers of files on first use: the equations need only `model`."""
    if name in ('describe', 'load', 'robot_description'):
        from c3p_description.reading import loader
        return getattr(loader, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
