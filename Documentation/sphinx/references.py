# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Sphinx extension: links what documents name in plain text, and checks that it exists.

Names of documents (overview.rst), of manual pages (mxe(7)) and of functions of the API
reference become links, as in the kernel's documentation.  A warning is given for

- a file or folder of this tree that does not exist, in *.rst and in the Markdown files at
  the top of the tree,
- a broken link between Markdown files,
- a manual page that is neither one of this tree nor one in OTHER_PAGES.
"""

import glob
import json
import os
import re

from docutils import nodes
from sphinx.errors import NoUri
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Manual pages of other projects, by Debian package.
OTHER_PAGES = """
apt: apt-get(8)
binutils: ld(1)
bpftrace: bpftrace(8)
clang: clang(1)
cmake: cmake(1)
cpio: cpio(1)
ethtool: ethtool(8)
gcc: gcc(1)
ibverbs-utils: ibv_devinfo(1)
iproute2: ip(8) ip-link(8) ip-netns(8) rdma(8) rdma-link(8) rdma-resource(8)
	rdma-statistic(8) rdma-system(8) tc(8) tc-netem(8)
kmod: depmod(8) modprobe(8)
libibverbs-dev: ibv_advise_mr(3) ibv_alloc_dm(3) ibv_alloc_parent_domain(3)
	ibv_alloc_td(3) ibv_bind_mw(3) ibv_close_device(3) ibv_create_cq(3)
	ibv_create_cq_ex(3) ibv_create_flow(3) ibv_create_qp(3) ibv_create_qp_ex(3)
	ibv_create_srq(3) ibv_create_srq_ex(3) ibv_dereg_mr(3) ibv_destroy_cq(3)
	ibv_destroy_flow(3) ibv_destroy_qp(3) ibv_destroy_srq(3)
	ibv_get_async_event(3) ibv_get_device_list(3)
	ibv_import_device(3) ibv_import_dm(3) ibv_import_mr(3) ibv_import_pd(3)
	ibv_modify_cq(3) ibv_modify_qp(3) ibv_open_device(3) ibv_open_qp(3)
	ibv_open_xrcd(3) ibv_poll_cq(3) ibv_post_send(3) ibv_post_srq_ops(3)
	ibv_qp_to_qp_ex(3) ibv_query_device(3)
	ibv_query_device_ex(3) ibv_query_ece(3) ibv_query_gid_ex(3)
	ibv_query_port(3) ibv_query_qp(3) ibv_query_rt_values_ex(3) ibv_reg_mr(3)
	ibv_req_notify_cq(3) ibv_set_ece(3) ibv_start_poll(3)
	ibv_wr_atomic_cmp_swp(3) ibv_wr_atomic_fetch_add(3) ibv_wr_complete(3)
	ibv_wr_post(3) ibv_wr_set_sge(3) ibv_wr_set_sge_list(3) ibv_wr_start(3)
	libibverbs(7)
libfabric-bin: fi_info(1)
libfabric-dev: fi_accept(3) fi_atomic(3) fi_cancel(3) fi_close(3)
	fi_cm(3) fi_cntr_wait(3) fi_connect(3) fi_cq_read(3) fi_cq_readerr(3)
	fi_enable(3) fi_getinfo(3) fi_getname(3) fi_listen(3) fi_provider(7)
	fi_reject(3) fi_rma(3) fi_shutdown(3) fi_trecvmsg(3)
	fi_trigger(3)
librdmacm-dev: rdma_cm(7) rdma_connect(3) rdma_create_qp(3)
manpages: capabilities(7) mdoc(7) veth(4)
manpages-dev: pthread_setaffinity_np(3) setenv(3)
nftables: nft(8)
perftest: ib_atomic_lat(1)
tcpdump: tcpdump(8)
tshark: tshark(1)
"""

# Files that the documents name and that are not in this tree.
OTHER_FILES = re.compile(
    r"""(
    ^/ | ^~ | ^\$ | ^\.\./ |                    # on the reader's machine
    ^build/ |                                   # made by the makefiles
    ^Documentation/infiniband/ |                # of the kernel
    ^(linux|net|uapi/linux|sys)/ |              # headers of the kernel and of libc
    ^dat2/ |                                    # of libdat2
    ^include/(linux|net)/ |
    (^|/)(ib_verbs|verbs|driver|mlx5dv|mlx5_api|peer_ops|ofi_prov)\.h$  # of RDMA
    )""",
    re.X,
)

TOP_FOLDERS = "kernel|include|userspace|tests|tools|Documentation|debian|LICENSES|\\.ci"
SUFFIXES = "awk|c|cc|h|lua|map|mk|py|rst|sh|svg|table"
PATH = re.compile(rf"(?<![\w/.~$-])(?:{TOP_FOLDERS})/[\w./*{{}},+-]*\w[/}}*]?")
FILE = re.compile(rf"^[\w./*{{}},+-]+\.(?:{SUFFIXES})$")
DOCUMENT = re.compile(r"(?<![\w/.-])(?:Documentation/)?([\w-]+)\.rst\b")
MANUAL_PAGE = re.compile(r"(?<![\w.-])([A-Za-z_][\w.+-]*)\(([1-8])\)")
FUNCTION = re.compile(r"^([a-z_]\w*)\(\)$")
LINKS = re.compile(f"{DOCUMENT.pattern}|{MANUAL_PAGE.pattern}")


class Tree:
    """The files of the project."""

    def __init__(self, top):
        self.top = top
        self.names = set()
        for folder, subfolders, files in os.walk(top):
            subfolders[:] = [f for f in subfolders if f not in (".git", "build")]
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), top).split(os.sep)
                # "rdma/ib_exp.h" is found as well as "include/rdma/ib_exp.h".
                self.names.update("/".join(path[i:]) for i in range(len(path)))

    def has(self, name):
        if OTHER_FILES.search(name):
            return True
        for word in expand_braces(name):
            word = word.rstrip("/")
            if word in self.names or os.path.exists(os.path.join(self.top, word)):
                continue
            if "*" not in word or not glob.glob(os.path.join(self.top, word)):
                return False
        return True

    def missing_in(self, text, literal):
        """Return the files that the text names and that do not exist."""
        found = [text] if literal and FILE.match(text) else PATH.findall(text)
        if not literal:
            found += [f"{name}.rst" for name in DOCUMENT.findall(text)]
        return [name for name in found if not self.has(name)]


def expand_braces(name):
    braces = re.search(r"\{([^{}]*)\}", name)
    if not braces:
        return [name]
    return [
        word
        for choice in braces[1].split(",")
        for word in expand_braces(name[: braces.start()] + choice + name[braces.end():])
    ]


# ---- Markdown -------------------------------------------------------------


def check_markdown(tree, path):
    name = os.path.relpath(path, tree.top)
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{name}:{number}"
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if ":" not in target and not os.path.exists(os.path.join(tree.top, target)):
                    logger.warning("no file %s", target, location=where)
            for code in re.findall(r"`([^`]+)`", line):
                for missing in tree.missing_in(code, True):
                    logger.warning("no file %s", missing, location=where)


def check_markdown_files(app):
    app.mxe_tree = Tree(os.path.dirname(app.confdir))
    app.mxe_other_pages = set(MANUAL_PAGE.findall(OTHER_PAGES))
    with open(os.path.join(app.srcdir, "man/pages.json"), encoding="utf-8") as pages:
        app.mxe_pages = json.load(pages)
    for path in sorted(glob.glob(os.path.join(app.mxe_tree.top, "*.md"))):
        check_markdown(app.mxe_tree, path)
    check_manual_pages(app)


# ---- manual pages ---------------------------------------------------------


def check_manual_pages(app):
    """Check the references of manual pages to those of other projects."""
    for path in sorted(glob.glob(os.path.join(app.srcdir, "man/*.rst"))):
        with open(path, encoding="utf-8") as page:
            text = page.read()
        source = re.match(r"\.\. source: (.*)", text)
        if not source:
            continue
        others = re.findall(r"manpages\.debian\.org/([^\"]+)\.(\d)\"", text)
        for name, section in sorted(set(others) - app.mxe_other_pages):
            line = line_with(os.path.join(app.mxe_tree.top, source[1]), name)
            logger.warning("no manual page %s(%s)", name, section,
                           location=f"{source[1]}:{line}")


def line_with(path, name):
    """Return the number of the first line of a file that has a name."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if name in line.replace("\\-", "-"):
                return number
    return 1


# ---- documents ------------------------------------------------------------


def reference(app, docname, target, text):
    try:
        uri = app.builder.get_relative_uri(docname, target)
    except NoUri:
        return nodes.Text(text)
    return nodes.reference("", text, internal=True, refuri=uri)


def link(app, docname, match, node):
    """Return the nodes for a document or a manual page that a text names."""
    document, name, section = match.groups()
    if document:
        if document in app.env.found_docs and document != docname:
            return reference(app, docname, document, match[0])
        return nodes.Text(match[0])
    page = app.mxe_pages.get(f"{name}({section})")
    if page:
        return reference(app, docname, page, match[0])
    if (name, section) in app.mxe_other_pages:
        uri = f"https://manpages.debian.org/{name}.{section}"
        return nodes.reference("", match[0], internal=False, refuri=uri)
    logger.warning("no manual page %s", match[0], location=node)
    return nodes.Text(match[0])


def link_text(app, docname, text, node):
    """Replace the names in a text node by links."""
    parts, end = [], 0
    for match in LINKS.finditer(text):
        parts += [nodes.Text(text[end:match.start()]), link(app, docname, match, node)]
        end = match.end()
    if parts:
        node.parent.replace(node, parts + [nodes.Text(text[end:])])


def link_function(app, docname, node):
    name = FUNCTION.match(node.astext())
    if name:
        domain = app.env.get_domain("c")
        found = domain.resolve_any_xref(app.env, docname, app.builder, name[1], node,
                                        node.deepcopy())
        if found:
            node.replace_self(found[0][1])


def process_document(app, doctree, docname):
    for node in list(doctree.findall(nodes.reference)):
        uri = node.get("refuri", "")
        if node.get("internal") or re.match(r"\w+:", uri):
            continue
        document = re.fullmatch(r"([\w-]+)\.rst", uri)
        if document and document[1] in app.env.found_docs:
            node["refuri"] = app.builder.get_relative_uri(docname, document[1])
        elif uri:
            logger.warning("no document %s", uri, location=node)
    skipped = (nodes.reference, nodes.title, nodes.raw, nodes.comment)
    for node in list(doctree.findall(nodes.Text)):
        parent, text = node.parent, node.astext()
        literal = isinstance(parent, nodes.literal)
        for missing in app.mxe_tree.missing_in(text, literal):
            logger.warning("no file %s", missing, location=parent)
        if isinstance(parent, (nodes.literal_block, *skipped)) or any(
            isinstance(above, skipped) for above in ancestors(parent)
        ):
            continue
        link_text(app, docname, text, node)
        if literal and parent.parent:
            link_function(app, docname, parent)


def ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app):
    app.connect("builder-inited", check_markdown_files)
    app.connect("doctree-resolved", process_document)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
