#!/usr/bin/env python3
"""The parts of the browser tests that need no browser: the driver with a fake one, the font, and pictures."""

import base64
import json
import os
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chromium  # noqa: E402
import pictures  # noqa: E402

# Answers on the descriptors of the protocol as a browser does. REPLIES is replaced.
FAKE = """#!{python}
import json, os, sys
replies = json.loads({replies!r})
print('the fake browser has begun with', *sys.argv[1:], flush=True)
buffer = b''
while True:
    data = os.read(3, 65536)
    if not data:
        sys.exit(0)
    buffer += data
    while b'\\0' in buffer:
        message, buffer = buffer.split(b'\\0', 1)
        message = json.loads(message)
        method = message['method']
        if method in replies.get('end at', []):
            sys.exit('the fake browser ends')
        if method in replies.get('ignore', []):
            continue
        events = replies.get('events', {{}}).get(method, [])
        answer = {{'id': message['id'], **replies.get(method, {{'result': {{}}}})}}
        for each in [*events, answer]:
            os.write(4, json.dumps(each).encode() + b'\\0')
"""
OPENED = {'Target.createTarget': {'result': {'targetId': 'T'}},
          'Target.attachToTarget': {'result': {'sessionId': 'S'}}}


def png_of(width, height, colour_at):
    """A PNG file whose pixels have the colours that `colour_at(x, y)` gives."""
    raw = b''.join(b'\0' + bytes(channel for x in range(width) for channel in colour_at(x, y)) for y in range(height))

    def chunk(kind, body):
        return struct.pack('>L', len(body)) + kind + body + struct.pack('>L', zlib.crc32(kind + body))

    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>LLBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(raw)) + chunk(b'IEND', b''))


class Driver(unittest.TestCase):
    """chromium.py with a program that speaks the protocol."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fake(self, **replies):
        """The path of a fake browser."""
        program = self.folder / 'fake-chromium'
        program.write_text(FAKE.format(python=sys.executable, replies=json.dumps({**OPENED, **replies})))
        program.chmod(0o755)
        return str(program)

    def test_a_page_is_opened_and_measured(self):
        request = {'method': 'Network.requestWillBeSent', 'params': {'request': {'url': 'file:///page.html'}}}
        picture = png_of(2, 1, lambda x, y: (x, y, 7))
        program = self.fake(**{
            'events': {'Page.navigate': [request, {'method': 'Page.loadEventFired'}]},
            'Runtime.evaluate': {'result': {'result': {'value': {'width': 3}}}},
            'Page.captureScreenshot': {'result': {'data': base64.b64encode(picture).decode()}}})
        with chromium.Browser(program) as browser:
            browser.open('file:///page.html', 360)
            self.assertEqual(browser.evaluate('1 + 2'), {'width': 3})
            self.assertEqual(browser.screenshot(), picture)
            self.assertEqual(browser.requests, ['file:///page.html'])
        self.assertIsNotNone(browser.process.poll())
        self.assertFalse(os.path.exists(browser.folder.name))

    def test_a_browser_that_ends_is_reported_with_what_it_printed(self):
        for method in ('Target.createTarget', 'Page.enable'):
            with self.assertRaisesRegex(chromium.BrowserFault, '(?s)has ended.*begun with.*the fake browser ends'):
                with chromium.Browser(self.fake(**{'end at': [method]})):
                    pass

    def test_a_program_that_cannot_start_is_reported(self):
        with self.assertRaisesRegex(chromium.BrowserFault, 'has ended'):
            with chromium.Browser(str(self.folder / 'none')):
                pass

    def test_a_browser_that_does_not_answer_is_ended(self):
        with self.assertRaisesRegex(chromium.BrowserFault, 'has not answered for 0.2 s'):
            with chromium.Browser(self.fake(ignore=['Target.createTarget']), seconds=0.2) as browser:
                del browser

    def test_an_error_of_the_protocol_and_of_a_script_are_reported(self):
        with chromium.Browser(self.fake(**{
                'Page.navigate': {'error': {'message': 'no such page'}},
                'Runtime.evaluate': {'result': {'result': {}, 'exceptionDetails': {
                    'text': 'Uncaught', 'exception': {'description': 'TypeError: x'}}}}})) as browser:
            with self.assertRaisesRegex(chromium.BrowserFault, 'no such page'):
                browser.open('file:///none', 360)
            with self.assertRaisesRegex(chromium.BrowserFault, 'TypeError: x'):
                browser.evaluate('x.y')

    def test_the_named_browser_is_used(self):
        program = self.fake()
        with mock.patch.dict(os.environ, {'CAIP_CHROMIUM': program}):
            self.assertEqual(chromium.find(), program)
        with mock.patch.dict(os.environ, {'CAIP_CHROMIUM': '/none/chromium'}):
            with self.assertRaisesRegex(chromium.BrowserFault, 'CAIP_CHROMIUM=/none/chromium'):
                chromium.find()

    def test_without_a_browser_there_is_none(self):
        with mock.patch.dict(os.environ, {'PATH': str(self.folder), 'CAIP_CHROMIUM': ''}):
            self.assertIsNone(chromium.find())
            found = self.folder / 'google-chrome'
            found.write_text('#!/bin/sh\n')
            found.chmod(0o755)
            self.assertEqual(chromium.find(), str(found))


class Pictures(unittest.TestCase):
    """PNG files and their comparison."""

    def test_filters_of_png_files_are_undone(self):
        rows = [bytes([10, 20, 30, 40, 50, 60]), bytes([11, 22, 33, 44, 55, 66])]
        for kind in range(5):
            above, filtered = bytes(6), b''
            for row in rows:
                line = bytearray()
                for i, byte in enumerate(row):
                    left, corner = (row[i - 3], above[i - 3]) if i > 2 else (0, 0)
                    up = above[i]
                    paeth = min((left, up, corner), key=lambda each, guess=left + up - corner: abs(guess - each))
                    line.append((byte - (0, left, up, (left + up) // 2, paeth)[kind]) & 0xff)
                filtered += bytes([kind]) + line
                above = row
            file = png_of(2, 2, lambda x, y: (0, 0, 0))
            at = file.index(b'IDAT') - 4
            packed = zlib.compress(filtered)
            file = file[:at] + struct.pack('>L', len(packed)) + b'IDAT' + packed + bytes(4) + bytes(8)
            with self.subTest(kind=kind):
                self.assertEqual(pictures.read_png(file), (2, 2, [[(10, 20, 30), (40, 50, 60)],
                                                                  [(11, 22, 33), (44, 55, 66)]]))

    def test_small_differences_are_alike(self):
        one = png_of(60, 100, lambda x, y: (200, 200, 200))
        other = png_of(60, 102, lambda x, y: (190, 205, 200))
        self.assertEqual(pictures.difference(one, other), '')

    def test_large_differences_are_found(self):
        page = png_of(60, 100, lambda x, y: (255, 255, 255))
        others = {'the size is 60 x 100 instead of 60 x 120': png_of(60, 120, lambda x, y: (255, 255, 255)),
                  'the size is 60 x 100 instead of 61 x 100': png_of(61, 100, lambda x, y: (255, 255, 255)),
                  '375 of 375 squares differ': png_of(60, 100, lambda x, y: (22, 24, 27)),
                  '25 of 375 squares differ': png_of(60, 100, lambda x, y: (255, 255, 255 if x >= 4 else 0))}
        for fault, other in others.items():
            self.assertEqual(pictures.difference(page, other), fault)

    def test_the_font_has_its_tables_and_their_sums(self):
        font = pictures.box_font()
        count = struct.unpack('>H', font[4:6])[0]
        self.assertEqual(count, 10)
        end = 0
        for i in range(count):
            tag, total, offset, length = struct.unpack('>4sLLL', font[12 + 16 * i:28 + 16 * i])
            table = font[offset:offset + length] + bytes(-length % 4)
            self.assertEqual(total, sum(struct.unpack(f'>{len(table) // 4}L', table)) & 0xffffffff, tag)
            end = max(end, offset + length)
        self.assertLessEqual(end, len(font))


if __name__ == '__main__':
    unittest.main()
