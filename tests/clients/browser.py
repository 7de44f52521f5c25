"""A web browser: pages of other sites, and objects that are pages, cannot use the emulator."""

import http.server
import json
import shutil
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request

import support

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')

# Tries to create buckets in every way that a page has. The title shows that its script ran.
ATTACK = '''<!DOCTYPE html><html><head><title>before</title></head><body><p>the page</p>
<form id="f" method="post" enctype="text/plain" target="sink"
  action="%(base)s/storage/v1/b?project=p"><input name='{"name":"by-form","a":"' value='"}'></form>
<iframe name="sink"></iframe>
<script>
  document.title = 'ran';
  const bucket = (name) => JSON.stringify({name});
  const send = (name, more) => fetch('%(base)s/storage/v1/b?project=p',
    {method: 'POST', body: bucket(name), ...more}).catch(() => 0);
  send('by-fetch', {headers: {'Content-Type': 'application/json'}});
  send('by-simple', {mode: 'no-cors'});
  navigator.sendBeacon('%(base)s/storage/v1/b?project=p', bucket('by-beacon'));
  document.getElementById('f').submit();
</script></body></html>'''


class Browser(support.EmulatorTest):
    """One bucket, and a browser without a window."""

    @classmethod
    def setUpClass(cls):
        cls.browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if not cls.browser:
            raise unittest.SkipTest('no Chromium is on PATH')
        super().setUpClass()
        cls.emulator.bucket('pages')

    def request(self, method, target, body=None, headers=None):
        request = urllib.request.Request(self.emulator.url + target, data=body, method=method,
                                         headers=headers or {})
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.read()

    def buckets(self):
        listed = json.loads(self.request('GET', '/storage/v1/b?project=p'))
        return [bucket['name'] for bucket in listed.get('items', [])]

    def upload(self, name, content_type):
        page = ATTACK % {'base': ''}
        self.request('PUT', f'/pages/{name}', page.encode(), {'Content-Type': content_type})

    def show(self, url):
        """The document after its scripts have run for five seconds of the browser's time."""
        with tempfile.TemporaryDirectory() as profile:
            return support.run(
                [self.browser, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                 f'--user-data-dir={profile}', '--virtual-time-budget=5000', '--dump-dom', url],
                env={**support.clean_environment(), 'HOME': profile}, timeout=120).stdout

    def test_objects_do_not_run_as_pages(self):
        self.upload('page.html', 'text/html')
        self.upload('text.txt', 'text/plain')
        typed = '?' + urllib.parse.urlencode({'response-content-type': 'text/html'})
        targets = {'XML API': '/pages/page.html', 'typed by the URL': '/pages/text.txt' + typed,
                   'JSON API': '/download/storage/v1/b/pages/o/page.html?alt=media'}
        for what, target in targets.items():
            with self.subTest(what):
                shown = self.show(self.emulator.url + target)
                self.assertIn('the page', shown)
                self.assertNotIn('<title>ran</title>', shown)
                self.assertEqual(self.buckets(), ['pages'])

    def test_pages_of_other_sites_change_nothing(self):
        page = (ATTACK % {'base': self.emulator.url}).encode()

        class OtherSite(http.server.BaseHTTPRequestHandler):
            """Answers every request with the page."""

            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(200)
                self.send_header('Content-Type', 'text/html')
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        with http.server.ThreadingHTTPServer(('127.0.0.1', 0), OtherSite) as site:
            thread = threading.Thread(target=site.serve_forever)
            thread.start()
            try:
                for host in ('127.0.0.1', 'localhost'):
                    shown = self.show(f'http://{host}:{site.server_port}/')
                    self.assertIn('<title>ran</title>', shown)
                    self.assertEqual(self.buckets(), ['pages'])
            finally:
                site.shutdown()
                thread.join()


if __name__ == '__main__':
    support.main()
