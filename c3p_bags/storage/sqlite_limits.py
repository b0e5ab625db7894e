# SPDX-License-Identifier: Apache-2.0
"""Whether an sqlite3 file of a bag can be read without running away."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from c3p_bags.storage.text_limits import MOST_DEFINITION, MOST_QOS, check_packed, check_qos
from c3p_description.texts import brief

# steps of SQLite's machine for each byte of a file, when its structure is checked
STEPS = 100
TABLES = ('messages', 'topics', 'schema', 'metadata', 'message_definitions')


def check_sqlite(path: Path, mode: str) -> None:
    """
    Refuse a database whose tables are not what they seem, or whose pages form loops.

    Parameters
    ----------
    path : Path
    mode : str
        ``'message'`` where every message is packed by itself.

    Raises
    ------
    ValueError
        With what is wrong, or too much.
    """
    if set('%?#') & set(str(path)):
        raise ValueError('a path with %, ? or # cannot be opened; rename it')
    left = STEPS * path.stat().st_size + 1_000_000

    def count() -> bool:
        nonlocal left
        left -= 1000
        return left < 0

    base = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    base.set_progress_handler(count, 1000)
    base.text_factory = lambda data: data.decode('utf-8', 'replace')
    try:
        for kind, name, text in base.execute('SELECT type, name, sql FROM sqlite_master'):
            if kind == 'view' or 'VIRTUAL' in f'{text}'.upper().split()[:3]:
                raise ValueError(f'a database with the {kind} {brief(name)}; only plain tables '
                                 'are read')
        for table in TABLES:
            if any(row[6] for row in base.execute(f'PRAGMA table_xinfo({table})')):
                raise ValueError(f'a database whose table {table} has computed columns')
        sound = base.execute('PRAGMA quick_check(1)').fetchone()
        if sound != ('ok',):
            raise ValueError(f'a damaged database ({brief(sound and sound[0])})')
        _check_rows(base, mode)
    except sqlite3.Error as error:
        raise ValueError(f'a damaged database ({error})') from None
    finally:
        base.close()


def _check_rows(base: sqlite3.Connection, mode: str) -> None:
    """Check texts of a database, and messages that are packed one by one."""
    for table, column, most in (('topics', 'offered_qos_profiles', MOST_QOS),
                                ('message_definitions', 'encoded_message_definition',
                                 MOST_DEFINITION)):
        if column not in [row[1] for row in base.execute(f'PRAGMA table_info({table})')]:
            continue
        for text, in base.execute(f'SELECT {column} FROM {table}'):
            if len(f'{text}') > most:
                raise ValueError(f'a {column} of {len(text)} characters')
            if table == 'topics':
                check_qos(text)
    if mode == 'message':
        for data, in base.execute('SELECT data FROM messages'):
            check_packed(data)
