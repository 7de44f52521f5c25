"""Drives Chromium without a window, through the DevTools protocol on a pair of pipes.

The program is $CAIP_CHROMIUM, or the first of PROGRAMS on PATH.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome')
# The protocol is on the descriptors 3 and 4 of the browser.
START = ('import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); '
         'os.execv(sys.argv[3], sys.argv[3:])')


class BrowserFault(Exception):
    """The browser ended, does not answer, or answers with an error."""


def find():
    """The browser's path; None if there is none. A $CAIP_CHROMIUM that cannot be run is a fault."""
    named = os.environ.get('CAIP_CHROMIUM')
    if named:
        found = shutil.which(named)
        if not found:
            raise BrowserFault(f'CAIP_CHROMIUM={named} is not a program. Set it to a Chromium, or unset it.')
        return found
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One browser with one page. Use it as a context manager."""

    def __init__(self, program, seconds=60):
        self.seconds = seconds
        self.requests = []  # URLs that pages have asked for
        self.events = []
        self.buffer = b''
        self.number = 0
        self.session = None
        self.folder = tempfile.TemporaryDirectory(prefix='caip-chromium-')
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        with open(self.log_path(), 'wb') as log:
            self.process = subprocess.Popen(
                [sys.executable, '-c', START, str(commands), str(answers), program, '--headless',
                 '--no-sandbox', '--disable-gpu', '--no-first-run', '--hide-scrollbars',
                 '--force-color-profile=srgb', '--remote-debugging-pipe', f'--user-data-dir={self.folder.name}/profile'],
                pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, 'HOME': self.folder.name}, start_new_session=True)
        os.close(commands)
        os.close(answers)

    def log_path(self):
        """The file with what the browser prints."""
        return os.path.join(self.folder.name, 'log')

    def __enter__(self):
        try:
            target = self.call('Target.createTarget', url='about:blank')['targetId']
            self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
            for domain in ('Page', 'Network', 'Runtime'):
                self.call(domain + '.enable')
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and all of its processes."""
        os.close(self.commands)  # a browser that loses its pipe ends
        os.close(self.answers)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.folder.cleanup()

    def fault(self, what):
        """The exception, with the end of what the browser has printed."""
        with open(self.log_path(), 'rb') as log:
            said = log.read()[-1000:].decode(errors='replace').strip()
        return BrowserFault(f'{what}. The browser printed: {said or "nothing"}')

    def read(self, deadline):
        """The next message of the browser."""
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise self.fault(f'The browser has not answered for {self.seconds} s')
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise self.fault('The browser has ended')
            self.buffer += read
        message, self.buffer = self.buffer.split(b'\0', 1)
        message = json.loads(message)
        if message.get('method') == 'Network.requestWillBeSent':
            self.requests.append(message['params']['request']['url'])
        return message

    def call(self, method, **params):
        """The result of a method of the protocol."""
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        data = json.dumps(message).encode() + b'\0'
        deadline = time.monotonic() + self.seconds
        try:
            while data:
                data = data[os.write(self.commands, data):]
        except BrokenPipeError:
            raise self.fault('The browser has ended') from None
        while True:
            answer = self.read(deadline)
            if answer.get('id') != self.number:
                self.events.append(answer)
                continue
            if 'error' in answer:
                raise BrowserFault(f'{method}: {answer["error"]["message"]}')
            return answer['result']

    def wait_for(self, method):
        """Waits for an event."""
        deadline = time.monotonic() + self.seconds
        while True:
            if any(event.get('method') == method for event in self.events):
                return
            self.events.append(self.read(deadline))

    def open(self, url, width, height=900, scheme='light'):
        """Opens a page in a window of that size, for a person who prefers that colour scheme."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.events.clear()
        self.call('Page.navigate', url=url)
        self.wait_for('Page.loadEventFired')

    def evaluate(self, expression):
        """The value of a JavaScript expression, or of the promise that it is."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise BrowserFault(details.get('exception', {}).get('description') or details['text'])
        return answer['result'].get('value')

    def screenshot(self, scale=1.0):
        """The whole page as a PNG file, `scale` times as large as in the window."""
        size = self.evaluate('({width: innerWidth, height: document.documentElement.scrollHeight})')
        answer = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=True,
                           clip={'x': 0, 'y': 0, **size, 'scale': scale})
        return base64.b64decode(answer['data'])
