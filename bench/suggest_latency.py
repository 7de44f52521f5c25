#!/usr/bin/env python3
"""Measures `trials:suggest` of the optimizer API over REST, with 1,000 finished trials.

Two studies get finished trials (one with six real parameters, one with mixed ones). Then one client after the other asks
for a suggestion. The time is that of the whole request, over an open connection. The script also measures a change of
another study (`trials.stop`) at the same time.

    bench/suggest_latency.py [--caip build/release/caip] [--trials 1000] [--suggestions 21]
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

STUDIES = "/v1/projects/demo/locations/us-central1/studies"
REALS = [{"parameter": f"x{i}", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
         for i in range(1, 7)]
MIXED = [{"parameter": "rate", "type": "DOUBLE", "scaleType": "UNIT_LOG_SCALE",
          "doubleValueSpec": {"minValue": 1e-5, "maxValue": 1}},
         {"parameter": "depth", "type": "INTEGER", "integerValueSpec": {"minValue": "1", "maxValue": "20"}},
         {"parameter": "width", "type": "DISCRETE", "discreteValueSpec": {"values": [16, 32, 64, 128, 256]}},
         {"parameter": "optimizer", "type": "CATEGORICAL",
          "categoricalValueSpec": {"values": ["sgd", "momentum", "adam", "rmsprop"]}}]
OTHER = "/other/trials/1"


class Client:
    """One connection, kept open."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address)

    def ask(self, method, target, body=None):
        self.connection.request(method, STUDIES + target, json.dumps(body) if body is not None else None,
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{target}: {answer.status} {text.decode()}")
        return json.loads(text)


def value_of(parameter, chance):
    name = {"parameter": parameter["parameter"]}
    if parameter["type"] == "DOUBLE":
        limits = parameter["doubleValueSpec"]
        return {**name, "floatValue": chance.uniform(limits["minValue"], limits["maxValue"])}
    if parameter["type"] == "INTEGER":
        return {**name, "intValue": str(chance.randint(1, 20))}
    if parameter["type"] == "DISCRETE":
        return {**name, "floatValue": chance.choice(parameter["discreteValueSpec"]["values"])}
    return {**name, "stringValue": chance.choice(parameter["categoricalValueSpec"]["values"])}


def fill(client, study, parameters, trials):
    client.ask("POST", f"?studyId={study}", {"studyConfig": {
        "metrics": [{"goal": "MINIMIZE", "metric": "loss"}], "parameters": parameters}})
    chance = random.Random(1)
    for _ in range(trials):
        values = [value_of(parameter, chance) for parameter in parameters]
        loss = sum((number.get("floatValue", 0.5) - 0.3) ** 2 for number in values)
        client.ask("POST", f"/{study}/trials", {"parameters": values, "finalMeasurement": {
            "metrics": [{"metric": "loss", "value": loss}]}})


def milliseconds(call, *words):
    begin = time.monotonic()
    call(*words)
    return (time.monotonic() - begin) * 1e3


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(client, other, study, suggestions, serve):
    took, meanwhile, over = [], [], threading.Event()

    def look():
        while not over.is_set():
            meanwhile.append(milliseconds(other.ask, "POST", OTHER + ":stop", {}))
            over.wait(0.05)
    looker = threading.Thread(target=look)
    looker.start()
    before = processor_seconds(serve)
    for i in range(suggestions):
        took.append(milliseconds(client.ask, "POST", f"/{study}/trials:suggest",
                                 {"suggestionCount": 1, "clientId": f"worker-{i}"}))
    busy = (processor_seconds(serve) - before) * 1e3 / suggestions
    over.set()
    looker.join()
    print(f"{study}: a suggestion: median {statistics.median(took):.0f} ms, most {max(took):.0f} ms, of the processor "
          f"{busy:.0f} ms; a change of another study "
          f"meanwhile: median {statistics.median(meanwhile):.1f} ms, most {max(meanwhile):.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--caip", default="build/release/caip")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--suggestions", type=int, default=21)
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-"))
    reader, writer = os.pipe()
    serve = subprocess.Popen([options.caip, "serve", "--state", str(work / "state"), "--port", "0"],
                             env=dict(os.environ, CAIP_READY_FD=str(writer)), pass_fds=[writer],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        os.close(writer)
        with os.fdopen(reader) as ready:
            address = ready.readline().strip().removeprefix("http://")
        client, other = Client(address), Client(address)
        fill(client, "other", REALS, 0)
        client.ask("POST", "/other/trials:suggest", {"suggestionCount": 1, "clientId": "a"})
        for study, parameters in {"reals": REALS, "mixed": MIXED}.items():
            fill(client, study, parameters, options.trials)
            measure(client, other, study, options.suggestions, serve)
    finally:
        serve.terminate()
        serve.wait()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
