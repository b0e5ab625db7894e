# SPDX-License-Identifier: Apache-2.0
"""
Schema entries of the controller nodes that depend on the laws of installed packages.

The schema files describe the parameters of the laws of the suite. The names that ``controller``
allows, and the settings of a law of another package, are added when a node starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from c3p_controller import AUTO, BUILT_IN
from c3p_controller.law_settings import Parametrised
from c3p_controller.reading.laws import LawError, installed_laws, load_law, registered_names
from c3p_description.settings import violation
from c3p_ros.schema import Entries

CONTROLLER = 'controller'


def velocity_entries(schema: Entries, given: Mapping[str, Any]) -> Entries:
    """
    Return the entries that the velocity controller adds to its schema.

    Parameters
    ----------
    schema : mapping
        Entries of the schema files.
    given : mapping
        Parameters that the node was started with. The settings of a law are declared if the law is
        chosen, or if one of its parameters is given.

    Raises
    ------
    LawError
        A law that cannot be used, or whose name is that of another parameter.
    """
    return _controller(schema) | {name: entry for law in _wanted(schema, given)
                                  for name, entry in _own(schema, load_law(law), law)}


def position_entries(schema: Entries, given: Mapping[str, Any]) -> Entries:
    """Return the entries that the position controller adds; as `velocity_entries`."""
    return _controller(schema) | {name: entry for law in _wanted(schema, given)
                                  for name, entry in _own(schema, load_law(law).position, law)}


# of each node with a parameter ``controller``
ENTRIES = {'velocity_controller': velocity_entries, 'position_controller': position_entries}


def _controller(schema: Entries) -> dict[str, dict[str, Any]]:
    """Return the entry of ``controller`` with the names of all laws."""
    entry = dict(schema[CONTROLLER])
    if others := registered_names()[len(BUILT_IN):]:
        entry['validation'] = {'one_of<>': [[AUTO, *registered_names()]]}
        entry['description'] = (f'{entry["description"].strip()} Of installed packages: '
                                f'{", ".join(others)}.')
    return {CONTROLLER: entry}


def _wanted(schema: Entries, given: Mapping[str, Any]) -> list[str]:
    """Return the laws of other packages that are chosen or whose parameters are given."""
    groups = {name.partition('.')[0] for name in given if '.' in name}
    chosen = given.get(CONTROLLER, schema[CONTROLLER]['default_value'])
    return [name for name in installed_laws().laws if name == chosen or name in groups]


def _own(schema: Entries, kind: type[Parametrised], law: str
         ) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a law, or of its position law, that the schema files lack."""
    package, = {entry.package for entry in installed_laws().laws[law]}
    taken = {name.partition('.')[0] for name in schema}
    for name, entry in kind.entries(law).items():
        if law in taken:
            raise LawError(f'controller = {law}: the package {package} gives a law the name of '
                           f'the parameter or group {law} of the node; rename its entry point')
        if reason := violation(name, entry, entry['default_value']):
            raise LawError(f'controller = {law}: the default of {kind.__name__}.Settings in the '
                           f'package {package}: {reason}; correct the default or its bounds')
        yield name, entry
