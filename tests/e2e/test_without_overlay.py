#!/usr/bin/env python3
"""A state directory where the kernel mounts no overlay, like the files of a container: replicas are processes there."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/clients'), str(ROOT / 'tests/support')]

import machines  # noqa: E402
import support  # noqa: E402

# The files of a container are an overlay, and no overlay can be the upper layer of another one.
IN_OVERLAY = '''set -e
mount -t tmpfs none "$1"
mkdir "$1/lower" "$1/upper" "$1/work" "$1/merged"
mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/merged"
cd "$1/merged"
shift
exec "$@"
'''
SUBMIT_AND_STOP = '''caip=$1; shift
"$caip" jobs submit training job_1 --region us-central1 --master-image-uri gcr.io/demo/task:v1 --stream-logs "$@"
code=$?
"$caip" stop
exit $code
'''
WHY = ('making the root of a machine: Invalid argument. The state directory must be on a file system that can hold the '
       'changes of an overlay: ext4, xfs, btrfs or tmpfs')


class WithoutOverlay(unittest.TestCase):
    """Each test has a mount namespace of its own."""

    def setUp(self):
        machines.need(support.caip_binary())
        directory = tempfile.TemporaryDirectory(prefix='caip-overlay-')
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        user = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
        self.prefix = ['unshare', *user, '--mount', 'sh', '-c', IN_OVERLAY, 'sh', self.folder]
        if not shutil.which('unshare') or self.run_there('true').returncode != 0:
            self.skipTest('this host permits no overlay of a user')

    def run_there(self, *words, **more):
        """Runs a command in a directory that is an overlay."""
        env = {**support.clean_environment(), 'CAIP_STATE': f'{self.folder}/merged/state', 'TMPDIR': f'{self.folder}/merged',
               'CLOUDSDK_CORE_PROJECT': 'demo-project', **more}
        return subprocess.run([str(word) for word in [*self.prefix, *words]], env=env, capture_output=True, text=True,
                              timeout=300, check=False)

    def submit(self, *flags):
        """Submits a job that prints the host name, waits for its end, and ends the emulator."""
        return self.run_there('sh', '-c', SUBMIT_AND_STOP, 'sh', support.caip_binary(), '--map-image',
                              'gcr.io/demo/task:v1=sh -c "echo runs on $(uname -n)"', *flags)

    def test_replicas_are_processes_and_a_line_gives_the_reason(self):
        done = self.submit()
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn(f'Replicas are processes of this host, because it allows them no machines of their own ({WHY}', said)
        self.assertIn('runs on', said)

    def test_machines_are_refused_with_the_reason(self):
        done = self.submit('--isolation', 'machine')
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(f'Replicas cannot have machines of their own on this host ({WHY}', said)
        self.assertIn('Run them with `--isolation process`', said)

    def test_the_doctor_gives_the_reason(self):
        self.assertIn(WHY, self.run_there(support.caip_binary(), 'doctor').stdout)

    def test_the_doctor_asks_the_file_system_of_the_state(self):
        with tempfile.TemporaryDirectory(prefix='caip-elsewhere-') as usable:
            self.assertIn(WHY, self.run_there(support.caip_binary(), 'doctor', TMPDIR=usable).stdout)
            self.assertEqual(os.listdir(usable), [])
            state = self.folder / 'state'
            self.assertNotIn(WHY, self.run_there(support.caip_binary(), 'doctor', '--state', state).stdout)

    def test_scenarios_that_need_machines_are_not_run(self):
        done = self.run_there(support.caip_binary(), 'scenario', 'run', ROOT / 'scenarios/network')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f'it needs machines, and this host allows none: {WHY}', done.stdout)
        self.assertIn('0 failed', done.stdout)

    def test_a_scenario_that_is_named_is_not_left_out(self):
        done = self.run_there(support.caip_binary(), 'scenario', 'run', ROOT / 'scenarios/network/cut_off_worker.yaml')
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('Faults of the network need machines', done.stdout + done.stderr)


if __name__ == '__main__':
    support.main()
