# SPDX-License-Identifier: Apache-2.0
"""A short made-up drive for all viewers, as a bag; wheel 2 slips from 1.2 to 1.4 s."""

import pytest
from synthetic import opened

from c3p_description.reading.loader import load


@pytest.fixture(scope='session')
def robot():
    return load('c3p')


@pytest.fixture(scope='session')
def viewed_bag(robot, tmp_path_factory):
    pytest.importorskip('rosbags', reason='pip install rosbags')
    pytest.importorskip('xacro', reason='pip install xacro')
    from synthetic import drive, write_bag

    from c3p_description.reading.loader import robot_description

    path = tmp_path_factory.mktemp('viewed') / 'bag'
    write_bag(path, robot, drive(robot, goal=(1.0, 0.5, 0.4), rate=25.0), robot_description('c3p'))
    return path


@pytest.fixture(scope='session')
def source(robot, viewed_bag):
    from c3p_bags.runs.log_reader import read_run
    from c3p_viewers.sources.bag_source import BagSource

    return BagSource(opened(read_run, viewed_bag, robot))
