# SPDX-License-Identifier: Apache-2.0
"""The EDS files: read by canopen, complete, and with everything that the master configures."""

from configparser import RawConfigParser
from pathlib import Path

import canopen
import pytest
from canopen.objectdictionary import datatypes as t

from c3p_hardware.canopen.brake_output import BRAKED_COMMAND
from c3p_hardware.canopen.process_data import (
    DRIVE_COMMAND,
    DRIVE_SAMPLE,
    ENCODER_SAMPLE,
    VELOCITY_COMMAND,
    drive_health,
)

FOLDER = Path(__file__).parents[3] / 'c3p_hardware/eds'
FILES = ('motor_drive', 'absolute_encoder')

BOTH = {(0x1000, 0): (t.UNSIGNED32, 'ro', None), (0x1001, 0): (t.UNSIGNED8, 'ro', 0),
        (0x1016, 1): (t.UNSIGNED32, 'rw', 0), (0x1017, 0): (t.UNSIGNED16, 'rw', 0),
        (0x1018, 1): (t.UNSIGNED32, 'ro', 0), (0x1018, 4): (t.UNSIGNED32, 'ro', None),
        (0x1029, 1): (t.UNSIGNED8, 'rw', 0), (0x1800, 1): (t.UNSIGNED32, 'rw', None),
        (0x1A00, 8): (t.UNSIGNED32, 'rw', 0)}
DRIVE = {(0x2030, 0): (t.INTEGER8, 'ro', 30), (0x603F, 0): (t.UNSIGNED16, 'ro', 0),
         (0x6007, 0): (t.INTEGER16, 'rw', 1), (0x6040, 0): (t.UNSIGNED16, 'rww', 0),
         (0x6041, 0): (t.UNSIGNED16, 'ro', 0), (0x605A, 0): (t.INTEGER16, 'rw', 2),
         (0x605E, 0): (t.INTEGER16, 'rw', 2), (0x6060, 0): (t.INTEGER8, 'rww', 0),
         (0x6061, 0): (t.INTEGER8, 'ro', 0), (0x6064, 0): (t.INTEGER32, 'ro', 0),
         (0x6071, 0): (t.INTEGER16, 'rww', 0), (0x6072, 0): (t.UNSIGNED16, 'rww', 1000),
         (0x6073, 0): (t.UNSIGNED16, 'rw', 1000), (0x6076, 0): (t.UNSIGNED32, 'ro', 110),
         (0x6077, 0): (t.INTEGER16, 'ro', 0), (0x6079, 0): (t.UNSIGNED32, 'ro', 24000),
         (0x608F, 1): (t.UNSIGNED32, 'ro', 2000), (0x608F, 2): (t.UNSIGNED32, 'ro', 1),
         (0x60FF, 0): (t.INTEGER32, 'rww', 0),
         (0x6502, 0): (t.UNSIGNED32, 'ro', 0x300), (0x1400, 5): (t.UNSIGNED16, 'rw', 0)}
ENCODER = {(0x6000, 0): (t.UNSIGNED16, 'rw', 4), (0x6001, 0): (t.UNSIGNED32, 'rw', 4096),
           (0x6002, 0): (t.UNSIGNED32, 'rw', 4096), (0x6003, 0): (t.UNSIGNED32, 'rw', 0),
           (0x6004, 0): (t.UNSIGNED32, 'ro', 0), (0x6500, 0): (t.UNSIGNED16, 'ro', 4),
           (0x6503, 0): (t.UNSIGNED16, 'ro', 0), (0x6505, 0): (t.UNSIGNED16, 'ro', 0),
           (0x6509, 0): (t.INTEGER32, 'ro', 0), (0x650B, 0): (t.UNSIGNED32, 'ro', 2001)}


def dictionary(name, node=5):
    return canopen.import_od(str(FOLDER / f'{name}.eds'), node)


@pytest.mark.parametrize('name, objects', [('motor_drive', BOTH | DRIVE),
                                           ('absolute_encoder', BOTH | ENCODER)])
def test_objects_have_type_access_and_default(name, objects):
    found = dictionary(name)
    for (index, subindex), (kind, access, default) in objects.items():
        entry = found.get_variable(index, subindex)
        assert entry is not None, f'{index:04X}h:{subindex}'
        assert (entry.data_type, entry.access_type) == (kind, access), f'{index:04X}h:{subindex}'
        assert default is None or entry.default == default, f'{index:04X}h:{subindex}'


@pytest.mark.parametrize('name, profile', [('motor_drive', 402), ('absolute_encoder', 406)])
def test_the_device_type_tells_the_profile(name, profile):
    assert dictionary(name)[0x1000].default & 0xFFFF == profile


def test_identifiers_follow_the_node_id():
    drive = dictionary('motor_drive', 7)
    assert drive[0x1014].default == 0x87 and drive[0x1400][1].default == 0x207
    assert drive[0x1800][1].default & 0x7FF == 0x187


@pytest.mark.parametrize('name, layouts', [
    ('motor_drive', (DRIVE_SAMPLE, drive_health(), DRIVE_COMMAND, VELOCITY_COMMAND,
                     BRAKED_COMMAND)),
    ('absolute_encoder', (ENCODER_SAMPLE,))])
def test_everything_that_a_cycle_maps_may_be_mapped(name, layouts):
    found = dictionary(name)
    for entry in (e for layout in layouts for e in layout.entries):
        held = found.get_variable(entry.index, entry.subindex)
        assert held.pdo_mappable and len(held) == entry.bits, entry
        assert (held.data_type in t.SIGNED_TYPES) == entry.signed, entry


@pytest.mark.parametrize('name', FILES)
def test_the_lists_are_those_of_the_sections(name):
    eds = RawConfigParser()
    eds.optionxform = str
    eds.read(FOLDER / f'{name}.eds')
    listed = []
    for group in ('MandatoryObjects', 'OptionalObjects', 'ManufacturerObjects'):
        count = int(eds[group]['SupportedObjects'])
        assert len(eds[group]) == count + 1
        listed += [eds[group][str(k)] for k in range(1, count + 1)]
    sections = [s for s in eds.sections() if len(s) == 4 and s.isalnum() and s[0].isdigit()]
    assert listed and sorted(int(i, 0) for i in listed) == sorted(int(s, 16) for s in sections)
    for index in sections:
        if 'SubNumber' in eds[index]:
            subs = [s for s in eds.sections() if s.startswith(f'{index}sub')]
            assert int(eds[index]['SubNumber'], 0) == len(subs), index
