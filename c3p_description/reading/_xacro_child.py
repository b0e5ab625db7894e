# SPDX-License-Identifier: Apache-2.0
"""
A process that expands one xacro file: ``FILE NAME:=VALUE …`` → JSON on standard output.

xacro runs what a file has between ``${`` and ``}``. Here it has limited processor time and memory.
"""

import json
import os
import signal
import sys

# processor time [s] and address space [bytes] of the process, characters of the result
SECONDS = 2.0
MEMORY = 500_000_000
RESULT = 4_000_000


def main() -> None:
    """Expand the file."""
    # beside this file are modules whose names xacro's own imports could meet
    sys.path.pop(0)
    # what a file prints must not be taken for the result
    result = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    import xacro

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    # systems without these limits have that of the time by the clock
    except (ImportError, AttributeError, ValueError, OSError):
        pass
    path, *arguments = sys.argv[1:]
    try:
        text = xacro.process_file(
            path, mappings=dict(a.split(':=', 1) for a in arguments)).toprettyxml(indent='  ')
        if len(text) > RESULT:
            raise ValueError(f'the result has {len(text)} characters, at most {RESULT} are read')
        told = {'text': text}
    # xacro raises bare exceptions of many types
    except BaseException as error:
        told = {'error': (f'{error}' or type(error).__name__)[:2000]}
    json.dump(told, result)
    result.close()


if __name__ == '__main__':
    main()
