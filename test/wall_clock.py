# SPDX-License-Identifier: Apache-2.0
"""Search of the tests for the clock on the wall, also through helpers and fixtures."""

import ast
from functools import cached_property

from source_tree import tree_of

# module of the real clock of a bench, and its class; `open_bench` is a fixture that uses it
REAL_CLOCK = ('virtual_time', 'RealTime')
# calls that leave a process running beside the test; subprocess.run waits for its end instead
BESIDE = {'Popen', 'NodeProcess', 'Process', 'fork', 'forkpty', 'create_subprocess_exec'}
CALLED_ON = {'fork': {'os', 'pty'}, 'forkpty': {'os'}}


class TestFile:
    """Functions, classes and constants of a file of the tests, and what it imports of others."""

    __test__ = False

    def __init__(self, path):
        self.path = path

    @cached_property
    def defined(self):
        """Top-level definitions by name."""
        found = {}
        for node in tree_of(self.path).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = node
            elif isinstance(node, ast.Assign):
                found |= {target.id: node for target in node.targets
                          if isinstance(target, ast.Name)}
        return found

    @cached_property
    def imported(self):
        """Module and name of each import, by the name in this file; a module has the name ''."""
        found = {}
        for node in ast.walk(tree_of(self.path)):
            if isinstance(node, ast.ImportFrom):
                found |= {name.asname or name.name: (node.module or '', name.name)
                          for name in node.names}
            elif isinstance(node, ast.Import):
                found |= {name.asname or name.name: (name.name, '') for name in node.names}
        return found


class WallClock:
    """
    The tests, searched for uses of the clock on the wall.

    Parameters
    ----------
    paths : iterable of Path
        Files of the tests, helpers and conftest.py included.
    """

    def __init__(self, paths):
        self.files = {path: TestFile(path) for path in paths}
        self._modules, self._links = {}, {}
        for path in self.files:
            self._modules.setdefault(path.stem, []).append(path)

    def tests(self):
        """Yield file and node of each test function."""
        for path, file in self.files.items():
            if path.name.startswith('test_'):
                yield from ((path, node) for name, node in file.defined.items()
                            if name.startswith('test_') and isinstance(node, ast.FunctionDef))

    def uses(self, path, name):
        """Return what a definition, and all that it reaches, uses of the clock on the wall."""
        found, reached, left = set(), set(), [(path, name)]
        while left:
            place = left.pop()
            if place not in reached:
                reached.add(place)
                direct, links = self._look(*place)
                found |= direct
                left += links
        return found

    def _look(self, path, name):
        """Return what a definition itself uses, and the (path, name) of others that it uses."""
        if (path, name) not in self._links:
            direct, links = set(), []
            for part in ast.walk(self.files[path].defined[name]):
                if isinstance(part, ast.Call) and drives(part):
                    direct.add('drive')
                elif isinstance(part, ast.Attribute):
                    owner = part.value.id if isinstance(part.value, ast.Name) else ''
                    module, original = self.files[path].imported.get(owner, ('', None))
                    if part.attr in BESIDE and owner in CALLED_ON.get(part.attr, {owner}):
                        direct.add(part.attr)
                    elif (module, part.attr) == REAL_CLOCK:
                        direct.add('RealTime')
                    elif original == '':
                        links += self._of_module(module, part.attr)
                elif isinstance(part, ast.Name):
                    module, original = self.files[path].imported.get(part.id, ('', ''))
                    if part.id in self.files[path].defined:
                        links.append((path, part.id))
                    elif (module, original) == REAL_CLOCK:
                        direct.add('RealTime')
                    elif original in BESIDE and original not in CALLED_ON:
                        direct.add(original)
                    else:
                        links += self._of_module(module, original)
                elif isinstance(part, ast.arg):
                    links += self._fixture(path, part.arg)
            self._links[path, name] = direct, links
        return self._links[path, name]

    def _of_module(self, module, name):
        """Return the place of a name of a helper module; other modules are not of the tests."""
        return [(path, name) for path in self._modules.get(module, ())
                if name in self.files[path].defined]

    def _fixture(self, path, name):
        """Return the place of a fixture as pytest does: the file, then each conftest.py above."""
        places = [path, *(folder / 'conftest.py' for folder in path.parents)]
        return [(place, name) for place in places
                if place in self.files and name in self.files[place].defined][:1]


def drives(call):
    """Return whether a call is ``c3p('drive', …)`` without a pace of its own, as in lockstep."""
    words = [part.value for part in call.args if isinstance(part, ast.Constant)]
    return (isinstance(call.func, ast.Name) and call.func.id in ('c3p', 'started')
            and 'drive' in words and '--realtime-factor' not in words)
