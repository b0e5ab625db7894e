# SPDX-License-Identifier: Apache-2.0
"""docs/hardware.md against what really goes over the bus, and against the code."""

import re
import threading
from pathlib import Path

import can
import pytest
from virtual_time import VirtualTime

from c3p_bringup.cli.can import rate_rows, rate_table
from c3p_bringup.cli.main import parser
from c3p_description.reading.loader import load
from c3p_hardware.axes import card_settings
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.tools.parameter_file import hardware_values, schema
from c3p_hardware.transport import configure as configuring
from c3p_hardware.transport.can_bus import conversation
from c3p_simulation.make_plant import make_plant

PAGE = (Path(__file__).parents[1] / 'docs/hardware.md').read_text(encoding='utf-8')


def section(name):
    """Return what stands between two markers of the page."""
    return re.search(rf'<!-- {name} -->\n(.*?)<!-- end {name.split(":")[0]} -->', PAGE,
                     flags=re.DOTALL).group(1)


def table(device):
    """Return [(object, value, how)] of a table of objects."""
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in section(f'objects: {device}').splitlines()[2:]]
    return [tuple(row[:3]) for row in rows]


@pytest.fixture(scope='module')
def exchanged():
    """What the configuration reads and writes, {device: [(object, 'read' or 'write', value)]}."""
    with VirtualTime().installed():
        return exchange()


def exchange():
    seen, patch = {}, pytest.MonkeyPatch()

    def watched(kind, ask):
        def call(self, index, subindex, *rest):
            found = ask(self, index, subindex, *rest)
            value = found if kind == 'read' else rest[1]
            seen.setdefault(self.name, []).append((f'{index:04X}h:{subindex}', kind, int(value)))
            return found
        return call

    for kind in ('read', 'write'):
        patch.setattr(configuring.Objects, kind,
                      watched(kind, getattr(configuring.Objects, kind)))
    ours, theirs = (can.Bus('hardware page', interface='virtual') for _ in range(2))
    cards = EmulatedCards(theirs, make_plant('analytic', 'c3p'))
    stop = threading.Event()
    thread = threading.Thread(target=cards.run, args=(stop,))
    thread.start()
    try:
        with conversation(ours) as network:
            configuring.configure(network, card_settings(load('c3p'), hardware_values()))
    finally:
        stop.set()
        thread.join()
        patch.undo()
        ours.shutdown()
        theirs.shutdown()
    return seen


@pytest.mark.parametrize(('device', 'name'), [
    ('drive', 'drive of wheel_joint_1 (node 1)'),
    ('encoder', 'encoder of steering_joint_1 (node 11)')])
def test_tables_of_objects_are_what_goes_over_the_bus(device, name, exchanged):
    asked = exchanged[name]
    rows = table(device)
    # every object that is touched has one row, and no other has
    assert sorted({row[0] for row in rows}) == sorted({ask[0] for ask in asked})
    assert len({row[0] for row in rows}) == len(rows)
    for where, value, how in rows:
        written = [v for o, kind, v in asked if o == where and kind == 'write']
        read = [v for o, kind, v in asked if o == where and kind == 'read']
        # settled: what was written last was read afterwards
        assert (bool(written), bool(read)) == {
            'settled': (True, True), 'written': (True, True), 'checked': (False, True),
            'read': (False, True)}[how], where
        last = written[-1] if written else read[-1]
        if how == 'settled':
            assert read[-1] == last, where
        if re.fullmatch(r'[0-9A-F]{8}h', value):
            assert last == int(value[:-1], 16), where
        elif value.isdigit():
            assert last == int(value), where
    assert {value for _, value, _ in rows if not value[0].isdigit()} <= {
        'profile 402', 'profile 406', 'vendor', 'product', 'revision', 'serial number', 'bit 9'}


def test_the_preset_of_an_encoder_is_never_touched(exchanged):
    assert not [ask for asks in exchanged.values() for ask in asks if ask[0].startswith('6003h')]


def test_the_parameters_of_a_cart_are_those_of_its_joints(tmp_path):
    (tmp_path / 'cart.yaml').write_text(re.search(r'```yaml\n(.*?)```', PAGE, re.DOTALL).group(1))
    cart = load(Path(__file__).parents[1] / 'docs/tutorials/cart.urdf.xacro')
    settings = card_settings(cart, hardware_values([tmp_path / 'cart.yaml']))
    assert [(d.joint, d.node_id, d.channel, d.driven) for d in settings.drives] == [
        ('front_left_wheel', 5, 1, True), ('front_right_wheel', 5, 2, True),
        ('rear_left_wheel', 6, 1, True)]
    assert settings.encoders[-1].joint == 'rear_right_wheel'
    assert settings.encoders[-1].gear_ratio == 4.0


def test_rates_are_those_of_the_command():
    assert section('rates') == rate_table(rate_rows(0.5, 200.0), 0.5, 200.0) + '\n'


def test_commands_of_the_page_are_those_that_there_are(capsys):
    lines = [line.split('--')[0].split() for line in re.findall(r'`c3p ((?:can|doctor)[^`]*)`',
                                                                  PAGE)]
    assert len(lines) >= 8
    for words in lines:
        names = words[:2] if words[0] == 'can' else words[:1]
        with pytest.raises(SystemExit) as end:
            parser().parse_args([*names, '--help'])
        assert end.value.code == 0, words
    text = capsys.readouterr().out
    for option in set(re.findall(r'`c3p (?:can|doctor)[^`]*?(--[a-z-]+)', PAGE)):
        assert option in text


def test_parameters_of_the_page_are_those_of_the_schema():
    entries = schema()
    defaults = {f'{n}': e['default_value'] for n, e in entries.items()}
    for name in re.findall(r'`((?:drives|encoders|bus)\.[a-z_]+)`', PAGE):
        assert name in entries, name
    # what the page says of times
    for name, text in (('heartbeat_timeout', '0.15 s'), ('silence_timeout', '0.05 s'),
                       ('command_timeout', '0.2 s'), ('missed_cycles', '1 cycle')):
        assert re.search(rf'{re.escape(text)} \(`{name}`\)', PAGE), name
        assert float(text.split()[0]) == defaults[name]
