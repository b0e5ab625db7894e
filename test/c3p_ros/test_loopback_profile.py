# SPDX-License-Identifier: Apache-2.0
"""Configurations of the middleware that keep its sockets on this computer, and others."""

from pathlib import Path

import pytest

from c3p_ros.loopback_profile import CYCLONE, configured, open_sockets
from c3p_ros.middleware import PROFILES, Middleware

SHIPPED = (Path(__file__).parents[2] / 'config/security/loopback_only.xml').read_text()
FAST, CYCLONE_DDS = Middleware('rmw_fastrtps_cpp'), Middleware('rmw_cyclonedds_cpp')
INTERFACE = '<CycloneDDS><Domain><General><Interfaces>{}</Interfaces></General></Domain>' \
            '</CycloneDDS>'


def judged(text, tmp_path, name=PROFILES[0]):
    """Return why Fast DDS opens other sockets with a profile of this text."""
    file = tmp_path / 'profile.xml'
    file.write_text(text)
    assert configured({name: str(file)}, FAST)
    return open_sockets({name: str(file)}, FAST).removeprefix(f'{name}={file} ')


def test_the_shipped_profile_closes_the_sockets(tmp_path):
    for name in PROFILES:
        assert judged(SHIPPED, tmp_path, name) == ''


@pytest.mark.parametrize('old, new', [
    ('<address>127.0.0.1</address>', '<interface>lo</interface>'),
    ('<type>UDPv4</type>', '<type>SHM</type>'),
    ('<address>127.0.0.1</address>', '<address>127.0.0.1</address><address>::1</address>'),
    (' xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"', '')])
def test_other_profiles_that_close_them_are_known(old, new, tmp_path):
    assert old in SHIPPED and judged(SHIPPED.replace(old, new), tmp_path) == ''


OPEN, NO_DEFAULT = 'opens other addresses than those of this computer', \
                   'has no participant with is_default_profile'


@pytest.mark.parametrize('old, new, reason', [
    ('<address>127.0.0.1</address>', '<address>127.0.0.1</address><address>10.0.0.2</address>',
     OPEN),
    ('<address>127.0.0.1</address>', '', OPEN), ('127.0.0.1', '10.0.0.2', OPEN),
    ('false', 'true', OPEN), ('<useBuiltinTransports>false</useBuiltinTransports>', '', OPEN),
    # a transport that is not described in this file
    ('<userTransports>', '<userTransports><transport_id>other</transport_id>', OPEN),
    ('is_default_profile="true"', 'is_default_profile="false"', NO_DEFAULT),
    (' is_default_profile="true"', '', NO_DEFAULT),
    ('</dds>', '', 'is not readable as XML'),
    ('<dds', '<!DOCTYPE dds [<!ENTITY a "b">]><dds', 'is not readable as XML')])
def test_a_profile_that_leaves_sockets_open_is_named_with_the_reason(old, new, reason, tmp_path):
    assert old in SHIPPED
    assert judged(SHIPPED.replace(old, new), tmp_path) == reason


@pytest.mark.parametrize('content, reason', [
    (b'\xff\xfe', 'is not readable as XML'), (None, 'cannot be read (Is a directory)')])
def test_what_is_no_text_file_is_not_trusted(content, reason, tmp_path):
    place = tmp_path / 'profile.xml'
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    assert open_sockets({PROFILES[0]: str(place)}, FAST) == f'{PROFILES[0]}={place} {reason}'


def test_variables_of_another_middleware_configure_nothing(tmp_path):
    file = tmp_path / 'profile.xml'
    file.write_text(SHIPPED)
    assert not configured({PROFILES[0]: str(file)}, CYCLONE_DDS)
    assert not configured({CYCLONE: str(file)}, FAST)
    assert open_sockets({CYCLONE: INTERFACE}, FAST) == 'no profile'
    assert open_sockets({PROFILES[0]: str(file)}, CYCLONE_DDS) == 'no configuration'
    assert open_sockets({}, Middleware('rmw_other_cpp')) == 'rmw_other_cpp is not limited'


@pytest.mark.parametrize('interfaces, closed', [
    ('<NetworkInterface name="lo"/>', True), ('<NetworkInterface address="127.0.0.1"/>', True),
    ('<NetworkInterface name="lo"/><NetworkInterface name="eth0"/>', False),
    ('<NetworkInterface autodetermine="true"/>', False), ('', False)])
def test_interfaces_of_cyclone(interfaces, closed, tmp_path):
    text, file = INTERFACE.format(interfaces), tmp_path / 'cyclone.xml'
    file.write_text(text)
    for uri in (text, f'file://{file}', str(file)):
        assert (open_sockets({CYCLONE: uri}, CYCLONE_DDS) == '') is closed
    reason = open_sockets({CYCLONE: '/none.xml'}, CYCLONE_DDS)
    assert reason.endswith('(No such file or directory)')
