# SPDX-License-Identifier: Apache-2.0
"""The scripts that set a fresh machine up, and the jobs of CI that call them."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import yaml
from source_tree import python_path

ROOT = Path(__file__).resolve().parents[1]


def test_kernels_are_compiled_before_the_rest_is_installed():
    script = textwrap.dedent("""
        import runpy
        import sys
        given = {'numpy', 'scipy', 'numba', 'llvmlite', 'yaml'}

        class Later:
            def find_spec(self, name, path=None, target=None):
                room = name.partition('.')[0]
                if not (room in given or room in sys.stdlib_module_names
                        or room.startswith(('c3p_', '_'))):
                    raise ImportError(f'{name} is installed later')

        sys.meta_path.insert(0, Later())
        sys.argv = ['compile_kernels.py']
        runpy.run_path('scripts/compile_kernels.py', run_name='__main__')
        """)
    ran = subprocess.run([sys.executable, '-c', script], cwd=ROOT, capture_output=True, text=True,
                         check=False, env={**os.environ, 'PYTHONPATH': python_path(ROOT)})
    assert ran.returncode == 0, ran.stderr


def test_scripts_keep_the_bytecode_of_imports_whatever_the_shell_is_set_to():
    """Without it each process compiles all libraries, which takes longer than most tests."""
    ran = subprocess.run(
        ['bash', '-c', 'source scripts/environment.sh\n'
         '"$(find_python)" -c "import sys; print(sys.dont_write_bytecode)"'], cwd=ROOT,
        capture_output=True, text=True, check=True,
        env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
    assert ran.stdout == 'False\n'


def test_each_test_belongs_to_one_part_of_the_second_command():
    text = (ROOT / 'scripts/run_tests.sh').read_text(encoding='utf-8')
    parts = [quoted or plain for quoted, plain in re.findall(r"-m (?:'(.*?)'|(\w+)) ", text)
             if (quoted or plain) != 'coverage' and (quoted or plain) != 'pytest']
    assert len(parts) == 3
    for marks in ((), ('site',), ('real_time',)):
        known = {name: name in marks for name in ('site', 'real_time')}
        assert sum(eval(part, {}, known) for part in parts) == 1, marks


def test_the_tests_of_the_nodes_run_on_the_wheels_of_kilted_too():
    text = (ROOT / 'scripts/run_tests.sh').read_text(encoding='utf-8')
    folders = re.search(r'^nodes=\((.*?)\)', text, re.DOTALL | re.MULTILINE).group(1).split()
    assert 'test/c3p_ros' in folders and all((ROOT / folder).is_dir() for folder in folders)
    jobs = yaml.safe_load((ROOT / '.github/workflows/ci.yml').read_text(encoding='utf-8'))['jobs']
    assert any('run_tests.sh --kilted' in step.get('run', '') for step in jobs['kilted']['steps'])
