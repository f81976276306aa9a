# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Pictures as SVG, for the scripts of this folder that draw them."""

from xml.sax.saxutils import escape

FONT_SIZE = 13
CHAR_WIDTH = 7.83  # of the monospaced font at that size
LINE = "#57606a"
INK = "#1f2328"


class Picture:
    """A picture on a white page, which keeps it legible on dark backgrounds."""

    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.body = [f"<title>{escape(title)}</title>"]
        self.rect(0.5, 0.5, width - 1, height - 1, fill="#ffffff", stroke="#d0d7de", rx=6)

    def rect(self, x, y, width, height, fill="none", stroke=LINE, **attributes):
        self._element("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke,
                      **attributes)

    def path(self, d, stroke=LINE, **attributes):
        self._element("path", d=d, stroke=stroke, **{"fill": "none", **attributes})

    def text(self, x, y, text, **attributes):
        self._element("text", text, x=x, y=y, **attributes)

    def _element(self, tag, text=None, **attributes):
        parts = [tag]
        for name, value in attributes.items():
            if not isinstance(value, str):
                value = f"{value:.2f}".rstrip("0").rstrip(".")
            parts.append(f'{name.replace("_", "-")}="{value}"')
        end = "/>" if text is None else f">{escape(text)}</{tag}>"
        self.body.append("<" + " ".join(parts) + end)

    def __str__(self):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
            f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
            f'font-family="monospace" font-size="{FONT_SIZE}" fill="{INK}">'
        )
        return "\n".join([head, *self.body, "</svg>"])
