#!/usr/bin/env python3
"""Commands that work together on several machines: a cluster with names of its own, and ranks that mpirun starts."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import machines

CAIP = None

# Keeps the steps that were sent to it, in memory or in a file. Each step is sent again until it is answered.
STORE = '''
import json, os, pathlib, socket
assert socket.gethostname() == "store", socket.gethostname()
state = pathlib.Path("steps")
kept = KEEPS and state.exists()
steps = json.loads(state.read_text()) if kept else []
server = socket.create_server(("", 5000))
while True:
    peer, _ = server.accept()
    with peer, peer.makefile("rw") as lines:
        word = lines.readline().strip()
        if word.isdigit() and int(word) not in steps:
            steps.append(int(word))
            if KEEPS:
                pathlib.Path("new").write_text(json.dumps(steps))
                os.replace("new", state)
        print("has", len(steps), flush=True)
        lines.write(json.dumps(steps) + "\\n")
'''
TRAIN = '''
import json, os, pathlib, socket, time
assert socket.gethostname() == "trainer", socket.gethostname()
def send(word):
    while True:
        try:
            with socket.create_connection(("store", 5000), timeout=5) as peer, peer.makefile("rw") as lines:
                lines.write(word + "\\n")
                lines.flush()
                return json.loads(lines.readline())
        except (OSError, ValueError):
            time.sleep(0.02)
for step in range(max(send("?"), default=0) + 1, 5):
    send(str(step))
    print("step", step, flush=True)
pathlib.Path("result.new").write_text(json.dumps(send("?")))
os.replace("result.new", "result")
'''
SCENARIO = '''
description: A trainer and a store of steps.
trainer:
  cluster:
    - {name: trainer, command: [python3, train.py]}
    - {name: store, command: [python3, store.py]}
  working_directory: .
  volumes: [.]
  job_dir: none
  environment: user
expect: {state: SUCCEEDED}
'''
MPI = '''
import os, pathlib
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
state = pathlib.Path(f"state-{rank}")
begin = int(state.read_text() or 0) if state.exists() else 0
for step in range(begin + 1, 5):
    if rank == 0:
        print("step", step, flush=True)
    SAVE
'''

# A program that calls MPI itself. Rank 0 saves what all ranks have reduced, in place or, with -DSAFE, under another name.
MPI_PROGRAM = r'''
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#ifdef SAFE
#define FIRST_NAME "new"
#else
#define FIRST_NAME "state"
#endif

static void Save(const long* run) {
  FILE* file = fopen(FIRST_NAME, "w");
  fprintf(file, "%ld %ld\n", run[0], run[1]);
  fflush(file);
  fsync(fileno(file));
  fclose(file);
#ifdef SAFE
  rename(FIRST_NAME, "state");
#endif
}

int main(int argc, char** argv) {
  long run[2] = {0, 0}; /* the step, and the sum of all ranks' parts so far */
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE* file = fopen("state", "r");
    if (file && fscanf(file, "%ld %ld", &run[0], &run[1]) != 2) {
      fprintf(stderr, "the checkpoint is torn\n");
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
  MPI_Bcast(run, 2, MPI_LONG, 0, MPI_COMM_WORLD);
  while (run[0] < 4) {
    long part = ++run[0] * (rank + 1);
    long total;
    MPI_Allreduce(&part, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    run[1] += total;
    if (rank != 0) continue;
    printf("step %ld sum=%ld\n", run[0], run[1]);
    fflush(stdout);
    Save(run);
  }
  MPI_Finalize();
  return 0;
}
'''
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np")


class Clusters(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-cluster-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name).resolve()
        self.work = self.folder / "work"
        self.work.mkdir()

    def caip(self, *words):
        done = subprocess.run([CAIP, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=600, cwd=self.work)
        return done.returncode, done.stdout

    def explore(self, *words):
        return self.caip("explore", "--state", str(self.folder / "state"), "--no-pairs", *words)

    def cluster(self, keeps):
        (self.work / "store.py").write_text(STORE.replace("KEEPS", str(keeps)))
        (self.work / "train.py").write_text(TRAIN)
        (self.work / "cluster.yaml").write_text(SCENARIO)

    def test_members_find_each_other_by_name_and_are_lost_one_by_one(self):
        machines.need(CAIP)
        for keeps, expected in ((True, 0), (False, 1)):
            self.cluster(keeps)
            code, text = self.explore("cluster.yaml")
            self.assertEqual(code, expected, text)
        progress = (self.work / "caip-findings" / "progress.jsonl").read_text()
        self.assertIn("worker-0", progress)
        self.assertIn("of worker-0", text)

    def test_members_start_again_together_on_request(self):
        machines.need(CAIP)
        self.cluster(True)
        fault = "faults: [{kill: {replica: worker-0}, when: {log: 'has 2', replica: worker-0}}]\n"
        for restart, boots in (("one", "1"), ("all", "2")):
            scenario = SCENARIO.replace("  working_directory", f"  restart: {restart}\n  working_directory")
            (self.work / "cluster.yaml").write_text(scenario.replace("expect:", fault + "expect:"))
            code, text = self.caip("scenario", "run", "cluster.yaml", "--state", str(self.folder / "state"),
                                   "--events", "events.jsonl")
            self.assertEqual(code, 0, text)
            starts = [line for line in (self.work / "events.jsonl").read_text().splitlines()
                      if '"kind":"start"' in line and '"replica":"master-0"' in line]
            self.assertEqual(len(starts), int(boots), (restart, starts))

    def test_mistakes_are_named(self):
        for line, words in (("- {name: UPPER, command: [a]}", "is not a host name"),
                            ("- {name: trainer, command: [a]}\n    - {name: trainer, command: [b]}", "two members are called"),
                            ("- {name: trainer}", "`command` is missing")):
            head, _, rest = SCENARIO.partition("    - {")
            (self.work / "cluster.yaml").write_text(head + "    " + line + rest[rest.index("\n  working"):])
            code, text = self.caip("scenario", "validate", "cluster.yaml")
            self.assertEqual(code, 2, text)
            self.assertIn(words, text)

    def test_ranks_of_mpirun_are_lost_together(self):
        if not shutil.which("mpirun"):
            self.skipTest("mpirun is not on PATH")
        unsafe = "state.write_text(str(step))"
        safe = "pathlib.Path(f'new-{rank}').write_text(str(step)); os.replace(f'new-{rank}', state)"
        for save, expected in ((safe, 0), (unsafe.replace("state.", "open(state, 'w').close(); state."), 1)):
            (self.work / "train.py").write_text(MPI.replace("SAVE", save).replace(" or 0", "" if expected else " or 0"))
            code, text = self.explore("--", *MPIRUN, "2", "python3", "train.py")
            self.assertEqual(code, expected, text)

    def test_a_program_that_calls_mpi_is_explored(self):
        if not shutil.which("mpirun") or not shutil.which("mpicc"):
            self.skipTest("mpirun or mpicc is not on PATH")
        (self.work / "train.c").write_text(MPI_PROGRAM)
        for words, expected in ((["-DSAFE"], 0), ([], 1)):
            built = subprocess.run(["mpicc", *words, "-o", "train", "train.c"], cwd=self.work, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            if "mpi.h" in built.stdout:
                self.skipTest("mpicc finds no mpi.h")
            self.assertEqual(built.returncode, 0, built.stdout)
            code, text = self.explore("--", *MPIRUN, "3", "./train")
            self.assertEqual(code, expected, text)
            self.assertIn("steps: lines like `step 20`", text)
        self.assertIn("the checkpoint is torn", text)
        self.assertIn("with what is stored now it can never succeed", text)
        self.assertNotIn("may be harmless", text)
        played = self.caip("scenario", "run", "caip-findings/finding-1.yaml", "--state", str(self.folder / "state"))
        self.assertEqual(played[0], 1, played[1])
        self.assertIn("the checkpoint is torn", played[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", default="build/release/caip")
    arguments, rest = parser.parse_known_args()
    CAIP = pathlib.Path(arguments.caip).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
