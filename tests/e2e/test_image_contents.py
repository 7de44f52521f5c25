#!/usr/bin/env python3
"""Images whose USER, WORKDIR or files are unusual: what the replica is then, or an error that names the image and the part."""

import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import framework_image  # noqa: E402
import support  # noqa: E402

BUSYBOX = Path('/bin/busybox')
PROJECT = 'demo-project'
PASSWD = 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001::/home/app:/bin/sh\nlarge:x:4294967294:1::/:/bin/sh\n'
GROUP = 'root:x:0:\napp:x:1001:\ndata:x:2000:app,low\nlow:x:1002:\n'
LOOK = 'echo "ID [$(id -u):$(id -g)]"; echo "GROUPS [$(id -G)]"; echo "DIRECTORY [$(pwd -P)]"'
HOLD = 'mkfifo /tmp/release; read -r line < /tmp/release'

# USER, WORKDIR, and the files of upper layers: their texts, or the targets of links.
IMAGES = {
    'groups': ('app', '/', []),
    'groups-shell': ('app', '/', []),
    'one-group': ('app:data', '/', []),
    'far-table': ('svc', '/', [{'nix/store/p': 'svc:x:900:901::/:/bin/sh\n'},
                               {'etc/.wh..wh..opq': '', 'etc/passwd': ('/nix/store/p',)}]),
    'link-etc': ('app', '/', [{'usr/etc/passwd': 'app:x:7:8::/:/bin/sh\n'}, {'.wh.etc': '', 'etc': ('usr/etc',)}]),
    'hidden-etc': ('app', '/', [{'etc/.wh..wh..opq': ''}]),
    'too-high': ('4294967295', '/', []),
    'too-high-name': ('large', '/', []),
    'too-high-group': ('1000:4294967295', '/', []),
    'file-directory': ('', '/etc/passwd', []),
    'below-file': ('', '/etc/passwd/x', []),
    'circle': ('', '/a/b', [{'a': ('/c',), 'c': ('a',)}]),
    'dangling': ('', '/work', [{'work': ('/srv/new/place',)}]),
    'long-name': ('', '/' + 'n' * 256, []),
    'file-etc': ('', '/', [{'.wh.etc': '', 'etc': 'a file\n'}]),
    'directory-hosts': ('', '/', [{'etc/hosts/file': ''}]),
    'link-proc': ('', '/', [{'proc': ('/etc',)}]),
}
# The images that cannot run, and why.
REFUSED = {
    'hidden-etc': "Its user 'app' is not in /etc/passwd of the image.",
    'too-high': "The ID 4294967295 of its user '4294967295' is too large: IDs of users and groups are at most 2147483647.",
    'too-high-name': "The ID 4294967294 of its user 'large' is too large",
    'too-high-group': "The ID 4294967295 of its group '4294967295' is too large",
    'file-directory': "Its working directory '/etc/passwd' is not a directory: the image has a file there or above it.",
    'below-file': "Its working directory '/etc/passwd/x' is not a directory: the image has a file there or above it.",
    'circle': "Its working directory '/a/b' leads through more than 40 symbolic links, or in a circle of them.",
    'long-name': 'Its working directory has a path of 257 bytes.',
    'file-etc': "A machine needs its own '/etc/hosts', and the image has something there, or above it, that does not allow it: "
                'Not a directory.',
    'directory-hosts': "A machine needs its own '/etc/hosts', and the image has something there, or above it, that does not "
                       'allow it: Is a directory.',
    'link-proc': "A machine needs its own '/proc'",
    'no-layers': 'It has no layers, so it has no program to run.',
}


def write_files(directory, files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            path.symlink_to(content[0])
        else:
            path.write_text(content)


def write_image(directory, user, working_directory, upper):
    made = framework_image.Layout(directory)
    base = directory / 'base'
    (base / 'bin').mkdir(parents=True)
    for name in ('sh', 'cat', 'id', 'mkfifo', 'test', 'sleep'):
        shutil.copyfile(BUSYBOX.resolve(), base / 'bin' / name)
        (base / 'bin' / name).chmod(0o755)
    write_files(base, {'etc/passwd': PASSWD, 'etc/group': GROUP})
    for number, files in enumerate(upper):
        write_files(directory / f'upper{number}', files)
    for layer in (base, *(directory / f'upper{number}' for number in range(len(upper)))):
        made.add_layer({f'/{entry.name}': entry for entry in layer.iterdir()})
    return made.finish({'Entrypoint': ['/bin/sh'], 'Env': ['PATH=/bin'], 'WorkingDir': working_directory, 'User': user})


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BUSYBOX.exists():
            raise unittest.SkipTest('busybox is not in /bin')
        support.need_isolation()
        scratch = Path(tempfile.mkdtemp(prefix='caip-contents-'))
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        images = {f'gcr.io/p/{name}:v1': write_image(scratch / name, *parts) for name, parts in IMAGES.items()}
        images['gcr.io/p/no-layers:v1'] = framework_image.Layout(scratch / 'no-layers').finish({'Cmd': ['/bin/sh']})
        cls.emulator = support.Emulator('--isolation', 'machine', config=f'images: {json.dumps(images)}\ncompanions: []\n')
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()

    def begin(self, image, script):
        """Submits a job that is named after its image."""
        job = image.replace('-', '_')
        self.addCleanup(self.emulator.caip, 'jobs', 'cancel', job, '--project', PROJECT, check=False)
        self.emulator.caip('jobs', 'submit', 'training', job, '--region', 'us-central1', '--project', PROJECT,
                           '--master-image-uri', f'gcr.io/p/{image}:v1', '--', '-c', script)
        return job

    def end_of(self, job):
        """The state of the job when it has ended, and its log."""
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', PROJECT, check=False)
        described = self.emulator.caip('jobs', 'describe', job, '--project', PROJECT, '--format', 'json')
        return json.loads(described.stdout)['state'], done.stdout + done.stderr

    def check_look(self, image, **values):
        state, log = self.end_of(self.begin(image, LOOK))
        self.assertEqual(state, 'SUCCEEDED', log)
        for name, value in values.items():
            self.assertIn(f'{name.upper()} [{value}]', log)

    def test_a_user_without_a_group_has_the_groups_that_have_it_as_a_member(self):
        if os.getuid() != 0:
            self.skipTest('only root may give a program groups')
        self.check_look('groups', id='1000:1001', groups='1001 2000')

    def test_a_user_with_a_group_has_that_one_alone(self):
        groups = {'groups': '2000'} if os.getuid() == 0 else {}  # another user cannot leave the groups of the host
        self.check_look('one-group', id='1000:2000', **groups)

    def test_a_shell_has_the_groups_of_the_replica(self):
        support.need_entry()
        if os.getuid() != 0:
            self.skipTest('only root may give a program groups')
        job = self.begin('groups-shell', HOLD)

        def shell(script):
            return self.emulator.caip('jobs', 'shell', job, '--project', PROJECT, '--', 'sh', '-c', script, check=False)
        support.wait_for(lambda: shell('test -p /tmp/release').returncode == 0, 'the pipe of the job')
        done = shell(LOOK)
        self.assertIn('GROUPS [1001 2000]', done.stdout, done.stderr)
        shell('echo done > /tmp/release')
        self.assertEqual(self.end_of(job)[0], 'SUCCEEDED')

    def test_users_are_looked_up_in_the_files_of_all_layers(self):
        self.check_look('far-table', id='900:901')
        self.check_look('link-etc', id='7:8')

    def test_the_target_of_a_link_to_a_missing_working_directory_is_made(self):
        self.check_look('dangling', directory='/srv/new/place')

    def test_what_cannot_run_is_refused_with_the_image_and_the_part(self):
        for image, reason in REFUSED.items():
            with self.subTest(image):
                state, log = self.end_of(self.begin(image, LOOK))
                self.assertEqual(state, 'FAILED', log)
                self.assertIn(f"The image 'gcr.io/p/{image}:v1' cannot run: {reason}", log)
                self.assertNotIn('--isolation process', log)
                self.assertNotIn('state directory', log)


if __name__ == '__main__':
    support.main()
