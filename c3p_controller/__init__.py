# SPDX-License-Identifier: Apache-2.0
"""
Torque laws and position laws: predictive control, the papers' cascade, laws of other packages.

``law_named('mpc')`` is the class of a law. A law of another package is found by its entry point in
the group ``c3p.controllers`` (docs/own_law.md); the laws of the suite need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from c3p_controller.control_law import ControlLaw
    from c3p_description.model import CasterRobot

__all__ = ['chosen_law', 'law_named', 'law_names']

# laws of the suite, in the form of an entry point. setup.py has the same for tools that list entry
# points; the suite reads this table, which no build can lack
BUILT_IN = {
    'paper': 'c3p_controller.paper.velocity:PaperLaw',
    'mpc': 'c3p_controller.predictive.controller:PredictiveController',
    'modules': 'c3p_controller.module_law:ModuleLaw',
}

CONTROLLERS = tuple(BUILT_IN)

# name of the choice of a law by the robot
AUTO = 'auto'


def chosen_law(name: str, robot: CasterRobot) -> str:
    """
    Return the law called `name`; with ``auto`` that of the robot.

    ``mpc`` of casters with all encoders, and ``modules`` of robots with other wheels.

    Examples
    --------
    >>> from c3p_description import load
    >>> chosen_law('auto', load('c3p')), chosen_law('auto', load('swerve'))
    ('mpc', 'modules')
    """
    if name != AUTO:
        return name
    return 'modules' if robot.other_wheels else 'mpc'


def law_names() -> tuple[str, ...]:
    """
    Return the names of all laws: those of the suite, then those of installed packages.

    Imports none of them.

    Examples
    --------
    >>> law_names()[:2]
    ('paper', 'mpc')
    """
    from c3p_controller.reading.laws import registered_names

    return registered_names()


def law_named(name: str) -> type[ControlLaw]:
    """
    Return the class of the law called `name`; imports it.

    Raises
    ------
    LawError
        An unknown name, or a law of another package that cannot be used: the text has the
        package, the entry point and the remedy.

    Examples
    --------
    >>> law_named('mpc').previews, law_named('paper').previews
    (True, False)
    """
    from c3p_controller.reading.laws import load_law

    return load_law(name)
