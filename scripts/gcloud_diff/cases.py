"""Random command lines and config files for `jobs submit training`: right, wrong and in between."""

import json

# Scalars as written in a file. YAML 1.1 gives most of them different types.
SCALARS = [
    'a', 'trainer.task', '"2.4"', "'3.7'", '2.4', '1.10', '7200', '"7200"', '3600s', '"3600s"',
    'y', 'n', 'Y', 'yes', 'no', 'on', 'Off', 'true', 'false', 'TRUE', '"true"', '~', 'null', '',
    '0', '1', '-5', '+1', '010', '08', '0o7', '0x1F', '0b11', '1_000', '1:30', '1e3', '1.5e-7',
    '.5', '1.', 'us-central1', 'gs://bkt/a.tar.gz', '"a b"', "'it''s'", 'é', '"\\u00e9"',
    '2001-01-01', '2001-1-1', '2022-02-09T17:36:42Z', '""', "''", '" 12 "', 'x y z', '1.2.3',
    '!!str 5', '!!int "5"', '!foo 5', '=', '[]', '{}', '[a]', '{a: b}', '[1, 2]', 'NVIDIA_TESLA_T4',
    '.inf', '.nan', '12:30:45', '99999999999999999999', '-0', '1__0',
]
TEXTS = ['a', 'trainer.task', '"2.4"', "'3.7'", '3600s', 'us-central1', '"a b"', 'é', '"y"', '""']
NUMBERS = ['1', '2', '"3"', '0', '7', '"-1"', '010', '1_000', '" 4 "']
BOOLS = ['true', 'false', 'yes', 'n', 'On']
FLOATS = ['1', '2.5', '"0.1"', '1e3', '-3', '1:30.5', '.5', '"1e-4"']


def pick(chance, *options):
    return chance.choice(options)


def scalar(chance, right):
    """A value that usually fits the field, and sometimes any value."""
    return chance.choice(right if chance.random() < 0.9 else SCALARS)


def listing(chance, right):
    if chance.random() < 0.1:
        return scalar(chance, right)
    return [scalar(chance, right) for _ in range(chance.randrange(4))]


def sometimes(chance, probability, tree, key, make):
    if chance.random() < probability:
        tree[key] = make()


def replica_config(chance):
    config = {}
    sometimes(chance, 0.4, config, 'imageUri', lambda: scalar(chance, ['gcr.io/p/i', '"x:1"', '""']))
    sometimes(chance, 0.4, config, 'acceleratorConfig', lambda: {
        'type': scalar(chance, ['NVIDIA_TESLA_T4', 'nvidia-tesla-t4', 'TPU_V2', '3', 'FOO']),
        'count': scalar(chance, NUMBERS)})
    sometimes(chance, 0.2, config, 'diskConfig', lambda: {
        'bootDiskSizeGb': scalar(chance, NUMBERS), 'bootDiskType': scalar(chance, ['pd-ssd'])})
    sometimes(chance, 0.2, config, 'containerArgs', lambda: listing(chance, TEXTS))
    sometimes(chance, 0.1, config, 'bogus', lambda: scalar(chance, SCALARS))
    return config


def parameter(chance):
    spec = {'parameterName': scalar(chance, ['lr', '"x"'])}
    sometimes(chance, 0.7, spec, 'type', lambda: scalar(chance, ['DOUBLE', 'INTEGER', '4', 'FOO']))
    sometimes(chance, 0.5, spec, 'minValue', lambda: scalar(chance, FLOATS))
    sometimes(chance, 0.5, spec, 'maxValue', lambda: scalar(chance, FLOATS))
    sometimes(chance, 0.3, spec, 'discreteValues', lambda: listing(chance, FLOATS))
    sometimes(chance, 0.3, spec, 'categoricalValues', lambda: listing(chance, TEXTS))
    sometimes(chance, 0.3, spec, 'scaleType', lambda: scalar(chance, ['UNIT_LOG_SCALE', 'NONE']))
    return spec


def tuning(chance):
    spec = {'params': [parameter(chance) for _ in range(chance.randrange(3))]}
    sometimes(chance, 0.6, spec, 'goal', lambda: scalar(chance, ['MAXIMIZE', 'MINIMIZE', 'UP']))
    sometimes(chance, 0.5, spec, 'maxTrials', lambda: scalar(chance, NUMBERS))
    sometimes(chance, 0.3, spec, 'enableTrialEarlyStopping', lambda: scalar(chance, BOOLS))
    sometimes(chance, 0.2, spec, 'algorithm', lambda: scalar(chance, ['GRID_SEARCH', '2', 'X']))
    return spec


def training_input(chance):
    tree = {}
    tiers = ['BASIC', 'CUSTOM', 'custom', 'basic', 'STANDARD_1', 'standard-1', '1', 'FOO']
    sometimes(chance, 0.4, tree, 'scaleTier', lambda: scalar(chance, tiers))
    for key in ('pythonModule', 'runtimeVersion', 'pythonVersion', 'jobDir', 'network',
                'serviceAccount', 'masterType', 'workerType', 'parameterServerType',
                'evaluatorType', 'region'):
        sometimes(chance, 0.15, tree, key, lambda: scalar(chance, TEXTS))
    for key in ('workerCount', 'parameterServerCount', 'evaluatorCount'):
        sometimes(chance, 0.15, tree, key, lambda: scalar(chance, NUMBERS))
    for key in ('useChiefInTfConfig', 'enableWebAccess'):
        sometimes(chance, 0.15, tree, key, lambda: scalar(chance, BOOLS))
    for key in ('masterConfig', 'workerConfig', 'parameterServerConfig', 'evaluatorConfig'):
        sometimes(chance, 0.2, tree, key, lambda: replica_config(chance))
    sometimes(chance, 0.2, tree, 'packageUris', lambda: listing(chance, ['gs://bkt/file.tar.gz']))
    sometimes(chance, 0.3, tree, 'args', lambda: listing(chance, TEXTS))
    sometimes(chance, 0.2, tree, 'hyperparameters', lambda: tuning(chance))
    sometimes(chance, 0.2, tree, 'scheduling', lambda: {
        'maxRunningTime': scalar(chance, ['3600s', '"60s"', '7200']),
        'priority': scalar(chance, NUMBERS)})
    sometimes(chance, 0.1, tree, 'encryptionConfig', lambda: {'kmsKeyName': scalar(chance, TEXTS)})
    sometimes(chance, 0.1, tree, 'scaleTeir', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.05, tree, 'nasJobSpec', lambda: {'searchSpaceSpec': 'x'})
    return tree


def job(chance):
    tree = {}
    sometimes(chance, 0.2, tree, 'jobId', lambda: scalar(chance, TEXTS))
    sometimes(chance, 0.4, tree, 'labels', lambda: {
        pick(chance, 'a', 'b', '"c d"', 'x1', '1'): scalar(chance, TEXTS)
        for _ in range(chance.randrange(3))})
    sometimes(chance, 0.9, tree, 'trainingInput', lambda: training_input(chance))
    sometimes(chance, 0.05, tree, 'trainingInput', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.1, tree, 'etag', lambda: scalar(chance, ['abcd', '"a-_="', 'abc', '1234']))
    sometimes(chance, 0.1, tree, 'bogus', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.05, tree, 'state', lambda: scalar(chance, ['QUEUED', '1', 'FOO']))
    sometimes(chance, 0.05, tree, 'createTime', lambda: scalar(chance, TEXTS))
    return tree


def flow(tree):
    if isinstance(tree, dict):
        return '{' + ', '.join(f'{key}: {flow(value)}' for key, value in tree.items()) + '}'
    if isinstance(tree, list):
        return '[' + ', '.join(flow(value) or '~' for value in tree) + ']'
    return tree


def block(chance, tree, indent=0):
    blanks = ' ' * indent
    lines = []
    items = tree.items() if isinstance(tree, dict) else ((None, value) for value in tree)
    for key, value in items:
        head = f'{blanks}{key}:' if key is not None else f'{blanks}-'
        if isinstance(value, (dict, list)) and value and chance.random() < 0.8:
            deeper = indent + (2 if isinstance(value, dict) or chance.random() < 0.5 else 0)
            deeper = deeper if key is not None else indent + 2
            lines.append(head)
            lines += block(chance, value, deeper)
        else:
            comment = '  # why' if chance.random() < 0.05 else ''
            lines.append(f'{head} {flow(value)}{comment}')
    return lines


def config_text(chance):
    """The text of a file, or None for no file."""
    fate = chance.random()
    if fate < 0.03:
        return None
    if fate < 0.08:
        return pick(chance, '', '# nothing\n', '[]', 'a', '{', 'a: [', 'a: *b', 'a: b\n---\nc: d\n',
                    'null', '{}', 'a: 1\na: 2\n', '5', 'trainingInput: x', '"a": 1\n')
    return text_of(chance, job(chance), fate)


def text_of(chance, tree, fate=None):
    """The tree as a file: JSON, YAML in one line or YAML in many."""
    fate = chance.random() if fate is None else fate
    if fate < 0.2:
        try:  # JSON where every scalar is one of JSON's
            return json.dumps(json.loads(flow_json(tree)), indent=chance.choice([None, 2]))
        except ValueError:
            pass
    if not tree:
        return '{}\n'
    text = flow(tree) if fate < 0.4 else '\n'.join(block(chance, tree))
    return text + '\n'


def flow_json(tree):
    if isinstance(tree, dict):
        return '{' + ', '.join(f'"{key}": {flow_json(value)}' for key, value in tree.items()) + '}'
    if isinstance(tree, list):
        return '[' + ', '.join(flow_json(value) for value in tree) + ']'
    return tree if tree[:1] in '"0123456789-' or tree in ('true', 'false') else json.dumps(tree)


# Values of flags: valid ones first, then invalid ones.
FLAGS = {
    '--module-name': (['trainer.task', 'a.b', ''], ['-x', '-1', '-x y']),
    '--job-dir': (['gs://bkt', 'gs://bkt/out', 'gs://bkt/out/', 'gs://bkt//x', 'gs://bkt/a b/é'],
                  ['/tmp/x', 'gs://', 'gs://BK', 'gs://BKT/x', '', 'gs://b', 'gs://b/x']),
    '--staging-bucket': (['gs://bkt', 'gs://stage/', 'gs://a.b.c'],
                         ['bkt', 'gs://bkt/x', 'gs://b', '', 'gs://1.2.3.4']),
    '--scale-tier': (['basic', 'BASIC', 'standard-1', 'STANDARD_1', 'basic_gpu', 'Premium-1',
                      'custom', 'CUSTOM'], ['foo', '', 'basic gpu']),
    '--runtime-version': (['2.11', '1.15', ''], []),
    '--python-version': (['3.7'], []),
    '--service-account': (['a@b.c', '123', 'x@y@z.w'], ['a@b', '', 'a.b', '@b.c', 'a@.']),
    '--labels': (['a=b', 'a=b,c=d', 'a=', 'x_1-y=1', 'a=b,a=c', '', '^:^a=b:c=d', 'é=ü', 'a=b,'],
                 ['A=b', 'a', 'a=B', '1a=b', '=b', 'a=b,,c=d', 'a=b=c', 'a' * 64 + '=b', '^^a=b']),
    '--master-machine-type': (['n1-standard-4', 'complex_model_m', ''], []),
    '--master-image-uri': (['gcr.io/p/i:1', ''], []),
    '--master-accelerator': (['type=nvidia-tesla-t4,count=1', 'count=2,type=TPU_V2',
                              'type=nvidia_tesla_k80,count=01'],
                             ['type=nvidia-tesla-t4', 'count=1', 'type=foo,count=1', '',
                              'type=tpu-v2,count=0', 'type=tpu-v2,count=x',
                              'type=tpu-v2,count=1,x=y']),
    '--worker-machine-type': (['n1-standard-4'], []),
    '--worker-count': (['2', ' 3 ', '1_0', 'unlimited'], ['0', '-1', 'x', '1.5', '',
                                                          '99999999999999999999']),
    '--worker-accelerator': (['type=tpu-v3,count=8'], ['type=tpu-v3']),
    '--worker-image-uri': (['gcr.io/p/w', ''], []),
    '--parameter-server-machine-type': (['standard'], []),
    '--parameter-server-count': (['1', '+2'], ['0', 'two']),
    '--parameter-server-accelerator': (['type=tpu-v2,count=8'], ['x']),
    '--parameter-server-image-uri': (['gcr.io/p/ps'], []),
    '--use-chief-in-tf-config': (['true', 'no', 'YES'], ['1', '', 'maybe']),
    '--kms-key': (['projects/p/locations/l/keyRings/r/cryptoKeys/k', 'k', ''],
                  ['projects/p/locations/l', 'a/b', 'projects//locations/l/keyRings/r/cryptoKeys/k',
                   'https://cloudkms.googleapis.com/v1/projects/p/locations/l/keyRings/r/cryptoKeys/k',
                   'http://x/y', 'projects/p/locations/l/keyRings/r/cryptoKeys/k/x']),
    '--kms-keyring': (['r', ''], []),
    '--kms-location': (['l', ''], []),
    '--kms-project': (['q', ''], []),
    '--packages': (['gs://bkt/a.tar.gz', 'gs://bkt/a.tar.gz,gs://bkt/b/c.whl', 'one.tar.gz',
                    'one.tar.gz,gs://bkt/x,two.whl', '', '^;^gs://bkt/a,b;one.tar.gz'],
                   ['gs://b/x', 'gs://bkt', 'missing.tar.gz', 'one.tar.gz,sub/one.tar.gz', 'sub']),
    '--network': ([], ['projects/1/global/networks/n']),
    '--bogus': ([], ['x']),
    '--format': (['json', 'yaml'], []),
    '--verbosity': (['error', 'none'], ['loud']),
    '--account': (['me@example.com'], []),
}
PAIRS = [('--worker-machine-type', '--worker-count'),
         ('--parameter-server-machine-type', '--parameter-server-count'),
         ('--kms-key', '--kms-keyring', '--kms-location')]
RARE = ['--bogus', '--network', '--verbosity', '--format', '--kms-project']
SWITCHES = ['--enable-web-access', '--no-enable-web-access', '--async', '--quiet', '-q']
WRONG_WORDS = ['extra', '--enable-web-access=true', '--scale', '--stream-logs']
USER_ARGS = [[], ['--a=1', '--b', '2'], ['--', 'c'], ['--job-dir', 'x'], ['--help'], ['']]


def flag_words(chance, flag, wrong):
    right, bad = FLAGS[flag]
    values = bad if bad and (not right or chance.random() < wrong) else right
    if not values:
        return []
    value = chance.choice(values)
    if chance.random() < 0.5:
        return [flag + '=' + value]
    return [flag, value]


def words(chance, package_paths):
    """The arguments after `jobs submit training`, and whether a config file is among them."""
    wrong = 0.0 if chance.random() < 0.75 else 0.15
    parts = []
    if chance.random() < 0.97:
        parts.append(['job_1'] if chance.random() < 0.9 else [pick(chance, 'bad-id!', 'é', '')])
    if chance.random() < 0.93:
        parts.append(['--region', 'us-central1'] if chance.random() < 0.95 else ['--region='])
    if chance.random() < 0.85:
        parts.append(['--packages', 'gs://bkt/a.tar.gz'])
    for flag in FLAGS:
        odds = 0.015 if flag in RARE or any(flag in pair for pair in PAIRS) else 0.1
        if chance.random() < odds:
            parts.append(flag_words(chance, flag, wrong))
    for pair in PAIRS:
        if chance.random() < 0.2:
            parts += [flag_words(chance, flag, wrong) for flag in pair]
    if chance.random() < 0.2:
        parts.append([chance.choice(SWITCHES)])
    if wrong and chance.random() < 0.15:
        parts.append([chance.choice(WRONG_WORDS)])
    if chance.random() < 0.02:
        parts.append(['--package-path', chance.choice(package_paths)])
    has_config = chance.random() < 0.6
    if has_config:
        parts.append(['--config', 'job.yaml'])
    chance.shuffle(parts)
    line = [word for part in parts for word in part]
    if '--stream-logs' in line and '--async' not in line:
        line.insert(0, '--async')  # without it gcloud would wait for a job that never runs
    if chance.random() < 0.4:
        line += ['--'] + chance.choice(USER_ARGS)
    return line, has_config
