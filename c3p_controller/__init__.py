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

__all__ = ['law_named', 'law_names']

# laws of the suite, in the form of an entry point. setup.py has the same for tools that list entry
# points; the suite reads this table, which no build can lack
BUILT_IN = {
    'paper': 'c3p_controller.paper.velocity:PaperLaw',
    'mpc': 'c3p_controller.predictive.controller:PredictiveController',
}

CONTROLLERS = tuple(BUILT_IN)


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
