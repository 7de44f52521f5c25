"""For tests whose replicas must be machines."""

import json
import subprocess
import tempfile
import unittest

ON_MACHINES = "isolation: machine\n"


def need(caip):
    """Skips if replicas cannot have machines of their own on this host."""
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run([caip, "doctor", "--format", "json", "--state", state],
                              stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    fact = next(fact for fact in json.loads(done.stdout) if fact["name"] == "isolation")
    if fact["found"] != "yes":
        raise unittest.SkipTest(f"replicas cannot have machines of their own here: {fact['detail']}")
