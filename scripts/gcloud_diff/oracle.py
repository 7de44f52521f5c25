"""The real gcloud as an oracle: runs its own command line code once per case in one process.

Started with the Python that gcloud itself uses. Reads one JSON object a line on stdin,
`{"words": [...], "directory": DIR, "environment": {...}}`, and answers one a line on stdout:
`{"exit": N, "body": <the body of POST create> or null, "path": <its path, of Vertex AI's jobs>,
"uploads": [...], "stderr": TEXT}`.
No part of gcloud is replaced: it sends HTTP to a recording server on the loopback interface.
"""

import contextlib
import http.server
import io
import json
import os
import re
import sys
import threading
import urllib.parse


VERTEX_JOBS = ('/v1(beta1)?/projects/[^/]+/locations/[^/]+/'
               '(customJobs|hyperparameterTuningJobs)')


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers like the service, and records the requests."""

    protocol_version = 'HTTP/1.1'
    body = None
    path = None
    uploads = []

    def do_POST(self):
        size = int(self.headers.get('Content-Length', 0))
        data = self.rfile.read(size)
        url = urllib.parse.urlsplit(self.path)
        if '/upload/' in url.path:
            answer = self.upload(url, data)
        elif re.fullmatch(r'/v1/projects/[^/]+/jobs', url.path):
            type(self).body = json.loads(data)
            answer = {'jobId': type(self).body.get('jobId'), 'state': 'QUEUED'}
        elif re.fullmatch(VERTEX_JOBS, url.path):
            type(self).body = json.loads(data)
            type(self).path = re.sub('^/v1beta1/', '/v1/', url.path)
            answer = {'name': url.path.split('/', 2)[2] + '/123', 'state': 'JOB_STATE_PENDING'}
        else:
            answer = {}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def upload(self, url, data):
        query = urllib.parse.parse_qs(url.query)
        bucket = url.path.split('/b/')[1].split('/')[0]
        boundary = re.search('boundary=\'?"?([^\'"]+)', self.headers['Content-Type']).group(1)
        parts = data.split(b'--' + boundary.encode())
        media = re.split(b'\r?\n\r?\n', parts[2], maxsplit=1)[1]
        media = media[:-2] if media.endswith(b'\r\n') else media[:-1]
        name = query['name'][0]
        type(self).uploads.append(f'gs://{bucket}/{name}')
        return {'bucket': bucket, 'name': name, 'size': str(len(media))}

    def log_message(self, *_):
        pass


def run(cli, request):
    """Runs one command. Returns its exit code and its requests."""
    Recorder.body = Recorder.path = None
    Recorder.uploads = []
    os.chdir(request['directory'])
    os.environ.update(request.get('environment', {}))
    out, err = io.StringIO(), io.StringIO()
    code = 0
    from googlecloudsdk.core import log
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        log.Reset(out, err)
        try:
            cli.Execute(request['words'])
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        except BaseException as error:  # gcloud's main reports a crash and exits with 1
            err.write(f'crashed ({type(error).__name__}): {error}\n')
            code = 1
    for name in request.get('environment', {}):
        os.environ.pop(name, None)
    return {'exit': code, 'body': Recorder.body, 'path': Recorder.path, 'uploads': Recorder.uploads,
            'stdout': out.getvalue(), 'stderr': err.getvalue()}


def main():
    library, home = sys.argv[1:3]
    os.makedirs(home, exist_ok=True)
    with open(os.path.join(home, 'gce'), 'w') as file:
        file.write('False')
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f'http://127.0.0.1:{server.server_port}/'
    os.environ.update({
        'CLOUDSDK_CONFIG': home,
        'CLOUDSDK_AUTH_DISABLE_CREDENTIALS': 'true',
        'CLOUDSDK_API_ENDPOINT_OVERRIDES_ML': base,
        'CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM': base,
        'CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE': base + 'storage/v1/',
        'CLOUDSDK_CORE_PROJECT': 'demo-project',
        'CLOUDSDK_CORE_DISABLE_PROMPTS': '1',
        'CLOUDSDK_CORE_DISABLE_USAGE_REPORTING': 'true',
        'CLOUDSDK_SURVEY_DISABLE_PROMPTS': 'true',
        'CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK': 'true',
    })
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    sys.argv = ['gcloud']
    sys.path[:0] = [library, os.path.join(library, 'third_party')]
    import gcloud  # noqa: F401, its import hooks
    from googlecloudsdk import gcloud_main
    cli = gcloud_main.CreateCLI([])
    for line in sys.stdin:
        answers.write(json.dumps(run(cli, json.loads(line))) + '\n')
        answers.flush()


if __name__ == '__main__':
    main()
