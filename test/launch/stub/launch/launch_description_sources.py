# SPDX-License-Identifier: Apache-2.0
"""Launch files in Python."""

import importlib.util

from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class PythonLaunchDescriptionSource:
    """A launch file, which is imported for each description."""

    def __init__(self, launch_file_path):
        self._path = normalize_to_list_of_substitutions(launch_file_path)

    def get_launch_description(self, context):
        path = perform_substitutions(context, self._path)
        spec = importlib.util.spec_from_file_location('python_launch_file', path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.generate_launch_description()
