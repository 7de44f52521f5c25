"""gcloud ai-platform jobs stream-logs loses no line, whenever a job ends.

gcloud asks for entries up to five seconds ago and looks every ten seconds whether the job has ended;
a job that ends between the two would lose its last lines if it were shown to have ended at once.

  CAIP_STREAM_JOBS  how many jobs (24; the proof is 100)
"""

import concurrent.futures
import json
import os
import random
import re
import urllib.request

import support

JOBS = int(os.environ.get('CAIP_STREAM_JOBS', '24'))
AT_A_TIME = 6

TASK = '''
import sys, time
name, seconds, lines, quiet = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[5] == 'quiet'
if quiet:  # all at the end: a stream that stops too early loses these
    time.sleep(seconds)
for i in range(lines):
    print(f'LINE {name} {i} of {lines}', flush=True)
    time.sleep(0 if quiet else seconds / lines)
print(f'LAST {name}', flush=True)
sys.exit(int(sys.argv[4]))
'''


class GcloudStreamLogs(support.EmulatorTest):
    """Jobs that end at random moments, followed by several gclouds at a time."""

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        super().setUpClass()
        cls.emulator.bucket('bkt')
        cls.package = support.write_package(cls.emulator.directory / 'code', TASK)
        cls.env = {**cls.emulator.env, 'CLOUDSDK_ML_ENGINE_POLLING_INTERVAL': '1'}

    def submit(self, name, *arguments):
        self.emulator.caip('jobs', 'submit', 'training', name, '--package-path', self.package,
                           '--module-name', 'trainer.task', '--staging-bucket', 'gs://bkt',
                           '--region', 'europe-west1', '--runtime-version', '2.11',
                           '--python-version', '3.7', '--project', 'demo-project', '--', name,
                           *(str(argument) for argument in arguments))

    def one_job(self, name, seconds, lines, status, manner):
        """Lines that gcloud shows never or twice of a job."""
        self.submit(name, seconds, lines, status, manner)
        done = support.run(['gcloud', 'ai-platform', 'jobs', 'stream-logs', name, '--project',
                            'demo-project'], env=self.env, timeout=600)
        numbers = [int(n) for n in re.findall(rf'LINE {name} (\d+) of', done.stdout)]
        problems = []
        if numbers != list(range(lines)):
            problems.append(f'{name}: lines {numbers}, not 0..{lines - 1}')
        last = 'Job completed successfully.' if status == 0 else 'Job failed.'
        for text in (f'LAST {name}', last):
            if done.stdout.count(text) != 1:
                problems.append(f'{name}: {done.stdout.count(text)} times "{text}"')
        return problems

    def test_no_line_is_lost_of_jobs_that_end_at_random_moments(self):
        chance = random.Random(7)
        jobs = [(f'stream_{n}', round(chance.uniform(0.2, 30), 2), chance.randint(1, 30),
                 chance.choice([0, 0, 0, 1]), chance.choice(['quiet', 'quiet', 'steady']))
                for n in range(JOBS)]
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            problems = sum(pool.map(lambda job: self.one_job(*job), jobs), [])
        self.assertEqual(problems, [], f'{len(problems)} problems in {JOBS} jobs')

    def test_the_status_of_submit_with_stream_logs_shows_how_the_job_ended(self):
        for status in (0, 1):
            name = f'submitted_{status}'
            done = support.run(
                ['gcloud', 'ai-platform', 'jobs', 'submit', 'training', name, '--package-path',
                 self.package, '--module-name', 'trainer.task', '--staging-bucket', 'gs://bkt',
                 '--region', 'europe-west1', '--runtime-version', '2.11', '--python-version', '3.7',
                 '--stream-logs', '--', name, '2', '5', str(status), 'steady'],
                env=self.env, timeout=600, check=False)
            self.assertEqual(done.returncode != 0, status != 0, done.stderr)
            self.assertEqual(done.stdout.count(f'LAST {name}') + done.stderr.count(f'LAST {name}'),
                             1, done.stdout + done.stderr)

    def test_others_see_the_end_of_a_job_at_once(self):
        self.submit('seen', 0.2, 1, 0, 'steady')
        url = f'{self.emulator.url}/v1/projects/demo-project/jobs/seen'
        def state():
            with urllib.request.urlopen(url) as answer:
                return 'endTime' in json.load(answer)
        support.wait_for(state, 'the end of the job')
        done = support.run(['gcloud', 'ai-platform', 'jobs', 'describe', 'seen', '--project',
                            'demo-project', '--format', 'value(state)'], env=self.env)
        self.assertEqual(done.stdout.strip(), 'SUCCEEDED')


class GcloudStreamLogsOfQueuedJobs(support.EmulatorTest):
    """The service's clock skips a queue of twenty minutes, and gcloud need not wait for it."""

    flags = ('--queue-delay', 'constant:20m')

    def test_lines_are_shown_although_their_times_are_in_the_future(self):
        support.need('gcloud')
        self.emulator.bucket('bkt')
        package = support.write_package(self.emulator.directory / 'code', TASK)
        self.emulator.caip('jobs', 'submit', 'training', 'queued', '--package-path', package,
                           '--module-name', 'trainer.task', '--staging-bucket', 'gs://bkt',
                           '--region', 'europe-west1', '--runtime-version', '2.11',
                           '--python-version', '3.7', '--project', 'demo-project', '--', 'queued',
                           '1', '3', '0', 'steady')
        env = {**self.emulator.env, 'CLOUDSDK_ML_ENGINE_POLLING_INTERVAL': '1'}
        done = support.run(['gcloud', 'ai-platform', 'jobs', 'stream-logs', 'queued', '--project',
                            'demo-project'], env=env, timeout=180)
        self.assertEqual(done.stdout.count('LINE queued'), 3, done.stdout)
        self.assertIn('Job completed successfully.', done.stdout)


if __name__ == '__main__':
    support.main()
