# SPDX-License-Identifier: Apache-2.0
"""The stand-in of `launch` has no name and no argument that the real one lacks."""

import importlib
import inspect
import json
import os
import subprocess
import sys

from conftest import STUB

# {module: {name: arguments}} of the stand-in, of a process whose first path it is
DESCRIBE = f"""
import importlib, inspect, json, pathlib, sys
sys.path.insert(0, {str(STUB)!r})
found = {{}}
for file in sorted(pathlib.Path({str(STUB)!r}).rglob('*.py')):
    name = '.'.join(file.relative_to({str(STUB)!r}).with_suffix('').parts)
    module = importlib.import_module(name.removesuffix('.__init__'))
    assert module.__file__ == str(file)
    found[module.__name__] = {{
        name: list(inspect.signature(one).parameters) for name, one in vars(module).items()
        if not name.startswith('_') and getattr(one, '__module__', '') == module.__name__
        and callable(one)}}
print(json.dumps(found))
"""
# of the stand-in alone: what is elsewhere in the real package
INNER = {'launch.context': 'launch.launch_context', 'launch.entity':
         'launch.launch_description_entity', 'launch.description': 'launch.launch_description'}
OWN = {'performed', 'value_of'}


def test_its_names_and_arguments_are_those_of_the_real_one(real_launch):
    # the wheels of rclpy start their own interpreter again
    environment = {name: value for name, value in os.environ.items()
                   if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    done = subprocess.run([sys.executable, '-c', DESCRIBE], capture_output=True, text=True,
                          check=True, env=environment)
    found = json.loads(done.stdout)
    assert sum(map(len, found.values())) > 30
    for module, names in found.items():
        real = importlib.import_module(INNER.get(module, module))
        for name, arguments in names.items():
            if name not in OWN:
                accepted = accepted_by(getattr(real, name))
                assert accepted is None or set(arguments) <= accepted, (module, name)


def accepted_by(callable_):
    """Return the names of the arguments, of base classes too; None: any are accepted."""
    names, kinds = set(), [callable_]
    if inspect.isclass(callable_):
        kinds = [kind.__init__ for kind in callable_.__mro__]
    for kind in kinds:
        parameters = inspect.signature(kind).parameters.values()
        names |= {parameter.name for parameter in parameters}
    return names
