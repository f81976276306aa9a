# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Configuration of Sphinx, for "make docs" (tools/lib/docs/html).

The theme is the default of the kernel's Documentation/conf.py, with the same fallback.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath("sphinx"))


def changelog_version():
    with open(os.path.abspath("../debian/changelog"), encoding="utf-8") as changelog:
        return re.search(r"\((.*?)\)", changelog.readline())[1]


project = "mxe"
author = "the mxe developers"
copyright = author  # pylint: disable=redefined-builtin
version = release = changelog_version()

needs_sphinx = "5.3"
extensions = ["references"]
primary_domain = "c"
highlight_language = "none"
smartquotes = False
# Attributes in prototypes that are no part of C.
c_id_attributes = [
    "__always_inline", "__iomem", "__must_check", "__percpu", "__printf", "__rcu", "__user",
]

html_theme = "sphinx_rtd_theme"
try:
    import sphinx_rtd_theme  # noqa: F401  pylint: disable=unused-import
except ImportError:
    html_theme = "classic"
html_title = f"mxe {release}"
html_static_path = ["sphinx/static"]
html_css_files = ["mxe.css"]
html_copy_source = False
html_show_copyright = False
