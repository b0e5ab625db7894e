# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site, which loads nothing from elsewhere: scripts/build_docs.sh."""

import gc
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
# rosdoc2 copies the pages to another folder, and reads this file from a file of its own
if wrapped := re.search(r'open\("(.+)/conf\.py"\)', Path(__file__).read_text('utf-8')):
    HERE = Path(wrapped[1])
sys.path.insert(0, str(HERE / '_ext'))

# millions of nodes that all stay: looking through them again and again is a fifth of a build
gc.set_threshold(500_000, 20, 100)

project = 'c3p'
author = 'The C3P authors'
copyright = 'The C3P authors, Apache-2.0'  # noqa: A001
release = re.search(r"version='([\d.]+)'", (HERE.parent / 'setup.py').read_text('utf-8'))[1]
version = release

extensions = ['myst_parser', 'sphinx_copybutton', 'api_pages', 'mathml', 'source_links',
              'unicode_math']
exclude_patterns = ['_build', '_ext', '_static']

# Markdown: what a forge understands, too
myst_enable_extensions = ['colon_fence', 'dollarmath', 'amsmath', 'attrs_block']
# as a forge makes them, so that links to headings hold in both
myst_heading_anchors = 4

# indented code is formulas and drawings; blocks with a language name it
highlight_language = 'none'
default_role = 'literal'
# texts are typed as they are meant
smartquotes = False
maximum_signature_line_length = 88
toc_object_entries = False
add_module_names = False

html_theme = 'furo'
html_title = f'c3p {release}'
html_static_path = ['_static']
html_css_files = ['c3p.css']
html_math_renderer = 'mathml'
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    'navigation_with_keys': True,
    'light_css_variables': {'color-brand-primary': '#0b6e8f', 'color-brand-content': '#0b6e8f'},
    'dark_css_variables': {'color-brand-primary': '#57c2e6', 'color-brand-content': '#57c2e6'},
}
copybutton_prompt_text = '$ '
copybutton_only_copy_prompt_lines = False
