# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: builds without a warning, says what is there, runs as written."""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('sphinx', reason='needs the extra docs: pip install .[docs]')
pytest.importorskip('furo', reason='needs the extra docs: pip install .[docs]')

ROOT = Path(__file__).parents[1]
DOCS = ROOT / 'docs'
sys.path.insert(0, str(DOCS / '_ext'))

import api_pages  # noqa: E402
import public_names  # noqa: E402
import unicode_math  # noqa: E402
from docstring_text import restructured  # noqa: E402
from source_links import rewritten  # noqa: E402

TUTORIALS = sorted(DOCS.glob('tutorials/*.md'))
# a tutorial that is longer is not finished by anybody; what is printed counts, too
LONGEST = 125
PLACEHOLDER = re.compile(r'\b(BAG2?|DIR|PAGE|FILE|ROBOT|GOAL)\b|…|\[')


def run_tutorials():
    """Return scripts/run_tutorials.py."""
    path = ROOT / 'scripts/run_tutorials.py'
    spec = importlib.util.spec_from_file_location('run_tutorials', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# reads every page and every docstring, resolves every link; writes nothing
@pytest.mark.site
@pytest.mark.timeout(1200)
def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-b', 'dummy', '--fail-on-warning', '--keep-going',
         '--quiet', str(DOCS), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_package_has_a_page_of_the_api():
    pages = {path.stem for path in DOCS.glob('api/*.rst')}
    assert pages == set(public_names.packages())


def test_a_page_of_the_api_has_every_public_name():
    text = api_pages.page('c3p_kinematics')
    for name in ('casters', 'odometry', 'singularity'):
        tree = ast.parse((ROOT / f'c3p_kinematics/{name}.py').read_text(encoding='utf-8'))
        for node in public_names.members(tree):
            assert re.search(rf'^\.\. py:(function|class):: {node.name}\b', text, re.M), node.name
    assert '.. py:method:: Odometry.step(time: float, ' in text
    assert '.. py:property:: Odometry.pose' in text


def test_names_are_resolved_as_the_module_sees_them():
    resolved = public_names.resolved
    assert resolved('c3p_kinematics.odometry', 'CasterRobot') == (
        'c3p_description.model.CasterRobot')
    # handed on by a package
    assert resolved('c3p_multibody.constraints.motion', 'Tree') == (
        'c3p_multibody.trees.description.Tree')
    assert resolved('c3p_kinematics.casters', 'inverse') == 'c3p_kinematics.casters.inverse'
    assert resolved('c3p_kinematics.casters', 'ndarray') is None


@pytest.mark.parametrize('written, shown', [
    ('The length |v| of `v_`.', r'The length \|v\| of ``v_``.'),
    ('As ``|x|``, a table.', 'As ``|x|``, a table.'),
    ('See `sensed_forward`.', 'See :py:obj:`sensed_forward '
                              '<c3p_kinematics.casters.sensed_forward>`.'),
    ('See docs/papers/kelly.md.', 'See :doc:`/papers/kelly`.'),
    ('It is\n\n    v = |x|    u = 0\n\nthen.', 'It is\n\n::\n\n    v = |x|    u = 0\n\nthen.'),
])
def test_docstrings_become_text_without_losing_their_mathematics(written, shown):
    assert '\n'.join(restructured(written, 'c3p_kinematics.casters')).strip() == shown


@pytest.mark.parametrize('sentence, formulas', [
    ('The equation is A q̈ + c = τ + Bᵀλ. A constraint acts', ['A q̈ + c = τ + Bᵀλ']),
    ('J_a θ̇_a = 0, det J_u = −r d; and so on', ['J_a θ̇_a = 0', 'det J_u = −r d']),
    ('h = 0.1 m, torques of 20 N·m, 3 m/s², 40 µs', ['h = 0.1']),
    ('a goal_tolerance of c3p_bags, x and y by I/O', []),
    ('the nodes of c3p_ros, and 2x_i', ['2x_i'])])
def test_unicode_mathematics_of_a_sentence_is_set_and_its_words_are_not(sentence, formulas):
    assert [text for maths, text in unicode_math.runs(sentence) if maths] == formulas
    assert ''.join(text for _, text in unicode_math.runs(sentence)) == sentence


def test_scripts_accents_and_roots_become_mathml():
    assert unicode_math.row('θ̇_x,i²') == (
        '<msubsup><mover><mi>θ</mi><mo stretchy="false">˙</mo></mover>'
        '<mrow><mi>x</mi><mo>,</mo><mi>i</mi></mrow><mn>2</mn></msubsup>')
    assert unicode_math.row('√(a²+b)').startswith('<msqrt><msup><mi>a</mi><mn>2</mn></msup>')


def test_links_to_source_lead_to_what_they_name():
    page = DOCS / 'papers/el_shenawy.md'
    text = ('[`casters.inverse`](../../c3p_kinematics/casters.py) '
            '[how](../../c3p_kinematics/casters.py) '
            '[constants](../../config/c3p.yaml) [here](../nodes.md) '
            '[grounds](../../c3p_description/terrains) [policy](../../SECURITY.md)')
    assert rewritten(page, text) == (
        '{py:obj}`casters.inverse <c3p_kinematics.casters.inverse>` '
        '{py:obj}`how <c3p_kinematics.casters>` '
        '[constants](../../config/c3p.yaml) [here](../nodes.md) `grounds` `policy`')


@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_short_and_shows_what_its_commands_printed(path):
    page = path.read_text(encoding='utf-8')
    assert len(page.splitlines()) <= LONGEST
    assert '```text\n```' not in page, 'run: python scripts/run_tutorials.py'
    # nothing of the computer on which it was run
    assert not re.search(r'/tmp/|/home/|/work/', page)


def test_the_outputs_of_a_tutorial_are_written_below_its_commands(tmp_path):
    script = run_tutorials()
    page = ('```bash\nA=1\necho one\n```\n\n```text\nold\n```\n\n```sh\nfalse\n```\n'
            '```bash\necho unseen\n```\nText.\n```bash\necho "$A  "\n```\n\n```text\n```\n')
    printed = script.outputs(script.commands(page), str(tmp_path))
    assert script.filled(page, printed) == (
        '```bash\nA=1\necho one\n```\n\n```text\none\n```\n\n```sh\nfalse\n```\n'
        '```bash\necho unseen\n```\nText.\n```bash\necho "$A  "\n```\n\n```text\n1\n```\n')
    with pytest.raises(RuntimeError, match='exit code 1'):
        script.outputs(['false'], str(tmp_path))


def c3p_commands(page):
    """Yield every call of `c3p` in a page's blocks of shell, words apart."""
    for block in re.findall(r'```(?:bash|sh)\n(.*?)```', page, re.DOTALL):
        for line in block.replace('\\\n', ' ').splitlines():
            if line.startswith('c3p ') and not PLACEHOLDER.search(line):
                words = shlex.split(line, comments=True)
                ends = [k for k, w in enumerate(words) if w in ('|', '>', '2>', '&', '||', '&&')]
                yield words[1:min(ends, default=len(words))]


@pytest.mark.parametrize('path', [ROOT / 'README.md', *sorted(DOCS.glob('**/*.md'))],
                         ids=lambda path: path.stem)
def test_every_command_in_the_pages_can_be_typed(path):
    parser = pytest.importorskip('c3p_bringup.cli.main').parser()
    for words in c3p_commands(path.read_text(encoding='utf-8')):
        # test_own_law_page.py types those of the law that the page defines
        words = ['mpc' if word == 'computed' else word for word in words]
        try:
            parser.parse_args(words)
        except SystemExit:
            pytest.fail(f'c3p {shlex.join(words)} is refused')


def test_the_gallery_is_what_its_script_writes():
    path = ROOT / 'scripts/write_gallery.py'
    spec = importlib.util.spec_from_file_location('write_gallery', path)
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    assert (DOCS / 'gallery.md').read_text('utf-8') == gallery.page()
