# SPDX-License-Identifier: Apache-2.0
"""
Small files that stand for much: run as a program with a folder, it opens one after the other.

Each is made first and opened then, with 500 MB more of address space than before and 5 s of
processor time. Its name and its refusal are printed; beyond the time the program ends.
"""

import json
import resource
import signal
import struct
import sys
import zipfile
from pathlib import Path

MEMORY, SECONDS = 500_000_000, 5.0


def text(folder, name, content):
    path = folder / name
    path.write_text(content, encoding='utf-8')
    return path


def laughs(word='x', levels=9, width=9):
    """Return YAML of lists that repeat lists."""
    lists = ['&a0 [' + ','.join([word] * width) + ']'] + [
        f'&a{k} [' + ','.join([f'*a{k - 1}'] * width) + ']' for k in range(1, levels)]
    return '[' + ',\n'.join(lists) + ']'


def merges(levels=9, width=9):
    """Return YAML of maps that take in maps."""
    return 'a0: &a0 {x: 1}\n' + '\n'.join(
        f'a{k}: &a{k} {{<<: [' + ','.join([f'*a{k - 1}'] * width) + ']}' for k in range(1, levels))


def header(shape, kind='<f8', size=200):
    """Return the head of a file of NumPy for an array of this shape."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', size) + head.ljust(size - 1).encode() + b'\n'


def robot(content):
    from c3p_description.reading.loader import load

    return lambda folder: (load, text(folder, 'robot.yaml', content))


def terrain(content, **files):
    from c3p_rough_ground.worlds.terrain_files import load_terrain

    def make(folder):
        for name, data in files.items():
            (folder / name.replace('_', '.')).write_bytes(data)
        return load_terrain, text(folder, 'ground.yaml', content)
    return make


def urdf(content, use=None):
    from c3p_description.reading.loader import load

    return lambda folder: (use or load, text(folder, 'robot.urdf', content))


def picture(folder):
    from PIL import Image

    from c3p_rough_ground.worlds.terrain_files import load_height_map

    with (folder / 'big.png').open('wb') as file:
        Image.new('L', (9, 9)).save(file, 'PNG')
    data = bytearray((folder / 'big.png').read_bytes())
    # width and height of the head, with its checksum
    data[16:24] = struct.pack('>II', 20_000, 20_000)
    import zlib
    data[29:33] = struct.pack('>I', zlib.crc32(data[12:29]))
    (folder / 'big.png').write_bytes(data)
    return lambda path: load_height_map(path, 1.0, height_range=(0.0, 1.0)), folder / 'big.png'


def archive(folder):
    from c3p_rough_ground.worlds.terrain_files import load_height_map

    with zipfile.ZipFile(folder / 'big.npz', 'w', zipfile.ZIP_DEFLATED) as file, file.open(
            'heights.npy', 'w', force_zip64=True) as member:
        member.write(header((20_000, 20_000)))
        for _ in range(300):
            member.write(bytes(1_000_000))
    return lambda path: load_height_map(path, 1.0), folder / 'big.npz'


def chunk(packing, data, size, first=0, last=2**60):
    """Return the record of a chunk."""
    body = (struct.pack('<QQQII', first, last, size, 0, len(packing)) + packing.encode()
            + struct.pack('<Q', len(data)) + data)
    return struct.pack('<BQ', 6, len(body)) + body


def packed(size, piece=1_000_000):
    """Return so many zeros, packed."""
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdCompressor
    else:
        from backports.zstd import ZstdCompressor
    pack = ZstdCompressor()
    return b''.join([pack.compress(bytes(piece)) for _ in range(size // piece)] + [pack.flush()])


def mcap(folder, *chunks):
    """Write a file of chunks, without an index."""
    magic = b'\x89MCAP0\r\n'
    head = struct.pack('<I', 4) + b'ros2' + struct.pack('<I', 0)
    (folder / 'bag.mcap').write_bytes(
        magic + struct.pack('<BQ', 1, len(head)) + head + b''.join(chunks)
        + struct.pack('<BQI', 0x0F, 4, 0) + struct.pack('<BQQQI', 2, 20, 0, 0, 0) + magic)
    return folder / 'bag.mcap'


def bag(use, *sizes):
    """Return a bag of chunks that say a size and unpack to another."""
    return lambda folder: (use(folder), mcap(folder, *(
        chunk('zstd', packed(size), told) for told, size in sizes)))


def repaired(folder):
    from c3p_bags.storage.repair import repair

    return lambda path: repair(path, folder / 'repaired')


def looked(folder):
    from c3p_bags.storage.bag import Bag

    def look(path):
        with Bag(path) as found:
            return found.topics
    return look


def scanned(folder):
    from c3p_bags.storage.bag_writer import BagError
    from c3p_bags.storage.mcap import read_mcap

    def scan(path):
        try:
            return list(read_mcap(path, ['/odom']))
        except ValueError as error:
            raise BagError(f'{error}') from None
    return scan


def metadata(content):
    def make(folder):
        (folder / 'bag').mkdir()
        text(folder / 'bag', 'metadata.yaml', content)
        return looked(folder), folder / 'bag'
    return make


def database(folder):
    """Write a database whose messages come from a query without end."""
    import sqlite3

    base = sqlite3.connect(folder / 'bag.db3')
    base.executescript(
        'CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format '
        'TEXT, offered_qos_profiles TEXT);'
        'CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)'
        ' '
        'SELECT id, 1 AS topic_id, id AS timestamp, zeroblob(1000000) AS data FROM n;')
    base.close()
    return looked(folder), folder / 'bag.db3'


def visuals(path):
    from c3p_viewers.sources.visuals import visuals

    return visuals(path.read_text(), path)


LINK = '<link name="{}"><visual><geometry><sphere radius="1"/></geometry></visual></link>'
QOS = ('rosbag2_bagfile_information:\n  relative_file_paths: [a.mcap]\n'
       '  topics_with_message_count:\n    - topic_metadata: {{offered_qos_profiles: {}}}\n')
BOMBS = {
    'aliases in a robot': lambda: robot('name: ' + laughs()),
    'merged keys in a robot': lambda: robot(merges()),
    'nested lists in a robot': lambda: robot('a: ' + '[' * 20_000),
    'many values in a robot': lambda: robot('a: [' + '1,' * 400_000 + ']'),
    'a long integer in a robot': lambda: robot(
        'extends: c3p\nplatform: {mass: 1' + '0' * 9999 + '}'),
    'many casters in a robot': lambda: robot(
        'extends: c3p\ncasters: {hip_position: [' + '[1.0, 2.0],' * 9000 + ']}'),
    'waves of a terrain': lambda: terrain('kind: hills\nseed: 1\ncount: 100000000'),
    'shape of a terrain': lambda: terrain('kind: spline\nseed: 1\nshape: [100000, 100000]'),
    'margin of a terrain': lambda: terrain(
        'kind: height_map\nfile: h.npy\nspacing: 1.0\nmargin: 1000000',
        h_npy=header((9, 9)) + bytes(9 * 9 * 8)),
    'aliases in a terrain': lambda: terrain('kind: spline\nheights: ' + laughs('1.0')),
    'shape of an array': lambda: terrain(
        'kind: height_map\nfile: h.npy\nspacing: 1.0', h_npy=header((999_999, 999_999))),
    'size of an image': lambda: picture,
    'size in an archive': lambda: archive,
    'entities in a URDF': lambda: urdf(
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + ''.join(
            f'<!ENTITY {chr(98 + k)} "{("&" + chr(97 + k) + ";") * 10}">' for k in range(9))
        + ']><robot name="&j;"/>'),
    'nested elements in a URDF': lambda: urdf('<robot>' + '<a>' * 100_000),
    'shapes in a URDF': lambda: urdf('<robot name="r">' + ''.join(
        LINK.format(k) for k in range(20_000)) + '</robot>', visuals),
    'power in xacro': lambda: lambda folder: (
        urdf('')(folder)[0], text(folder, 'r.xacro', '<robot name="a" xmlns:xacro="http://www.ros.'
                                  'org/wiki/xacro"><link name="${9**9**9}"/></robot>')),
    'text in xacro': lambda: lambda folder: (
        urdf('')(folder)[0], text(folder, 'r.xacro', '<robot name="a" xmlns:xacro="http://www.ros.'
                                  'org/wiki/xacro"><link name="${\'a\' * 2000000000}"/></robot>')),
    'a chunk, repaired': lambda: bag(repaired, (1000, 1_500_000_000)),
    'a chunk, looked into': lambda: bag(looked, (1000, 1_500_000_000)),
    'a chunk, scanned': lambda: bag(scanned, (1000, 1_500_000_000)),
    'a chunk that says so': lambda: bag(looked, (1_500_000_000, 1_500_000_000)),
    'a chunk that says so, scanned': lambda: bag(scanned, (1_500_000_000, 1_500_000_000)),
    'chunks together': lambda: bag(looked, *[(90_000_000, 90_000_000)] * 6),
    'aliases in metadata': lambda: metadata('rosbag2_bagfile_information: ' + laughs()),
    'quality of service': lambda: metadata(QOS.format(repr(merges()).replace("'", '"'))),
    'a database without end': lambda: database,
}


def opened(name, folder):
    """Return how a bomb was refused."""
    use, path = BOMBS[name]()(folder)
    used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        use(path)
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    return 'read'


def main():
    """Open all bombs."""
    # what is loaded at the first use of anything counts before
    robot('extends: c3p')(Path(sys.argv[1]))[0]('c3p')
    for number, name in enumerate(BOMBS):
        folder = Path(sys.argv[1]) / f'{number}'
        folder.mkdir()
        print(json.dumps([name, opened(name, folder)]), flush=True)


if __name__ == '__main__':
    main()
