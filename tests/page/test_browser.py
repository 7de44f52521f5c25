#!/usr/bin/env python3
"""The pages of caip in headless Chromium: their layout at three widths in both colour schemes, and coarse pictures.

The layout is measured with the fonts of this machine (measure.js). The pictures in tests/golden/page are a tenth to a
quarter as large as the page. They are drawn with a font that the test makes (pictures.py), because the fonts of another
machine would move every line. They show where what stands, in which colours, and not how letters look. UPDATE_GOLDEN=1
rewrites them.

  CAIP           the caip to test; default: the newest of build/{release,quick,dev}/caip
  CAIP_CHROMIUM  the browser; default: the first of chromium, chromium-browser and google-chrome on PATH
"""

import contextlib
import http.server
import json
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / 'golden' / 'page'
sys.path.insert(0, str(HERE.parent / 'clients'))

import chromium  # noqa: E402
import pictures  # noqa: E402
import support  # noqa: E402

VIEWS = [(page, width, scheme) for page in ('timeline', 'study') for width in (360, 800, 1600)
         for scheme in ('light', 'dark')]
PICTURE = {360: 90, 800: 120, 1600: 160}  # pixels: the width of the picture of a window
MEASURE = (HERE / 'measure.js').read_text()
# Style sheets that bring back the faults of earlier pages, and what the measurement says about them.
FAULTS = [
    ('timeline', 360, 'td { overflow-wrap: anywhere; font-size: 60px !important; max-width: 100px; }',
     'is broken into [0-9]+ lines'),
    ('timeline', 360, '.scroll { overflow: visible; }', r'the page is [0-9]+ px wide in a window of 360 px'),
    ('timeline', 1600, 'table { width: auto; max-width: 500px; }', 'Assertions leaves free space'),
    ('timeline', 1600, '.scroll { width: 33%; }', 'Timeline of the run uses 3[0-9] % of the window'),
    ('timeline', 800, 'pre { white-space: normal; }', '[0-9]+ lines are shown on [0-9]+'),
    ('timeline', 800, 'p { color: #999; }', 'has a contrast of 2.8'),
    ('timeline', 800, '#tip { left: 100% !important; }', 'the tip of a mark leaves the window'),
    ('study', 800, 'h2 { margin-bottom: -2rem; position: relative; }', "'Trials' overlaps 'trial'"),
    ('study', 800, '.drawing .labels { width: 120px !important; margin-right: -40px; }', 'is covered by the labels'),
    ('study', 800, '.drawing > .plot { margin-left: 0 !important; }', "'0.0001' is cut off"),
    ('study', 800, 'svg text { font-size: 6px !important; }', 'has letters of 6px'),
]



def answer_with(body):
    """A server that answers each request with that JSON text."""
    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers GET."""

        def do_GET(self):  # pylint: disable=invalid-name
            self.send_response(200)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    return http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)


def write_pages(folder):
    """Writes both pages from fixed data, by the commands of a user. Their paths by name."""
    caip = support.caip_binary()
    pages = {'timeline': folder / 'timeline.html', 'study': folder / 'study.html'}
    support.run([caip, 'scenario', 'show', HERE / 'run.jsonl', '--html', pages['timeline']])
    with answer_with((HERE / 'study.json').read_bytes()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            env = {**support.clean_environment(), 'CAIP_ENDPOINT': f'http://127.0.0.1:{server.server_port}'}
            support.run([caip, 'jobs', 'trials', 'digits', '--project', 'p', '--plot', pages['study']], env=env)
        finally:
            server.shutdown()
            thread.join()
    return pages


class Pages(unittest.TestCase):
    """Both pages in one browser."""

    @classmethod
    def setUpClass(cls):
        program = chromium.find()
        if not program:
            raise unittest.SkipTest('no Chromium is on PATH, and CAIP_CHROMIUM is not set')
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.pages = write_pages(Path(cls.folder.name))
        cls.browser = cls.enterClassContext(chromium.Browser(program))

    @contextlib.contextmanager
    def opened(self, name, width, scheme):
        """A page in a window of that width, for a person who prefers that colour scheme."""
        with self.subTest(page=name, width=width, scheme=scheme):
            self.browser.open(self.pages[name].as_uri(), width, scheme=scheme)
            yield

    def test_layout(self):
        for view in VIEWS:
            with self.opened(*view):
                self.assertEqual(self.browser.evaluate(MEASURE), [])

    def test_layout_in_another_font(self):
        for view in VIEWS:
            with self.opened(*view):
                self.assertTrue(self.browser.evaluate(pictures.use_box_font()))
                self.assertEqual(self.browser.evaluate(MEASURE), [])

    def test_faults_are_found(self):
        for page, width, style, fault in FAULTS:
            with self.opened(page, width, 'light'):
                self.add_style(style)
                self.assertRegex('\n'.join(self.browser.evaluate(MEASURE)), fault)

    def add_style(self, style):
        """Adds rules to the page's style sheet."""
        self.browser.evaluate(f"document.querySelector('style').append({json.dumps(style)})")

    def test_each_scheme_has_its_colours(self):
        for name, width, scheme in VIEWS:
            with self.opened(name, width, scheme):
                colour = self.browser.evaluate('getComputedStyle(document.body).backgroundColor')
                self.assertEqual(colour, {'light': 'rgb(255, 255, 255)', 'dark': 'rgb(22, 24, 27)'}[scheme])

    def test_pages_ask_for_nothing(self):
        self.browser.requests.clear()
        for view in VIEWS:
            with self.opened(*view):
                self.assertEqual({url.split(':')[0] for url in self.browser.requests}, {'file'})

    def test_pictures(self):
        for name, width, scheme in VIEWS:
            with self.opened(name, width, scheme):
                self.browser.evaluate(pictures.use_box_font())
                self.check_picture(f'{name}-{width}-{scheme}.png', self.browser.screenshot(PICTURE[width] / width))

    def test_other_pictures_are_found(self):
        wanted = (GOLDEN / 'study-800-light.png').read_bytes()
        for style in ('.plot, table { visibility: hidden; }', '.bar, .trial, .best { visibility: hidden; }', ':root { color-scheme: dark; --page: #16181b; }',
                      '.scroll { width: 33%; }', 'h2 { margin-top: 9rem; }'):
            with self.opened('study', 800, 'light'):
                self.add_style(style)
                self.browser.evaluate(pictures.use_box_font())
                picture = self.browser.screenshot(PICTURE[800] / 800)
                self.assertTrue(pictures.difference(picture, wanted), style)

    def check_picture(self, name, picture):
        """Compares a picture with the golden one, or writes that."""
        wanted = GOLDEN / name
        if os.environ.get('UPDATE_GOLDEN') == '1':
            wanted.parent.mkdir(exist_ok=True)
            wanted.write_bytes(picture)
            return
        fault = pictures.difference(picture, wanted.read_bytes())
        if fault:
            kept = Path(tempfile.gettempdir()) / f'caip-{name}'
            kept.write_bytes(picture)
            self.fail(f'{name}: {fault}. The picture is in {kept}; UPDATE_GOLDEN=1 rewrites the golden one')


if __name__ == '__main__':
    support.main()
