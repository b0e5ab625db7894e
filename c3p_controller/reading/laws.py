# SPDX-License-Identifier: Apache-2.0
"""
Laws by name: those of the suite, and those of installed packages by their entry points.

Another package declares a law in the group ``c3p.controllers`` of its entry points, ``name =
module:Class``. Only packages that are installed are searched, and a module is imported when its
law is named, so that neither a parameter file nor an option can name code. A law that cannot be
used is an error of that law alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple

from c3p_controller import BUILT_IN

if TYPE_CHECKING:
    from c3p_controller.control_law import ControlLaw

GROUP = 'c3p.controllers'

# the distribution of the suite: its own entry points may be of another version than the sources,
# or missing, and are not used
OWN = 'c3p-robots'

# the name of a law is also that of a group of parameters
NAME = re.compile('[A-Za-z][A-Za-z0-9_]*', re.ASCII)


class LawError(ValueError):
    """A law that cannot be used; the text has package, entry point and remedy."""


class LawEntry(NamedTuple):
    """Entry point of a law: its `name`, its `value` module:Class, and the `package` it is of."""

    name: str
    value: str
    package: str

    def __str__(self) -> str:
        """Return the text of the entry point for errors."""
        return (f'the entry point {self.name} = {self.value} ({GROUP}) of the package '
                f'{self.package}')

    def refusal(self, reason: str, remedy: str) -> LawError:
        """Return the error of this law."""
        return LawError(f'controller = {self.name}: {self} {reason}; {remedy}')


class Found(NamedTuple):
    """Entry points of other packages by name, and `troubles`, one text for each faulty one."""

    laws: Mapping[str, tuple[LawEntry, ...]]
    troubles: tuple[str, ...]


def installed_laws() -> Found:
    """Return the laws of installed packages; none is imported."""
    # an environment that changes, as in a test, has another path
    return _search(tuple(sys.path))


@cache
def _search(path: tuple[str, ...]) -> Found:
    laws: dict[str, tuple[LawEntry, ...]] = {}
    troubles = []
    packages: set[str] = set()
    for distribution in distributions(path=[*path]):
        try:
            text = distribution.read_text('entry_points.txt')
            if text is None or GROUP not in text:
                continue
            package = re.sub('[-_.]+', '-', distribution.metadata['Name']).lower()
            # the first on the path is the one whose modules are imported
            if package == OWN or package in packages:
                continue
            packages.add(package)
            entries = list(_entries(distribution, package))
        except Exception as error:  # the metadata of any package may be damaged
            troubles.append(f'entry points of {_place(distribution)} cannot be read '
                            f'({type(error).__name__}: {error}): its laws are left out; '
                            'install the package again')
            continue
        for entry in entries:
            if not NAME.fullmatch(entry.name) or iskeyword(entry.name):
                troubles.append(f'{entry}: the name must be one of a parameter, letters, digits '
                                'and underscores; the law is left out, rename the entry point')
            elif entry.name in BUILT_IN:
                troubles.append(f'{entry}: the suite has a law of this name, which is used; '
                                'rename the entry point')
            else:
                laws[entry.name] = (*laws.get(entry.name, ()), entry)
    for entries_of_name in laws.values():
        if len(entries_of_name) > 1:
            troubles.append(_twice(entries_of_name))
    return Found(laws, tuple(troubles))


def _entries(distribution: Distribution, package: str) -> Iterator[LawEntry]:
    for entry in distribution.entry_points.select(group=GROUP):
        yield LawEntry(entry.name, entry.value, package)


def _place(distribution: Distribution) -> str:
    return f'{getattr(distribution, "_path", distribution)}'


def _twice(entries: tuple[LawEntry, ...]) -> str:
    return (f'{" and ".join(map(str, entries))} have the same name; uninstall one of the '
            'packages, or rename its entry point')


def registered_names() -> tuple[str, ...]:
    """Return the names of all laws, those of the suite first; imports none."""
    return (*BUILT_IN, *sorted(installed_laws().laws))


def load_law(name: str) -> type[ControlLaw]:
    """Return the class of the law called `name`; errors as in `c3p_controller.law_named`."""
    if name in BUILT_IN:
        return _load(LawEntry(name, BUILT_IN[name], OWN))
    entries = installed_laws().laws.get(name, ())
    if not entries:
        raise LawError(f'controller = {name}: must be one of {", ".join(registered_names())}')
    if len(entries) > 1:
        raise LawError(f'controller = {name}: {_twice(entries)}')
    return _load(entries[0])


@cache
def _load(entry: LawEntry) -> type[ControlLaw]:
    try:
        law = EntryPoint(entry.name, entry.value, GROUP).load()
    except Exception as error:  # the code of another package may raise anything
        raise entry.refusal(f'cannot be imported ({type(error).__name__}: {error})',
                            f'correct {entry.package}, or install what it needs') from error
    if reason := defect(law):
        raise entry.refusal(reason, 'declare it as docs/own_law.md describes')
    return law


def defect(law: Any) -> str:
    """
    Return the reason for which `law` cannot be used: what it lacks, or an empty string.

    Examples
    --------
    >>> defect(dict)
    'is not a subclass of c3p_controller.control_law.ControlLaw'
    """
    from c3p_controller.control_law import ControlLaw
    from c3p_controller.goals.position_command import SHARED_GAINS, PositionLaw
    from c3p_controller.law_settings import SettingsError
    from c3p_controller.paper.velocity import PaperLaw

    if not (isinstance(law, type) and issubclass(law, ControlLaw)):
        return 'is not a subclass of c3p_controller.control_law.ControlLaw'
    if lacking := _lacking(law, 'previews', 'position'):
        return lacking
    if not (isinstance(law.position, type) and issubclass(law.position, PositionLaw)):
        return (f'has position = {law.position!r}, which is not a subclass of '
                'c3p_controller.goals.position_command.PositionLaw')
    if law.freedoms not in (2, 3):
        return f'has freedoms = {law.freedoms!r}, which must be 2 or 3'
    if law.inverse_dynamics and not issubclass(law, PaperLaw):
        return 'has inverse_dynamics = True, which needs a subclass of PaperLaw'
    for part, kind in (('', law), ('position: ', law.position)):
        if lacking := _lacking(kind, 'Settings'):
            return f'{part}{lacking}'
        try:
            kind.entries('law')
        except SettingsError as error:
            return f'{part}{error}'
    zone = SHARED_GAINS if law.position.zone is PositionLaw.zone else ('speed',)
    lacking = _lacking(law.position.Settings, *zone)
    return f'position: Settings {lacking}' if lacking else ''


def _lacking(kind: type, *names: str) -> str:
    """Return what a class lacks of `names` and of its abstract methods, '' where it is whole."""
    absent = [name for name in names if not hasattr(kind, name)]
    absent += sorted(getattr(kind, '__abstractmethods__', ()))
    return f'lacks {", ".join(absent)}' if absent else ''
