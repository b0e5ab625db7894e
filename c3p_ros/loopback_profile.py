# SPDX-License-Identifier: Apache-2.0
"""
Configuration files of the middleware that keep its sockets on this computer.

A range of SUBNET or SYSTEM_DEFAULT leaves the transports of Fast DDS and the interfaces of Cyclone
to their own configuration. A variable that names such a file shows an intention only: Fast DDS
starts with its defaults, on all addresses, where the file does not exist, where the variable is
that of another version, and where the profile limits something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from xml.etree.ElementTree import Element

from c3p_description.model import ModelError
from c3p_description.reading.xml_files import parse_xml
from c3p_ros.middleware import PROFILES, Middleware
from c3p_ros.sockets import loopback

CYCLONE = 'CYCLONEDDS_URI'

# elements of Cyclone, and of Fast DDS, that name other computers
PEERS = ('.//{*}Peers/{*}Peer', './/{*}initialPeersList//{*}address',
         './/{*}discoveryServersList//{*}address')


def configured(environment: Mapping[str, str], middleware: Middleware) -> bool:
    """Return whether a file is named that could keep the sockets on this computer."""
    names = PROFILES if middleware.fast_dds else (CYCLONE,) if middleware.cyclone else ()
    return any(map(environment.get, names))


def open_sockets(environment: Mapping[str, str], middleware: Middleware) -> str:
    """
    Return why the sockets are not limited to this computer; empty where they are.

    Examples
    --------
    >>> open_sockets({'FASTDDS_DEFAULT_PROFILES_FILE': '/none.xml'},
    ...              Middleware('rmw_fastrtps_cpp'))
    'FASTDDS_DEFAULT_PROFILES_FILE=/none.xml cannot be read (No such file or directory)'
    """
    if middleware.cyclone:
        return _open_cyclone(environment.get(CYCLONE, ''))
    if not middleware.fast_dds:
        return f'{middleware.identifier} is not limited'
    named = [name for name in PROFILES if environment.get(name)]
    # Fast DDS 3 reads both: each must be closed
    used = [name for name in named if name in middleware.reads]
    if not used:
        unread = f'{named[0]} is not read by this version of Fast DDS' if named else 'no profile'
        other = [name for name in PROFILES if name in middleware.reads]
        return f'{unread}, which reads {" and ".join(other)}' if named and other else unread
    reasons = (_open_profile(name, Path(environment[name])) for name in used)
    return next(filter(None, reasons), '')


def far_peers(environment: Mapping[str, str], middleware: Middleware) -> list[str]:
    """
    Return the other computers that a configuration of the middleware names, with any range.

    They are peers and discovery servers; a file that cannot be read names none.
    """
    roots = []
    with suppress(OSError, ModelError, ValueError):
        if middleware.cyclone and environment.get(CYCLONE):
            roots.append(_cyclone_root(environment[CYCLONE]))
    for name in PROFILES if middleware.fast_dds else ():
        with suppress(OSError, ModelError, ValueError):
            if name in middleware.reads and environment.get(name):
                roots.append(parse_xml(Path(environment[name]).read_text(encoding='utf-8')))
    found = [one.get('address') or _text(one) for root in roots for path in PEERS
             for one in root.iterfind(path)]
    return [name for name in found if not loopback(name) and not _multicast(name)]


def _open_profile(name: str, file: Path) -> str:
    """Return why a file of profiles of Fast DDS does not limit its sockets."""
    try:
        root = parse_xml(file.read_text(encoding='utf-8'))
    except OSError as error:
        return f'{name}={file} cannot be read ({error.strerror})'
    except (ModelError, ValueError):
        return f'{name}={file} is not readable as XML'
    default = [one for one in root.iterfind('.//{*}participant')
               if one.get('is_default_profile') == 'true']
    if not default:
        return f'{name}={file} has no participant with is_default_profile'
    closed = {_text(one, 'transport_id') for one in root.iterfind('.//{*}transport_descriptor')
              if _closed_transport(one)}
    for participant in default:
        builtin = [_text(one) for one in participant.iterfind('.//{*}useBuiltinTransports')]
        used = [_text(one) for one in participant.iterfind('.//{*}userTransports/{*}transport_id')]
        if builtin != ['false'] or not used or not closed.issuperset(used):
            return f'{name}={file} opens other addresses than those of this computer'
    return ''


def _closed_transport(descriptor: Element) -> bool:
    """Return whether a transport of Fast DDS is shared memory, or on loopback only."""
    if _text(descriptor, 'type') == 'SHM':
        return True
    # an address, or the name of an interface
    listed = [_text(one) for one in descriptor.iterfind('{*}interfaceWhiteList/*')]
    return bool(listed) and all(name == 'lo' or loopback(name) for name in listed)


def _open_cyclone(uri: str) -> str:
    """Return why a configuration of Cyclone, a file or XML, does not limit its interfaces."""
    if not uri:
        return 'no configuration'
    try:
        root = _cyclone_root(uri)
    except OSError as error:
        return f'{CYCLONE}={uri} cannot be read ({error.strerror})'
    except (ModelError, ValueError):
        return f'{CYCLONE} is not readable as XML'
    used = list(_cyclone_interfaces(root))
    if used and all(name == 'lo' or loopback(name) for name in used):
        return ''
    return f'{CYCLONE} opens other interfaces than the loopback of this computer'


def _cyclone_root(uri: str) -> Element:
    """Return the root of a configuration of Cyclone, which is XML or names a file."""
    text = uri if uri.lstrip().startswith('<') else \
        Path(uri.removeprefix('file://')).read_text(encoding='utf-8')
    return parse_xml(text)


def _cyclone_interfaces(root: Element) -> Iterator[str]:
    for one in root.iterfind('.//{*}Interfaces/{*}NetworkInterface'):
        yield one.get('name') or one.get('address') or ''
    # up to Cyclone 0.9
    for one in root.iterfind('.//{*}NetworkInterfaceAddress'):
        yield from _text(one).split(',')


def _multicast(name: str) -> bool:
    """Return whether a name is an address of a group, which discovery has without peers too."""
    try:
        return ip_address(name).is_multicast
    except ValueError:
        return False


def _text(element: Element, child: str = '') -> str:
    """Return the text of an element, or of its child."""
    return ((element.findtext(f'{{*}}{child}') if child else element.text) or '').strip()
