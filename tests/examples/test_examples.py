#!/usr/bin/env python3
"""Each example of the help and of the documents runs, as it stands there, in a new project with the files and jobs that
it names. `found.py` reads the examples from the help and the documents themselves.
"""

import os
import re
import unittest

import found
from world import need_image_programs, World

# Examples that cannot run here, with the reason.
NOT_RUN = {
    'caip conform': 'conform.EmbeddedKeepsEveryRule runs it',
    'caip conform --api vertex --endpoint http://127.0.0.1:2247 --project demo --bucket my-bucket --set '
    'image=gcr.io/p/probe:v1': 'another program may have the port',
    'caip conform --endpoint none --submit-command \'gcloud ai custom-jobs create\' --job-timeout 300': 'needs gcloud',
    'caip conform --endpoint http://127.0.0.1:2247': 'another program may have the port',
    'docker save trainer | caip images import - --name gcr.io/my-project/trainer:v1':
        'needs docker',
    **{example: 'needs NumPy, XGBoost and data; clients.algorithms_jobs runs it' for example in (
        'caip cp census.csv gs://my-bucket/census.csv',
        'caip jobs submit training census --master-image-uri gcr.io/cloud-ml-algos/boosted_trees:latest --scale-tier BASIC '
        '--region us-central1 --job-dir gs://my-bucket/census --stream-logs -- --preprocess '
        '--training_data_path=gs://my-bucket/census.csv --objective=binary:logistic --num_boost_round=50',
        'caip local predict --model-dir gs://my-bucket/census/model --json-instances instances.json')},
    'caip env --format powershell | Out-String | Invoke-Expression': 'is a line for PowerShell',
    'caip env --hosts | sudo tee -a /etc/hosts': "changes the host's files",
    'caip jobs shell my_job --replica master-0 -- nvidia-smi': 'needs a GPU',
    'caip runtimes install 2.11': 'e2e.runtimes runs it, with packages of a folder',
    'caip runtimes install 2.11 --python python3.9': 'needs the network',
    'caip conform --endpoint none --submit-command \'gcloud ai-platform jobs submit training\' --train-command '
    '\'gcloud ai-platform local train\' --job-timeout 300': 'needs gcloud',
    'caip scenario run scenarios/frameworks/tf_mirrored_lost_worker.yaml --emulator-config fw.yaml --verbose':
        'needs TensorFlow',
    'caip explore --max-points 12 --no-pairs -- python3 torch_recipe.py --out {job_dir} --bug': 'needs PyTorch',
    'caip explore --no-pairs -- python3 bench/many_files.py --out {job_dir} --bug':
        'takes minutes; explorer.local_files runs that trainer with fewer files',
    'caip explore --no-pairs -- mpirun -np 3 ./train': 'needs mpicc; explorer.clusters runs it',
    'caip ai custom-jobs create --region us-central1 --display-name digits --worker-pool-spec '
    'machine-type=n1-standard-4,container-image-uri=I --args=--epochs=3': 'needs a container image, or a job of Vertex AI',
    'caip ai custom-jobs local-run --executor-image-uri E --script train.py': 'needs a container image, or a job of Vertex AI',
    'caip ai custom-jobs local-run --executor-image-uri E --local-package-path src --python-module trainer.task -- '
    '--epochs 3': 'needs a container image, or a job of Vertex AI',
    'caip ai hp-tuning-jobs create --region us-central1 --display-name study --config tuning.yaml':
        'needs a container image, or a job of Vertex AI',
    **{f'caip ai {group} {words}': 'needs a job of Vertex AI, whose id the service makes'
       for group in ('custom-jobs', 'hp-tuning-jobs')
       for words in ('describe 123 --region us-central1', 'cancel 123 --region us-central1',
                     'describe 123 --region us-central1 --format \'value(state)\'',
                     'stream-logs 123 --region us-central1',
                     'stream-logs 123 --region us-central1 --task-name workerpool0-0')},
    **{f'caip ai {group} list --region us-central1{words}': 'needs a container image, or a job of Vertex AI'
       for group in ('custom-jobs', 'hp-tuning-jobs')
       for words in ('', ' --limit 5 --format \'table(name,state)\'',
                     ' --filter \'state="JOB_STATE_FAILED"\'')},
}
# What is changed in examples before they run, with the reason.
CHANGED = {
    'caip explore ': ('caip explore --max-points 6 ', 'all crash points take minutes'),
    ' --port 8080': (' --port 0', 'another program may have the port'),
    '--jobs 1000000': ('--jobs 2000', 'the whole run takes many minutes'),
    '--seeds 1..20000': ('--seeds 1..200', 'the whole run takes a minute'),
    ' --endpoint http://127.0.0.1:2247 --project demo --bucket my-bucket': (
        ' --filter tiers/*worker*', 'another program may have the port'),
    '~/caip-token': ('caip-token', 'the file belongs to the project of the test'),
    '/data/run': ('data-run', 'only root may make that folder'),
    '…': ('--region us-central1 --package-path trainer --module-name trainer.task --staging-bucket gs://my-bucket '
          '--runtime-version 2.11',
          'stands for the flags of the example above it'),
}
# Exit codes other than 0 that examples have, with the reason.
CODES = {
    'caip runtimes remove 2.11': (1, 'nothing is installed'),
    'caip check --out-dir /data/run -- ./train.sh': (1, 'the trainer of the test saves nothing'),
    'caip explore scenarios/restarts/r01_half_a_checkpoint_broken.yaml': (1, 'it finds the bug of that trainer'),
    'caip explore scenarios/vertex/second_start_broken.yaml': (1, 'it finds the bug of that trainer'),
}
# What examples need beside the project.
RUNNING = re.compile(r'^caip (ps|jobs cancel|jobs shell)\b.*?(my_\w+|$)')
IMAGE_JOB = re.compile(r'\bjobs submit .* --master-image-uri gcr\.io/my-project/')
CONFIGS = {'my_job': ('cluster.yaml', 2), 'my_study': ('study.yaml', 3)}


def changed(example):
    for old, (new, _) in CHANGED.items():
        example = example.replace(old, new)
    return example


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.template = World()
        cls.addClassCleanup(cls.template.close)

    def setUp(self):
        self.world = World(self.template)
        self.addCleanup(self.world.close)
        self.running = set()

    def prepare(self, example):
        new = re.search(r'jobs submit training (\w+)', example)
        if new:
            self.world.caip('jobs', 'delete', new.group(1))
        if example.startswith('caip state restore '):
            self.world.caip('state', 'backup', example.split()[3])
        if example.startswith('caip init '):
            self.world.use_empty_folder()
        match = RUNNING.match(example)
        if match:
            name = match.group(2) or 'my_job'
            if name not in self.running:
                self.world.run_job(name, *CONFIGS[name])
            self.running.add(name)

    def try_one(self, example):
        if example in NOT_RUN:
            return
        if example.startswith('caip jobs shell') and os.environ.get('CAIP_SANITIZE') == 'thread':
            self.skipTest('a process with a second thread, as the sanitizer has, cannot enter a user namespace')
        if IMAGE_JOB.search(example):
            need_image_programs()
        self.prepare(example)
        command = changed(example)
        if re.match(r'caip serve\b', command):
            self.world.serve(command.rstrip('& '))
            self.world.stop_servers()
            return
        code, text = self.world.shell(command)
        self.assertEqual(code, CODES.get(example, (0, ''))[0], f'{command}\n{text}')

    def try_all(self, examples):
        for example in examples:
            with self.subTest(example):
                self.try_one(example)


def add_tests():
    """A test for each page of the help and each block of a document."""
    pages = {}
    for page, example in found.of_help():
        pages.setdefault(page, []).append(example)
    for document, number, examples in found.of_documents():
        pages[f'{document} {number}'] = [line for line in examples if found.COMMAND.search(line)]
    for page, examples in pages.items():
        name = 'test_' + re.sub(r'\W+', '_', page)
        setattr(Examples, name, lambda self, examples=examples: self.try_all(examples))
    return pages


class Tables(unittest.TestCase):
    """The tables above, and the pages, agree."""

    def test_each_command_has_an_example(self):
        for path, text in found.commands():
            if not found.children(text):
                with self.subTest(' '.join(path)):
                    self.assertIn('\nExamples:\n', text)

    def test_what_the_tables_name_is_still_there(self):
        examples = [example for page in PAGES.values() for example in page]
        self.assertGreater(len(examples), 150)  # else found.py no longer finds them
        for example in [*NOT_RUN, *CODES]:
            with self.subTest(example):
                self.assertIn(example, examples)
        self.assertTrue(any(IMAGE_JOB.search(example) for example in examples))
        for old in CHANGED:
            with self.subTest(old):
                self.assertTrue(any(old in example for example in examples))

    def test_examples_of_the_help_fit_a_window_of_80_columns(self):
        for path, _ in found.commands():
            for line in found.page('help', *path).partition('\nExamples:\n')[2].splitlines():
                with self.subTest(line):
                    self.assertLessEqual(len(line), 80)


PAGES = add_tests()

if __name__ == '__main__':
    unittest.main(verbosity=2)
