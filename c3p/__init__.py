# SPDX-License-Identifier: Apache-2.0
"""
The names that most programs need, in one place; each is imported on first use.

``load`` reads a robot, ``Odometry`` estimates its motion from joint samples, ``simulate`` drives
it to goals, ``Bag`` opens a recording, ``drive_metrics`` measures a drive. Controllers and plants
by name are ``make_controller`` and ``make_plant``. Everything else is in the packages ``c3p_…``
(docs/versions.md lists what is public).

Examples
--------
>>> import c3p
>>> log = c3p.simulate('c3p', [(0.5, 0.0, 0.0)])
>>> bool(log.ended)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c3p_bags.runs.metrics import drive_metrics
    from c3p_bags.storage.bag import Bag
    from c3p_description import CasterRobot, load
    from c3p_experiments.loop.controllers import make_controller
    from c3p_experiments.loop.simulate import simulate
    from c3p_kinematics.odometry import Odometry
    from c3p_simulation.make_plant import make_plant

__all__ = ['Bag', 'CasterRobot', 'Odometry', 'drive_metrics', 'load', 'make_controller',
           'make_plant', 'simulate']

MODULES = {'Bag': 'c3p_bags.storage.bag', 'CasterRobot': 'c3p_description',
           'Odometry': 'c3p_kinematics.odometry', 'drive_metrics': 'c3p_bags.runs.metrics',
           'load': 'c3p_description', 'make_controller': 'c3p_experiments.loop.controllers',
           'make_plant': 'c3p_simulation.make_plant',
           'simulate': 'c3p_experiments.loop.simulate'}


def __getattr__(name: str) -> Any:
    """Import a name of `__all__`."""
    if name not in MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; it has '
                             f'{", ".join(__all__)}')
    return getattr(import_module(MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the names for completion."""
    return sorted(__all__)
