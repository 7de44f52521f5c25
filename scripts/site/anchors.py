"""Gives headings the anchors that GitHub gives them: links between documents work in both places."""

import re


def slug_of(title, separator):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def on_config(config):
    """Called by MkDocs."""
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug_of
    return config
