#!/usr/bin/env python3
"""`caip jobs shell`: programs and shells in replicas that run, on machines and as processes, for root and for
an ordinary user. A test that needs a terminal makes a pseudoterminal.
"""

import fcntl
import http.server
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest
import urllib.request

import support

NOBODY = 65534
IMAGE = 'gcr.io/p/sleeper:v1'
PATIENCE = 60
CLUSTER = ['--region', 'us-central1', '--scale-tier', 'custom', '--master-machine-type', 'n1-standard-8',
           '--master-image-uri', IMAGE, '--worker-machine-type', 'n1-standard-8', '--worker-count', '1',
           '--worker-image-uri', IMAGE]


class ShellTest(support.EmulatorTest):
    """A job with a master and a worker that sleep."""

    isolation = 'machine'
    prefix = ()

    @classmethod
    def setUpClass(cls):
        if cls.isolation == 'machine':
            support.need_entry()
            support.need_isolation(cls.prefix)
        config = f'images: {{"{IMAGE}": "sh -c \'echo mine > /tmp/caip-shell-file; echo up; exec sleep 600\'"}}\n'
        cls.emulator = support.Emulator('--isolation', cls.isolation, config=config, prefix=cls.prefix)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()
        cls.emulator.caip('jobs', 'submit', 'training', 'job', '--project', 'p', *CLUSTER)
        support.wait_for(lambda: len(cls.running()) == 2, 'both replicas')

    @classmethod
    def running(cls, job='job'):
        with urllib.request.urlopen(f'{cls.emulator.url}/emulator/v1/projects/p/jobs/{job}/replicas') as answer:
            return json.load(answer)['replicas']

    def words(self, *words, replica='worker-0', job='job'):
        which = ['--replica', replica] if replica else []
        return [str(word) for word in (*self.prefix, support.caip_binary(), 'jobs', 'shell', job, '--project', 'p',
                                       '--state', self.emulator.state, *which, *words)]

    def shell(self, *words, stdin=None, **which):
        return support.run(self.words(*words, **which), env=self.environment(), check=False, stdin=stdin)

    def environment(self):
        return {**support.clean_environment(), **self.emulator.home}

    def at_terminal(self, keys, *words, size=(24, 80)):
        """Types keys at a terminal. Returns what it shows, and the exit code."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', *size, 0, 0))
        process = subprocess.Popen(self.words(*words), stdin=theirs, stdout=theirs, stderr=theirs,
                                   env={**self.environment(), 'TERM': 'dumb'}, start_new_session=True)
        os.close(theirs)
        shown, deadline = b'', time.monotonic() + PATIENCE
        for awaited, key in keys:
            while awaited not in shown:
                self.assertLess(time.monotonic(), deadline, f'awaited {awaited} in {shown}')
                shown += self.read(ours)
            os.write(ours, key)
        while process.poll() is None:
            self.assertLess(time.monotonic(), deadline, f'awaited the end after {shown}')
            shown += self.read(ours)
        shown += self.read(ours)
        os.close(ours)
        return shown.decode(), process.returncode

    @staticmethod
    def read(terminal):
        if not select.select([terminal], [], [], 0.1)[0]:
            return b''
        try:
            return os.read(terminal, 4096)
        except OSError:  # nothing has the other end open
            return b''


class OnMachine(ShellTest):
    def test_a_program_runs_where_the_replica_runs(self):
        script = 'hostname; pwd; cat /tmp/caip-shell-file; echo $CLUSTER_SPEC; cat /proc/1/comm; exit 7'
        support.wait_for(lambda: self.shell('--', 'test', '-s', '/tmp/caip-shell-file').returncode == 0, 'the file')
        done = self.shell('--', 'sh', '-c', script)
        self.assertEqual(done.returncode, 7, done.stderr)
        host, directory, file, cluster, init = done.stdout.splitlines()
        self.assertRegex(host, 'cmle-training-worker-.*-0')
        self.assertEqual((directory, file, init), ('/user_dir', 'mine', 'caip-replica'))
        task = json.loads(cluster)['task']
        self.assertEqual((task['type'], task['index']), ('worker', 0))

    def test_it_has_the_rights_of_the_replica(self):
        rights = ('sh', '-c', 'id -u; grep CapEff /proc/self/status')
        done = self.shell('--', *rights)
        self.assertEqual(done.stdout.split(), ['0', 'CapEff:', '00000000a00c25fb'])

    def test_the_input_is_passed_on(self):
        done = self.shell(stdin='echo "$((6 * 7))"; exit 3\n')
        self.assertEqual((done.stdout, done.returncode), ('42\n', 3), done.stderr)

    def test_a_signal_is_passed_on(self):
        process = subprocess.Popen(self.words('--', 'sh', '-c', 'trap "echo got it; exit 9" TERM\necho ready\n'
                                              'while :; do sleep 0.05; done'),
                                   stdout=subprocess.PIPE, text=True, env=self.environment())
        self.assertEqual(process.stdout.readline(), 'ready\n')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=PATIENCE)[0], 'got it\n')
        self.assertEqual(process.returncode, 9)

    def test_death_by_a_signal_is_told_as_by_a_shell(self):
        self.assertEqual(self.shell('--', 'sh', '-c', 'kill -KILL $$').returncode, 137)

    def test_a_shell_has_a_terminal_of_its_own(self):
        shown, code = self.at_terminal([(b'# ', b'tty; stty size\n'), (b'30 100', b'exit 5\n')], size=(30, 100))
        self.assertIn('/dev/pts/', shown)
        self.assertEqual(code, 5, shown)

    def test_keys_that_interrupt_reach_the_program(self):
        script = 'trap "echo got it; exit 4" INT; echo ready; while :; do sleep 0.05; done'
        shown, code = self.at_terminal([(b'ready', b'\x03')], '--', 'sh', '-c', script)
        self.assertIn('got it', shown)
        self.assertEqual(code, 4)

    def test_signals_reach_a_program_that_has_closed_its_terminal(self):
        script = ('trap "exit 6" TERM; exec </dev/null >/dev/null 2>&1; touch /tmp/closed\n'
                  'while :; do sleep 0.05; done')
        ours, theirs = pty.openpty()
        before = termios.tcgetattr(theirs)
        process = subprocess.Popen(self.words('--', 'sh', '-c', script), stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=self.environment(), start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while self.shell('--', 'test', '-e', '/tmp/closed').returncode or termios.tcgetattr(theirs) != before:
            self.assertLess(time.monotonic(), deadline, 'awaited the end of the raw mode')
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 6)
        os.close(ours)
        os.close(theirs)

    def test_the_replica_need_not_be_named_if_there_is_one(self):
        self.emulator.caip('jobs', 'submit', 'training', 'alone', '--project', 'p', '--region', 'us-central1',
                           '--master-image-uri', IMAGE)
        support.wait_for(lambda: len(self.running('alone')) == 1, 'the replica')
        done = self.shell('--', 'sh', '-c', 'echo found', job='alone', replica=None)
        self.assertEqual(done.stdout, 'found\n', done.stderr)
        self.emulator.caip('jobs', 'cancel', 'alone', '--project', 'p')
        support.wait_for(lambda: not self.running('alone'), 'the end of the replica')
        done = self.shell(job='alone', replica=None)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No replica of the job 'alone' runs: the job is CANCELL", done.stderr)

    def test_its_end_is_told(self):
        self.emulator.caip('jobs', 'submit', 'training', 'ends', '--project', 'p', '--region', 'us-central1',
                           '--master-image-uri', IMAGE)
        support.wait_for(lambda: len(self.running('ends')) == 1, 'the replica')
        process = subprocess.Popen(self.words('--', 'sh', '-c', 'echo ready; sleep 600', job='ends', replica=None),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.assertEqual(process.stdout.readline(), 'ready\n')
        self.emulator.caip('jobs', 'cancel', 'ends', '--project', 'p')
        self.assertIn('The replica has ended.', process.communicate(timeout=PATIENCE)[1])
        self.assertEqual(process.returncode, 137)

    def test_mistakes_are_told(self):
        for which, words, code, said in (
                ({'replica': None}, (), 2, 'several replicas that run (master-0, worker-0)'),
                ({'replica': 'ps-0'}, (), 1, 'Those that run: master-0, worker-0.'),
                ({'job': 'unknown'}, (), 1, 'NOT_FOUND'),
                ({}, ('--', 'no-such-program'), 1, "cannot run 'no-such-program'"),
                ({}, ('--trial', '2'), 1, 'no such replica that runs')):
            with self.subTest(said):
                done = self.shell(*words, **which)
                self.assertEqual(done.returncode, code, done.stdout)
                self.assertIn(said, done.stderr)

    def test_it_starts_no_emulator(self):
        words = self.words('--', 'true')
        words[words.index('--state') + 1] += '-of-nothing'
        done = support.run(words, env=self.environment(), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('No emulator runs on', done.stderr)


class OnMachineOfAnOrdinaryUser(OnMachine):
    prefix = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups')

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('the tests run as an ordinary user already')
        support.need('setpriv')
        if support.run([*cls.prefix, 'sh', '-c', 'exec "$@"', 'sh', support.caip_binary(), 'version'],
                       check=False).returncode != 0:
            raise unittest.SkipTest('nobody may not run this caip')
        super().setUpClass()


class AsProcess(ShellTest):
    """The replica's environment and directory, without namespaces."""

    isolation = 'process'

    def test_a_program_runs_with_its_environment(self):
        done = self.shell('--', 'sh', '-c', 'pwd; echo $CAIP_REPLICA; exit 7')
        directory, marker = done.stdout.splitlines()
        self.assertTrue(directory.endswith('/worker-replica-0/user_dir'), directory)
        self.assertTrue(marker.endswith('/p/job/worker-replica-0/1'), marker)
        self.assertEqual(done.returncode, 7)

    def test_a_shell_has_the_terminal(self):
        _, code = self.at_terminal([(b'# ' if os.getuid() == 0 else b'$ ', b'exit 5\n')])
        self.assertEqual(code, 5)

    def test_another_user_gets_nothing(self):
        if os.getuid() != 0:
            self.skipTest('only root can become another user')
        support.need('setpriv')
        done = support.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', 'curl', '-s', '-o',
                            '/dev/null', '-w', '%{http_code}',
                            f'{self.emulator.url}/emulator/v1/projects/p/jobs/job/replicas'], check=False)
        self.assertIn(done.stdout, ('401', '403'), done.stderr)


class Elsewhere(ShellTest):
    """A replica whose process IDs are those of other processes here."""

    isolation = 'process'

    def test_it_is_not_taken_for_the_replica(self):
        words = self.words('--', 'true')

        class Server(http.server.BaseHTTPRequestHandler):
            answer = json.dumps({'state': 'RUNNING', 'replicas': [
                {**replica, 'init': os.getpid()} for replica in self.running()]}).encode()

            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(200)
                self.send_header('Content-Length', str(len(self.answer)))
                self.end_headers()
                self.wfile.write(self.answer)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        server = http.server.HTTPServer(('127.0.0.1', 0), Server)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.handle_request, daemon=True).start()
        endpoint = f'http://127.0.0.1:{server.server_address[1]}'
        done = support.run(words, env={**self.environment(), 'CAIP_ENDPOINT': endpoint}, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('does not run on this host', done.stderr)


del ShellTest

if __name__ == '__main__':
    support.main()
