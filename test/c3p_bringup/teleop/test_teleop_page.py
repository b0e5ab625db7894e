# SPDX-License-Identifier: Apache-2.0
"""docs/teleop.md against the files and defaults that it tells of."""

import yaml
from source_tree import ROOT

from c3p_bringup.cli.main import parser
from c3p_bringup.teleop.keys import HOLD, ZEROS
from c3p_bringup.teleop.screen import HELP

PAGE = (ROOT / 'docs/teleop.md').read_text(encoding='utf-8')


def configured(name, node):
    """Return the parameters of a node in a file of config/."""
    content = yaml.safe_load((ROOT / 'config' / name).read_text(encoding='utf-8'))
    return content[f'/**/{node}']['ros__parameters']


def test_priorities_are_those_of_the_file():
    mux = configured('twist_mux.yaml', 'twist_mux')
    for entry in mux['topics'].values():
        row = f'| `{entry["topic"]}` | {entry["priority"]} | {entry["timeout"]} s |'
        assert row in PAGE, row
    (lock,) = mux['locks'].values()
    assert f'| `{lock["topic"]}`, std_msgs/msg/Bool | priorities below {lock["priority"]}' in PAGE


def test_speeds_of_the_joystick_are_those_of_the_file():
    joy = configured('teleop_joy.yaml', 'teleop_twist_joy_node')
    for kind in ('', '_turbo'):
        (speed,) = {joy[f'scale_linear{kind}'][axis] for axis in 'xy'}
        assert f'({speed:g} m/s, {joy[f"scale_angular{kind}"]["yaw"]:g} rad/s)' in PAGE
    # as often as the mux, and the velocity controller behind it, want to hear of it
    timeout = configured('twist_mux.yaml', 'twist_mux')['topics']['joystick']['timeout']
    assert configured('teleop_joy.yaml', 'joy_node')['autorepeat_rate'] * timeout >= 5.0
    assert joy['require_enable_button'] is True and joy['publish_stamped_twist'] is True


def test_defaults_are_those_of_the_command():
    given = parser().parse_args(['teleop'])
    assert f'| {given.speed} m/s, {given.yaw_rate} rad/s |' in PAGE
    assert f'| `--tap` | {given.tap} s |' in PAGE
    told = (f'a press counts for {given.tap} s and each repetition for {HOLD} s; then come zeros '
            f'for {ZEROS} s')
    assert told in ' '.join(PAGE.split())


def test_the_screen_is_the_one_that_is_shown():
    assert '\n'.join(HELP) in PAGE
