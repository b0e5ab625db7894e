# SPDX-License-Identifier: Apache-2.0
"""What the environment says about which computers may command a robot."""

import pytest

from c3p_ros.reach import LOCAL_ONLY, RANGE, SECURITY, STRATEGY, open_reach


@pytest.mark.parametrize('environment', [
    {RANGE: 'LOCALHOST'}, {RANGE: 'OFF'}, {LOCAL_ONLY: '1'}, {LOCAL_ONLY: '1', RANGE: 'SUBNET'},
    {RANGE: 'SUBNET', SECURITY: 'true', STRATEGY: 'Enforce'},
    {RANGE: 'SYSTEM_DEFAULT', 'FASTRTPS_DEFAULT_PROFILES_FILE': 'loopback_only.xml'}])
def test_a_robot_that_only_its_own_computer_or_keys_reach_is_not_warned_about(environment):
    assert open_reach(environment) == ''


@pytest.mark.parametrize('environment, shown', [
    ({}, 'SUBNET'), ({RANGE: ''}, 'SUBNET'), ({RANGE: 'SUBNET'}, 'SUBNET'),
    ({RANGE: 'SYSTEM_DEFAULT'}, 'SYSTEM_DEFAULT'),
    # Permissive: a node without keys takes part unprotected
    ({SECURITY: 'true'}, 'SUBNET'), ({SECURITY: 'true', STRATEGY: 'Permissive'}, 'SUBNET'),
    ({LOCAL_ONLY: '0'}, 'SUBNET')])
def test_a_robot_that_the_whole_network_reaches_is_warned_about_in_one_line(environment, shown):
    text = open_reach(environment)
    assert text.startswith(f'discovery range {shown}: ') and '\n' not in text
    assert f'{RANGE}=LOCALHOST' in text
