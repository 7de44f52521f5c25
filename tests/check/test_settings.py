#!/usr/bin/env python3
"""The settings of jobs in `caip check`, `scenario run` and `explore`, from configuration and words.

Each row of SETTINGS goes through all three commands. A new setting needs a row, or a reason.
"""
import json
import pathlib
import re
import subprocess

import fixture

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGE = "gcr.io/p/settings:v1"
ON_CPU = ["--scale-tier", "custom", "--master-machine-type", "n1-standard-8"]
TWO_GPUS = [*ON_CPU, "--master-accelerator", "type=nvidia-tesla-t4,count=2"]
# No host of today has this Python.
OLD_PACKAGE = ["--package-path", "trainer", "--module-name", "trainer.task", "--runtime-version",
               "1.14", "--python-version", "3.5"]
PACKAGE = ["--package-path", "trainer", "--module-name", "trainer.task", "--runtime-version", "2.11",
           "--python-version", "3.7"]

TRAINER = """
import json, os, sys, urllib.request

def metadata(path):
    ask = urllib.request.Request(
        "http://" + os.environ.get("GCE_METADATA_HOST", "metadata") + "/computeMetadata/v1/" + path,
        headers={"Metadata-Flavor": "Google"})
    return urllib.request.urlopen(ask).read().decode()

def put(name):
    url = os.environ["STORAGE_EMULATOR_HOST"] + "/upload/storage/v1/b/job/o?uploadType=media&name="
    urllib.request.urlopen(urllib.request.Request(url + name, b"x", method="POST"))

if not (%s):
    raise SystemExit("the setting is missing")
put("done")
print("done", flush=True)
"""


class Row:
    """A setting, and what a trainer sees of it."""

    def __init__(self, value, words=(), *, sees="True", job=(), config="", fails="", on_vertex=False):
        self.value, self.words = value, list(words)  # in config.yaml; as flags
        self.sees = sees    # the trainer's condition
        self.job = list(job) or ["--master-image-uri", IMAGE]
        self.config = config  # further lines of config.yaml
        self.fails = fails  # the job fails instead, and the command says this
        self.on_vertex = on_vertex  # the job is one of Vertex AI


IMAGE_JOB = ["--master-image-uri", IMAGE]
SUCCEEDED = {"submit": "SUCCEEDED", "create": "JOB_STATE_SUCCEEDED"}
# A job of Vertex AI that mounts the folder of the trainer.
MOUNTS = f"""workerPoolSpecs:
- machineSpec: {{machineType: n1-standard-4}}
  containerSpec: {{imageUri: {IMAGE!r}, args: [/mnt/nfs/trainer/task.py]}}
  nfsMounts: [{{server: 10.0.0.2, path: "/%s", mountPoint: trainer}}]
"""
# An interpreter that says its version, and can do nothing else.
INTERPRETER = """#!/bin/sh
case "$*" in
*version_info*) echo '{"version": "3.5.9", "executable": "'"$0"'", "pip": "20", "setuptools": "40", "wheel": "0.33"}' ;;
*) echo "I am the interpreter of the row" >&2; exit 9 ;;
esac
"""
DEVICES = "os.environ.get('CUDA_VISIBLE_DEVICES', '-1').strip()"
SETTINGS = {
    "images": None,  # each row without a package needs it
    "addressing": Row("ports", ["--addressing", "ports"],
                      job=[*IMAGE_JOB, *ON_CPU, "--worker-machine-type", "n1-standard-8",
                           "--worker-count", "1", "--worker-image-uri", IMAGE],
                      sees="'localhost:' in os.environ['TF_CONFIG']"),
    "gs_front": Row("off", ["--gs-front", "off"], sees="'https_proxy' not in os.environ"),
    "fake_gpus": Row("4xNVIDIA_TESLA_T4", ["--fake-gpus", "4xNVIDIA_TESLA_T4"],
                     job=[*IMAGE_JOB, *TWO_GPUS], sees=f"{DEVICES}.count(',') == 1"),
    "fake_tpu": Row("v2-8", ["--fake-tpu", "v2-8"], on_vertex=True, sees="os.environ['TPU_VISIBLE_CHIPS'] == '0,1,2,3'",
                    job=["--worker-pool-spec", "machine-type=cloud-tpu,accelerator-type=TPU_V2,accelerator-count=8,"
                                               f"container-image-uri={IMAGE}"]),
    "gpus": Row("cpu", ["--gpus", "cpu"], job=[*IMAGE_JOB, *TWO_GPUS],
                config="fake_gpus: 1xNVIDIA_TESLA_T4\n", sees=f"{DEVICES} in ('', '-1')"),
    "extra_regions": Row("[mars-north1]", job=[*IMAGE_JOB, "--region", "mars-north1"]),
    "persistent_resources": Row("[my-cluster]", job=["--persistent-resource-id=my-cluster", "--worker-pool-spec",
                                                     f"machine-type=n1-standard-4,container-image-uri={IMAGE}"],
                                on_vertex=True),
    "nfs_exports": Row('{"10.0.0.2:/": /}', job=["--config", "mounts.yaml"], on_vertex=True,
                       sees="os.path.exists(sys.argv[1])"),
    "project_number": Row("'424242'", sees="metadata('project/numeric-project-id') == '424242'"),
    "service_account": Row("me@p.iam.gserviceaccount.com",
                           sees="metadata('instance/service-accounts/default/email') == "
                                "'me@p.iam.gserviceaccount.com'"),
    "strict_images": Row("true", ["--strict-images"], fails="is not on this host",
                         job=["--master-image-uri", "gcr.io/p/missing:v1"]),
    "python": Row("/bin/false", ["--python", "/bin/false"], job=PACKAGE,
                  fails="'/bin/false' is not a working Python"),
    "runtimes": Row('{"2.11": /nowhere/python3}', job=PACKAGE, fails="/nowhere/python3"),
    "interpreters": Row("[FOLDER/python3.5]", job=OLD_PACKAGE, fails="non-zero status of 9"),
    "strict_runtime": Row("true", ["--strict-runtime"], fails="3.5", job=OLD_PACKAGE),
}
# Why a setting has no row.
WITHOUT_ROW = {
    "isolation": "hosts may forbid namespaces",
    "machine_limits": "hosts may forbid control groups",
    "companions": "needs programs of the Cloud SDK",
    "cloud_sdk": "needs programs of the Cloud SDK",
}
# A scenario states these itself, or they are about the server.
NOT_OF_RUNS = {
    "queue_delay", "provision_delay", "restart_delay", "failing_restart", "grace", "seed", "storage_view", "jobs_max",
    "launcher", "container_engine", "keep_disks", "disk_limits", "create_buckets", "durability", "address", "port",
    "connections_max", "access_log",
    "allow_hosts", "allow_users", "token", "idle_timeout"}


class Settings(fixture.WithFolder):
    def setUp(self):
        super().setUp()
        self.package = self.folder / "trainer"
        self.package.mkdir()
        (self.package / "__init__.py").write_text("")
        interpreter = self.folder / "python3.5"
        interpreter.write_text(INTERPRETER)
        interpreter.chmod(0o755)

    @property
    def image_command(self):
        return f"/usr/bin/python3 -B {self.package / 'task.py'}"

    def commands(self, job, flags, key="submit"):
        """The three commands, by name, for a job with these flags. `key`: of the words in a scenario."""
        scenario = self.folder / "scenario.yaml"
        scenario.write_text(
            "description: A job of the test.\nlimits: {wall: 2m, no_progress: 1m}\n"
            f"job: {{{key}: {json.dumps([*job, *flags])}}}\nexpect: {{state: {SUCCEEDED[key]}}}\n")
        state = ["--state", str(self.state)]
        return {
            "check": ["check", "--filter", "start/succeeds", *state, *job, *flags],
            "scenario": ["scenario", "run", str(scenario), "--verbose", *state],
            "explore": ["explore", "--max-points", "1", "--jobs", "1", *state, "--", *job, *flags],
        }

    def try_all(self, name, row, config, flags):
        (self.package / "task.py").write_text(TRAINER % row.sees)
        self.state.mkdir(exist_ok=True)
        (self.state / "config.yaml").write_text(config.replace("FOLDER", str(self.folder)))
        (self.folder / "mounts.yaml").write_text(MOUNTS % str(self.package).lstrip("/"))
        for command, words in self.commands(row.job, flags, "create" if row.on_vertex else "submit").items():
            with self.subTest(setting=name, command=command, flags=bool(flags)):
                done = subprocess.run([self.caip, *words], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=300,
                                      cwd=self.folder)
                if row.fails:
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn(row.fails, done.stdout)
                else:
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_setting_of_jobs_reaches_every_command(self):
        images = f"images: {{{IMAGE!r}: {self.image_command!r}}}\n"
        for name, row in SETTINGS.items():
            if row is None:
                continue
            self.try_all(name, row, f"{images}{row.config}{name}: {row.value}\n", [])
            if row.words:
                self.try_all(name, row, images + row.config, row.words)

    def test_images_reach_every_command(self):
        row = Row("")
        self.try_all("images", row, "", ["--map-image", f"{IMAGE}={self.image_command}"])
        here = f"{IMAGE}=/usr/bin/python3 -B trainer/task.py"
        self.try_all("images, relative", row, "", ["--map-image=" + here])

    def test_the_file_of_emulator_config_reaches_every_command(self):
        (self.folder / "settings.yaml").write_text(
            f"images: {{{IMAGE!r}: {self.image_command!r}}}\n")
        self.try_all("emulator_config", Row(""), "", ["--emulator-config", "settings.yaml"])

    def test_the_view_of_storage_reaches_commands_whose_words_are_the_job(self):
        row = Row("", sees="any(os.path.isdir(word) for word in sys.argv)")
        (self.package / "task.py").write_text(
            "import sys, os\nout = sys.argv[sys.argv.index('--job-dir') + 1]\n"
            "os.makedirs(out, exist_ok=True)\nopen(os.path.join(out, 'done'), 'w').close()\n")
        images = f"images: {{{IMAGE!r}: {self.image_command!r}}}\n"
        self.state.mkdir()
        for config, flags in ((images + "storage_view: path\n", []),
                              (images, ["--storage-view", "path"])):
            (self.state / "config.yaml").write_text(config)
            commands = self.commands(row.job, flags)
            if not flags:
                del commands["scenario"]  # it states its own
            for command, words in commands.items():
                with self.subTest(command=command, flags=flags):
                    done = subprocess.run([self.caip, *words], stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True, timeout=300,
                                          cwd=self.folder)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertFalse((self.folder / "gs:").exists())

    def test_every_setting_has_a_row_or_a_reason(self):
        text = (ROOT / "docs" / "configuration.md").read_text()
        file = re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1)
        keys = set(re.findall(r"^(\w+):", file, re.MULTILINE))
        self.assertEqual(keys, set(SETTINGS) | set(WITHOUT_ROW) | NOT_OF_RUNS)


if __name__ == "__main__":
    fixture.main()
