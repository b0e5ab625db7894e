# SPDX-License-Identifier: Apache-2.0
"""Places of packages."""

from ament_index_python.packages import get_package_share_directory
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class FindPackageShare:
    """The share folder of an installed package."""

    def __init__(self, package):
        self._package = normalize_to_list_of_substitutions(package)

    def perform(self, context):
        return get_package_share_directory(perform_substitutions(context, self._package))
