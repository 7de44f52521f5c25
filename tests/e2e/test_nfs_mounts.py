#!/usr/bin/env python3
"""Mounts of NFS exports in replicas of Vertex AI, and persistent resources: what the settings name, and what they lack."""

import json
import shutil
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

REGION = 'us-central1'
IMAGE = 'gcr.io/demo/shell:v1'
SERVER = '10.0.0.2'


class WithExport(support.EmulatorTest):
    """Runs shell scripts as custom jobs. A directory stands for the export /data of a server."""

    isolation = ''

    @classmethod
    def setUpClass(cls):
        if cls is WithExport:
            raise unittest.SkipTest('the base of the other classes')
        cls.shared = Path(tempfile.mkdtemp(prefix='caip-nfs-', dir='/var/tmp'))
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        (cls.shared / 'deep').mkdir()
        (cls.shared / 'in.txt').write_text('one two three\n')
        (cls.shared / 'deep/in.txt').write_text('four\n')
        cls.config = (f'isolation: {cls.isolation}\ncompanions: []\nimages: {{"{IMAGE}": [sh]}}\n'
                      f'nfs_exports: {{"{SERVER}:/data": "{cls.shared}", "{SERVER}:/gone": /var/tmp/caip-absent}}\n'
                      'persistent_resources: [my-cluster]\n')
        super().setUpClass()

    def ask(self, target, body=None):
        """The status and the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.emulator.url + target, data,
                                         {'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def create(self, script, mounts, args=(), pools=1, **spec):
        pool = {'machineSpec': {'machineType': 'n1-standard-4'}, 'nfsMounts': mounts,
                'containerSpec': {'imageUri': IMAGE, 'command': ['sh', '-c', script], 'args': list(args)}}
        return self.ask(f'/v1/projects/{self.emulator.project}/locations/{REGION}/customJobs',
                        {'displayName': 'shell', 'jobSpec': {'workerPoolSpecs': [pool] * pools, **spec}})

    def run_script(self, script, mounts, **more):
        """The job when it has ended, and the texts of its log."""
        status, created = self.create(script, mounts, **more)
        self.assertEqual(status, 200, created)

        def ended():
            job = self.ask(f'/v1/{created["name"]}')[1]
            return job if 'endTime' in job else None
        job = support.wait_for(ended, f'the end of {script}', 120)
        number = created['name'].rpartition('/')[2]
        log = self.ask('/v2/entries:list', {
            'resourceNames': [f'projects/{self.emulator.project}'], 'orderBy': 'timestamp asc',
            'filter': f'resource.labels.job_id="{number}"'})[1]
        return job, [entry.get('textPayload') or entry['jsonPayload']['message'] for entry in log.get('entries', [])]

    def expect_success(self, script, mounts, **more):
        job, lines = self.run_script(script, mounts, **more)
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED', json.dumps([job, lines], indent=1))
        return lines

    def expect_failure_without_directory(self):
        job, _ = self.run_script('true', [mount('/gone', 'gone')])
        self.assertEqual(job['state'], 'JOB_STATE_FAILED')
        self.assertIn("'/var/tmp/caip-absent' does not exist", job['error']['message'])
        self.assertIn('/mnt/nfs/gone', job['error']['message'])


def mount(path, point, server=SERVER):
    return {'server': server, 'path': path, 'mountPoint': point}


class OnMachines(WithExport):
    isolation = 'machine'

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        super().setUpClass()

    def test_a_mount_is_the_directory_and_what_is_written_stays(self):
        lines = self.expect_success(
            'wc -w < /mnt/nfs/in/in.txt; cat /mnt/nfs/whole/deep/in.txt; printf model > /mnt/nfs/in/model',
            [mount('/data', 'in'), mount('/data/', '/mnt/nfs/whole')])
        self.assertIn('3', lines)
        self.assertIn('four', lines)
        self.assertEqual((self.shared / 'model').read_text(), 'model')

    def test_a_directory_of_an_export_is_mounted_alone(self):
        lines = self.expect_success('ls -A /mnt/nfs /mnt/nfs/a', [mount('/data/deep', 'a')])
        self.assertEqual(lines[lines.index('/mnt/nfs:'):lines.index('/mnt/nfs:') + 2], ['/mnt/nfs:', 'a'])
        self.assertIn('in.txt', lines)
        self.assertNotIn('deep', lines)

    def test_a_job_without_mounts_sees_none(self):
        self.expect_success('! test -e /mnt/nfs/in', [])

    def test_replicas_share_it(self):
        script = ('case $CLUSTER_SPEC in *\'"type":"workerpool0"\'*) until test -e /mnt/nfs/s/w; do sleep 0.05; done;; '
                  '*) touch /mnt/nfs/s/w;; esac')
        self.expect_success(script, [mount('/data', 's')], pools=2)

    def test_a_directory_that_does_not_exist_fails_the_job(self):
        self.expect_failure_without_directory()


class InProcesses(WithExport):
    isolation = 'process'

    def test_paths_in_words_are_replaced_and_the_log_says_so(self):
        lines = self.expect_success('ls /mnt/nfs/in; cat "$0"; : > /mnt/nfs/in/made',
                                    [mount('/data', 'in'), mount('/data', 'unused')],
                                    args=['/mnt/nfs/in/in.txt'])
        self.assertIn('one two three', lines)
        self.assertIn('deep', lines)
        self.assertTrue((self.shared / 'made').exists())
        said = [line for line in lines if '/mnt/nfs/in does not exist' in line]
        self.assertEqual(len(said), 1, lines)
        self.assertIn('--isolation machine', said[0])
        self.assertFalse([line for line in lines if '/mnt/nfs/unused does not exist' in line])

    def test_a_directory_that_does_not_exist_fails_the_job(self):
        self.expect_failure_without_directory()

    def test_a_mount_of_another_export_is_refused(self):
        for source in (mount('/data2', 'in'), mount('/', 'in'), mount('/data', 'in', '10.0.0.3')):
            status, refused = self.create('true', [source])
            self.assertEqual((status, refused['error']['status']), (501, 'UNIMPLEMENTED'), refused)
            self.assertIn(f"'{source['server']}:{source['path']}'", refused['error']['message'])
            self.assertIn('nfs_exports', refused['error']['message'])

    def test_mounts_that_are_not_valid_are_refused_together(self):
        status, refused = self.create('true', [
            mount('data', 'a'), mount('/data/../data', 'b'), mount('/data', '../c'), mount('/data', '/d'),
            mount('/data', 'e'), mount('/data', '/mnt/nfs/e/'), mount('/data', 'e/inner')])
        self.assertEqual((status, refused['error']['status']), (400, 'INVALID_ARGUMENT'), refused)
        fields = [one['field'] for detail in refused['error']['details'] for one in detail['fieldViolations']]
        self.assertEqual(fields, ['job_spec.worker_pool_specs[0].nfs_mounts' + place for place in (
            '[0].path', '[1].path', '[2].mount_point', '[3].mount_point', '[5].mount_point', '[6].mount_point')])

    def test_a_persistent_resource_is_one_of_the_settings(self):
        self.expect_success('true', [], persistentResourceId='my-cluster')
        status, refused = self.create('true', [], persistentResourceId='another')
        self.assertEqual((status, refused['error']['status']), (404, 'NOT_FOUND'), refused)
        self.assertIn("'another' does not exist", refused['error']['message'])
        self.assertIn('persistent_resources', refused['error']['message'])


if __name__ == '__main__':
    support.main()
