"""The few endpoints of Cloud Storage's JSON API that the trainer uses, with injected faults."""
import http.server
import json
import threading
import urllib.parse

PAGE = 2


class FakeBucket:
    """Objects by (bucket, name). `faults` are the statuses of the first answers."""

    def __init__(self):
        self.objects, self.faults, self.requests = {}, [], []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                fake.requests.append((self.command, self.path))
                if fake.faults:
                    status, content = fake.faults.pop(0), b"injected"
                    if status is None:  # the connection breaks
                        self.close_connection = True
                        return
                else:
                    status, content = fake.handle(self.command, self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.address = "127.0.0.1:%d" % self._server.server_port

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def handle(self, method, target, body):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "upload" and method == "POST" and query["uploadType"] == "media":
            self.objects[(parts[4], query["name"])] = body
            return 200, json.dumps({"name": query["name"]}).encode()
        bucket = parts[3]
        if len(parts) == 5:
            return self._list(bucket, query)
        key = (bucket, parts[5])
        if key not in self.objects:
            return 404, b"{}"
        if method == "DELETE":
            del self.objects[key]
            return 204, b""
        if query.get("alt") == "media":
            return 200, self.objects[key]
        return 200, json.dumps({"name": parts[5]}).encode()

    def _list(self, bucket, query):
        names = sorted(name for owner, name in self.objects
                       if owner == bucket and name.startswith(query.get("prefix", "")))
        first = int(query.get("pageToken", 0))
        page = {"items": [{"name": name} for name in names[first:first + PAGE]]}
        if first + PAGE < len(names):
            page["nextPageToken"] = str(first + PAGE)
        return 200, json.dumps(page).encode()
