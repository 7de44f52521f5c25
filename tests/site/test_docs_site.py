#!/usr/bin/env python3
"""The site that scripts/docs-site builds: each link and anchor has a target, no page needs another host, and a person in a
browser reaches the three doors and finds a page by its search.

Skipped where the generator cannot be installed from PyPI; the browser's part also where there is no Chromium.
"""

import contextlib
import functools
import html.parser
import http.server
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "page"))
import chromium  # noqa: E402

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and the files that a browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(value for name, value in attrs if name in ("id", "name") and value)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name, value in attrs:
            if (tag, name) in LOADED and value and values.get("rel") != "canonical":
                self.loaded.append(value)


@contextlib.contextmanager
def served(folder):
    """The address of a server of the files."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        """Prints nothing."""
        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-site-"))
        cls.site = pathlib.Path(folder) / "site"
        done = subprocess.run([ROOT / "scripts/docs-site", "--out", cls.site], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode == 77:
            raise unittest.SkipTest(done.stdout.strip())
        if done.returncode != 0:
            raise AssertionError(done.stdout)
        cls.pages = {path.relative_to(cls.site).as_posix(): Page(path.read_text()) for path in cls.site.rglob("*.html")}

    def test_each_document_is_a_page(self):
        for document in (ROOT / "docs").rglob("*.md"):
            page = document.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README.html", "index.html")
            self.assertIn(page, self.pages)

    def test_each_link_and_anchor_has_a_target(self):
        checked = 0
        for name, page in self.pages.items():
            if name == "404.html":
                continue  # its links are absolute: a server shows it anywhere
            for link in page.links + page.loaded:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or link == "#":
                    continue
                path = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path)) if parts.path else name
                path += "/index.html" if (self.site / path).is_dir() else ""
                with self.subTest(page=name, link=link):
                    self.assertTrue((self.site / path).is_file())
                    if parts.fragment and path in self.pages:
                        self.assertIn(urllib.parse.unquote(parts.fragment), self.pages[path].anchors)
                checked += 1
        self.assertGreater(checked, 1000)

    def test_no_page_loads_a_file_of_another_host(self):
        for name, page in self.pages.items():
            for file in page.loaded:
                self.assertNotRegex(file, r"^(https?:)?//", name)
        for sheet in self.site.rglob("*.css"):
            self.assertNotRegex(sheet.read_text(), r"(@import|url\()\s*['\"]?(https?:)?//", sheet.name)

    def test_the_start_has_three_doors_and_the_commands(self):
        start = (self.site / "index.html").read_text()
        for door in ("Run my trainer", "Test in CI", "Hunt restart bugs"):
            self.assertRegex(start, rf"<h2[^>]*>{door}</h2>")
        self.assertIn("commands.html", self.pages["index.html"].links)
        self.assertIn("caip-jobs-submit-training", self.pages["commands.html"].anchors)

    def test_the_same_documents_give_the_same_pages(self):
        again = self.site.with_name("again")
        subprocess.run([ROOT / "scripts/docs-site", "--out", again], check=True, stdout=subprocess.DEVNULL)
        for name in [*self.pages, "search/search_index.json"]:
            self.assertEqual((again / name).read_bytes(), (self.site / name).read_bytes(), name)

    def test_a_browser_finds_pages_and_asks_no_other_host(self):
        program = chromium.find()
        if not program:
            self.skipTest("Chromium is not installed")
        with served(self.site) as address, chromium.Browser(program) as browser:
            browser.open(f"{address}/index.html", 1200)
            doors = browser.evaluate("[...document.querySelectorAll('.navbar .dropdown-toggle')].map(a => a.innerText.trim())")
            for door in ("Run my trainer", "Test in CI", "Hunt restart bugs", "Reference"):
                self.assertIn(door, doors)
            self.assertIn("explorer.html", self.search(browser, "restarts crash point"))
            self.assertIn("commands.html", self.search(browser, "stream-logs"))
            browser.open(f"{address}/commands.html", 1200)
            self.assertIn("caip jobs submit training", browser.evaluate("document.body.innerText"))
            browser.open(f"{address}/commands.html", 400)
            self.assertLessEqual(browser.evaluate("document.querySelector('.navbar').scrollWidth"), 400)
            asked = {urllib.parse.urlsplit(url).netloc for url in browser.requests if re.match("https?:", url)}
            self.assertEqual(asked, {urllib.parse.urlsplit(address).netloc})

    def search(self, browser, words):
        """The pages that the search offers for some words."""
        return browser.evaluate("""new Promise((resolve, reject) => {
            const deadline = setTimeout(() => reject(new Error('the search offers nothing for %s')), 30000);
            const field = document.getElementById('mkdocs-search-query');
            const results = document.getElementById('mkdocs-search-results');
            results.innerHTML = '';
            const offered = () => [...results.querySelectorAll('a')].map(a => a.getAttribute('href').split('#')[0].split('/').pop());
            new MutationObserver(() => {
              if (offered().length) { clearTimeout(deadline); clearInterval(typing); resolve(offered()); }
            }).observe(results, {childList: true, subtree: true});
            // The page listens to the field only when it has read the index.
            const typing = setInterval(() => {
              field.value = '%s';
              field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
            }, 100);
          })""" % (words, words))


if __name__ == "__main__":
    unittest.main()
