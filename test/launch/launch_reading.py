# SPDX-License-Identifier: Apache-2.0
"""What a launch file would start and what it declares, without starting anything."""

from pathlib import Path

import yaml
from launch.actions import ExecuteProcess, RegisterEventHandler  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
from launch.utilities import perform_substitutions  # noqa: E402
from launch_ros.actions import Node  # noqa: E402

from launch import Action, LaunchContext  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def describe(file, context=None):
    """Return the launch description of a file."""
    return PythonLaunchDescriptionSource(str(ROOT / 'launch' / file)).get_launch_description(
        context or LaunchContext())


def processes_of(file, **given):
    """Return [(executable, command line)] of the processes that would be started at once."""
    context = LaunchContext()
    context.launch_configurations.update(given)
    pending, found = list(describe(file, context).entities), []
    while pending:
        entity = pending.pop(0)
        if isinstance(entity, Action) and entity.condition is not None \
                and not entity.condition.evaluate(context):
            continue
        if isinstance(entity, Node):
            entity._perform_substitutions(context)
            # what launch_ros itself says when it starts the process
            context.extend_locals({'ros_specific_arguments': {
                'name': '__node:=named', 'ns': f'__ns:={entity.expanded_node_namespace}',
                'remaps': [':='.join(rule) for rule in entity.expanded_remapping_rules or ()]}})
            found.append((entity.node_executable, [
                perform_substitutions(context, part) for part in entity.cmd[1:]]))
        elif isinstance(entity, ExecuteProcess):
            program, *words = (perform_substitutions(context, part) for part in entity.cmd)
            found.append((program, words))
        # of what events lead to, and of what asks nodes that do not run, nothing happens here
        elif not (isinstance(entity, RegisterEventHandler)
                  or type(entity).__module__ == 'c3p_bringup.launch_parts.lifecycle'):
            # depth first, because groups end with what closes their scope
            pending = list(entity.visit(context) or []) + pending
    return found


def nodes_of(file, **given):
    """Return {executable: command line} of the processes that would be started."""
    return dict(processes_of(file, **given))


def parameters_of(words):
    """Return the contents of the parameter files of a command line, later ones over earlier."""
    merged = {}
    for word in words:
        if word.startswith('/') and Path(word).is_file():
            for node, entry in (yaml.safe_load(Path(word).read_text()) or {}).items():
                merged.setdefault(node, {}).update(entry['ros__parameters'])
    return merged


def table(file):
    """Return the table of docs/launch.md for a launch file."""
    lines = ['| argument | default | choices | meaning |', '|---|---|---|---|']
    for argument in describe(file).get_launch_arguments():
        default = perform_substitutions(LaunchContext(), argument.default_value)
        if '/share/c3p/' in default:
            default = 'share/c3p/' + default.split('/share/c3p/')[1]
        choices = ', '.join(f'`{choice}`' for choice in argument.choices or () if choice)
        meaning = argument.description.split(' Valid choices are')[0]
        lines.append(f'| `{argument.name}` | {f"`{default}`" if default else ""} | {choices} '
                     f'| {meaning} |')
    return '\n'.join(lines)
