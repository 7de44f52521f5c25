"""Random command lines and config files for `ai custom-jobs create` and `ai hp-tuning-jobs create`."""

from cases import BOOLS, FLOATS, NUMBERS, SCALARS, TEXTS, listing, scalar, sometimes, text_of

STRATEGIES = ['SPOT', 'STANDARD', 'FLEX_START', '4', '5', 'spot', 'FOO', '""', '6']
ACCELERATORS = ['NVIDIA_L4', 'NVIDIA_TESLA_T4', 'TPU_V2', 'nvidia-l4', '3', 'NVIDIA_GB200']
IMAGES = ['gcr.io/p/i', '"x:1"', '""']


def environment(chance):
    return [{'name': scalar(chance, ['A', 'B']), 'value': scalar(chance, TEXTS)}
            for _ in range(chance.randrange(3))]


def container(chance):
    tree = {}
    sometimes(chance, 0.9, tree, 'imageUri', lambda: scalar(chance, IMAGES))
    sometimes(chance, 0.4, tree, 'args', lambda: listing(chance, TEXTS))
    sometimes(chance, 0.2, tree, 'command', lambda: listing(chance, TEXTS))
    sometimes(chance, 0.2, tree, 'env', lambda: environment(chance))
    sometimes(chance, 0.05, tree, 'image_uri', lambda: scalar(chance, IMAGES))
    return tree


def package(chance):
    tree = {}
    sometimes(chance, 0.8, tree, 'executorImageUri', lambda: scalar(chance, IMAGES))
    sometimes(chance, 0.7, tree, 'pythonModule', lambda: scalar(chance, ['trainer.task', '""']))
    sometimes(chance, 0.5, tree, 'packageUris', lambda: listing(chance, ['gs://b/a.tar.gz']))
    sometimes(chance, 0.3, tree, 'args', lambda: listing(chance, TEXTS))
    return tree


def pool(chance):
    tree = {}
    if chance.random() < 0.6:
        tree['containerSpec'] = container(chance)
    elif chance.random() < 0.9:
        tree['pythonPackageSpec'] = package(chance)
    sometimes(chance, 0.05, tree, 'pythonPackageSpec', lambda: package(chance))
    sometimes(chance, 0.7, tree, 'replicaCount', lambda: scalar(chance, NUMBERS))
    sometimes(chance, 0.2, tree, 'diskSpec', lambda: {
        'bootDiskSizeGb': scalar(chance, NUMBERS), 'bootDiskType': scalar(chance, ['pd-ssd'])})
    sometimes(chance, 0.1, tree, 'nfsMounts', lambda: [{'server': scalar(chance, TEXTS)}])
    sometimes(chance, 0.05, tree, 'bogus', lambda: scalar(chance, SCALARS))
    if chance.random() < 0.6:
        machine = {'machineType': scalar(chance, ['n1-standard-4'])}
        sometimes(chance, 0.3, machine, 'acceleratorType', lambda: scalar(chance, ACCELERATORS))
        sometimes(chance, 0.3, machine, 'acceleratorCount', lambda: scalar(chance, NUMBERS))
        sometimes(chance, 0.1, machine, 'reservationAffinity', lambda: {
            'reservationAffinityType': scalar(chance, ['ANY_RESERVATION', '2', 'X']),
            'values': listing(chance, TEXTS)})
        sometimes(chance, 0.1, machine, 'gpuPartitionSize', lambda: scalar(chance, TEXTS))
        tree['machineSpec'] = machine
    return tree


def spec(chance):
    tree = {}
    if chance.random() < 0.9:
        pools = [pool(chance) for _ in range(chance.randrange(1, 4))]
        tree['workerPoolSpecs'] = pools[0] if chance.random() < 0.15 else pools
    sometimes(chance, 0.03, tree, 'workerPoolSpecs', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.4, tree, 'scheduling', lambda: {
        'timeout': scalar(chance, ['3600s', '"60s"']),
        'strategy': scalar(chance, STRATEGIES),
        'restartJobOnWorkerRestart': scalar(chance, BOOLS)})
    for key in ('network', 'serviceAccount', 'persistentResourceId', 'tensorboard', 'experiment'):
        sometimes(chance, 0.15, tree, key, lambda: scalar(chance, TEXTS))
    for key in ('enableWebAccess', 'enableDashboardAccess'):
        sometimes(chance, 0.2, tree, key, lambda: scalar(chance, BOOLS))
    for key in ('models', 'reservedIpRanges'):
        sometimes(chance, 0.1, tree, key, lambda: listing(chance, TEXTS))
    sometimes(chance, 0.3, tree, 'baseOutputDirectory', lambda: {
        'outputUriPrefix': scalar(chance, ['gs://b/out'])})
    sometimes(chance, 0.05, tree, 'bogus', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.05, tree, 'jobSpec', lambda: {'workerPoolSpecs': [pool(chance)]})
    sometimes(chance, 0.05, tree, 'base_output_directory', lambda: scalar(chance, TEXTS))
    return tree


def parameter(chance):
    tree = {'parameterId': scalar(chance, ['lr', '"x"'])}
    sometimes(chance, 0.4, tree, 'doubleValueSpec', lambda: {
        'minValue': scalar(chance, FLOATS), 'maxValue': scalar(chance, FLOATS)})
    sometimes(chance, 0.3, tree, 'integerValueSpec', lambda: {
        'minValue': scalar(chance, NUMBERS), 'maxValue': scalar(chance, NUMBERS)})
    sometimes(chance, 0.2, tree, 'categoricalValueSpec', lambda: {'values': listing(chance, TEXTS)})
    sometimes(chance, 0.2, tree, 'discreteValueSpec', lambda: {'values': listing(chance, FLOATS)})
    sometimes(chance, 0.3, tree, 'scaleType', lambda: scalar(
        chance, ['UNIT_LOG_SCALE', '2', 'LINEAR']))
    if chance.random() < 0.1:
        tree['conditionalParameterSpecs'] = [{
            'parameterSpec': {'parameterId': scalar(chance, TEXTS)},
            'parentIntValues': {'values': listing(chance, NUMBERS)}}]
    return tree


def study(chance):
    tree = {'parameters': [parameter(chance) for _ in range(chance.randrange(3))]}
    sometimes(chance, 0.8, tree, 'metrics', lambda: [{
        'metricId': scalar(chance, ['accuracy']),
        'goal': scalar(chance, ['MAXIMIZE', 'MINIMIZE', '2', 'UP'] if chance.random() < 0.2
                       else ['MAXIMIZE', 'MINIMIZE'])}])
    sometimes(chance, 0.3, tree, 'algorithm', lambda: scalar(chance, ['GRID_SEARCH', '2', 'RANDOM_SEARCH']))
    sometimes(chance, 0.2, tree, 'measurementSelectionType', lambda: scalar(
        chance, ['BEST_MEASUREMENT', '1']))
    sometimes(chance, 0.2, tree, 'medianAutomatedStoppingSpec', lambda: {
        'useElapsedDuration': scalar(chance, BOOLS)})
    sometimes(chance, 0.1, tree, 'studyStoppingConfig', lambda: {
        'maxNumTrials': scalar(chance, NUMBERS), 'shouldStopAsap': scalar(chance, BOOLS)})
    sometimes(chance, 0.03, tree, 'bogus', lambda: scalar(chance, SCALARS))
    return tree


def tuning_job(chance):
    tree = {}
    sometimes(chance, 0.9, tree, 'studySpec', lambda: study(chance))
    sometimes(chance, 0.85, tree, 'trialJobSpec', lambda: spec(chance) if chance.random() < 0.3
              else {'workerPoolSpecs': [{'containerSpec': {'imageUri': 'i'}}]})
    for key in ('maxTrialCount', 'parallelTrialCount', 'maxFailedTrialCount'):
        sometimes(chance, 0.3, tree, key, lambda: scalar(chance, NUMBERS))
    sometimes(chance, 0.3, tree, 'displayName', lambda: scalar(chance, TEXTS))
    sometimes(chance, 0.3, tree, 'labels', lambda: {
        chance.choice(['a', 'b', '"c d"']): scalar(chance, TEXTS) for _ in range(2)})
    sometimes(chance, 0.1, tree, 'encryptionSpec', lambda: {'kmsKeyName': scalar(chance, TEXTS)})
    sometimes(chance, 0.03, tree, 'bogus', lambda: scalar(chance, SCALARS))
    sometimes(chance, 0.03, tree, 'state', lambda: scalar(chance, ['JOB_STATE_QUEUED', '1', 'FOO']))
    sometimes(chance, 0.03, tree, 'error', lambda: {'code': scalar(chance, NUMBERS)})
    return tree


def config_text(chance, command):
    roll = chance.random()
    if roll < 0.03:
        return chance.choice(['', '{}', '[]', '0', 'text', 'a: [', 'a: 1\na: 2', '- a', '~'])
    return text_of(chance, spec(chance) if command == 'custom-jobs' else tuning_job(chance))


POOL_VALUES = {
    'machine-type': (['n1-standard-4', ''], []),
    'replica-count': (['1', '3', '0', ' 2 ', '1_0', '-1'], ['x', '', '1.5']),
    'accelerator-type': (['NVIDIA_L4', 'NVIDIA_TESLA_T4', 'TPU_V5_LITEPOD', ''],
                         ['nvidia-l4', 'NVIDIA_GB200', 'ACCELERATOR_TYPE_UNSPECIFIED']),
    'accelerator-count': (['1', '2', '0'], ['x']),
    'container-image-uri': (['gcr.io/p/i', 'i:1', ''], []),
    'executor-image-uri': (['us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest', ''], []),
    'python-module': (['trainer.task', 'a.b', ''], []),
    'script': (['task.py', 'run.sh', 'sub/task.py'], []),
    'local-package-path': (['src', 'src/good', 'own/../own', '', '~'], ['nowhere', 'one.tar.gz']),
    'output-image-uri': (['gcr.io/p/i', 'us-docker.pkg.dev/p/r/i:v1', 'eu.gcr.io/a/b__c.d-e'],
                         ['docker.io/x', 'gcr.io/P/x', 'gcr.io//x', 'gcr.io/p/x:-t', 'gcr.io/p:a/b:c:d',
                          'gcr.io/a..b', 'gcr.io/a/b_', '-docker.pkg.dev/x', 'gcr.io/x:' + 'a' * 129,
                          'gcr.io/' + 'a' * 256]),
    'requirements': (['a;b', '', '^:^a:b'], ['^^a']),
    'extra-dirs': (['x;y'], []),
    'extra-packages': (['p.tgz'], []),
    'bogus': ([], ['1']),
}
CONTAINER = ['machine-type', 'container-image-uri']
EXECUTOR = ['machine-type', 'executor-image-uri', 'python-module']
LOCAL = ['machine-type', 'executor-image-uri', 'local-package-path', 'script']


def pool_flag(chance, wrong, first):
    if chance.random() < 0.04:
        return ''
    roll = chance.random()
    keys = list(CONTAINER if roll < 0.5 else EXECUTOR if roll < 0.8 or not first else LOCAL)
    for key in ('replica-count', 'accelerator-type', 'accelerator-count'):
        if chance.random() < 0.3:
            keys.append(key)
    if keys[:4] == LOCAL and chance.random() < 0.5:
        keys += chance.sample(['output-image-uri', 'requirements', 'extra-dirs', 'extra-packages'], 2)
    if chance.random() < wrong:
        keys.append(chance.choice(list(POOL_VALUES)))
    if chance.random() < wrong:
        keys.remove(chance.choice(keys))
    chance.shuffle(keys)
    items = []
    for key in keys:
        right, bad = POOL_VALUES[key]
        values = bad if not right or (bad and chance.random() < wrong) else right
        value = values[0] if values == right and chance.random() < 0.6 else chance.choice(values)
        items.append(f'{key}={value}')
    if chance.random() < wrong / 3:
        items.append(chance.choice(['word', '=x', 'machine-type']))
    if chance.random() < 0.1:
        return '^|^' + '|'.join(items)
    return ','.join(items)


FLAGS = {
    '--labels': (['a=b', 'a=b,c-d=', '', 'é=ü'], ['A=b', 'a', 'a=B', '=b']),
    '--service-account': (['me@p.iam.gserviceaccount.com', '123'], ['x', '']),
    '--network': (['projects/1/global/networks/n', ''], []),
    '--kms-key': (['k', 'projects/p/locations/l/keyRings/r/cryptoKeys/k', ''],
                  ['a/b', 'projects/p/locations/l']),
    '--kms-keyring': (['r', ''], []),
    '--kms-location': (['l'], []),
    '--kms-project': (['q', ''], []),
    '--format': (['json', 'none'], []),
    '--bogus': ([], ['x']),
}
CUSTOM_FLAGS = {
    '--args': (['a', 'a,b', '--x=1,--y', '', '^:^a,b:c', 'a,,b', ','], ['a,a', '^^a']),
    '--command': (['sh,-c', 'x', ''], ['x,x']),
    '--python-package-uris': (['gs://b/a.tar.gz', 'gs://b/a,gs://b/a', ''], []),
    '--persistent-resource-id': (['r', ''], []),
}
TUNING_FLAGS = {
    '--max-trial-count': (['8', '0', '-2', ' 3 '], ['x', '1.5', '']),
    '--parallel-trial-count': (['2', '0'], ['y']),
    '--algorithm': (['grid-search', 'random-search', 'algorithm-unspecified', 'GRID_SEARCH'],
                    ['foo', '', 'bayes']),
}
SWITCHES = ['--enable-web-access', '--no-enable-web-access', '--enable-dashboard-access', '--quiet']
REGIONS = ['us-central1', 'europe-west4', 'projects/p/locations/us-east1',
           'https://aiplatform.googleapis.com/v1/projects/q/locations/asia-east1']
NAMES = ['x', 'My Job_1..2', '', 'é', 'a' * 130, '--x', '...']


def flag_words(chance, flags, flag, wrong):
    right, bad = flags[flag]
    values = bad if not right or (bad and chance.random() < wrong) else right
    value = chance.choice(values)
    if chance.random() < 0.5 and not value.startswith('-'):
        return [flag, value]
    return [f'{flag}={value}']


def words(chance, command):
    """The arguments after `create`, and whether a config file is among them."""
    wrong = 0.0 if chance.random() < 0.65 else 0.2
    is_custom = command == 'custom-jobs'
    flags = {**FLAGS, **(CUSTOM_FLAGS if is_custom else TUNING_FLAGS)}
    parts = []
    if chance.random() > wrong / 6:
        parts.append(['--display-name=' + (NAMES[0] if chance.random() < 0.5 else chance.choice(NAMES))])
    if chance.random() > wrong / 4:
        region = chance.choice(REGIONS) if chance.random() < 0.2 else REGIONS[0]
        bad = chance.choice(['mars', '', 'projects/p/locations/mars'])
        parts.append(['--region=' + (bad if chance.random() < wrong / 3 else region)])
    for flag in flags:
        odds = wrong / 10 if flag == '--bogus' else 0.04 if 'kms' in flag else 0.2
        if chance.random() < odds:
            parts.append(flag_words(chance, flags, flag, wrong))
    if chance.random() < 0.1:
        parts.append(flag_words(chance, flags, chance.choice(['--labels', '--network'] + (
            ['--args', '--args'] if is_custom else [])), wrong))
    if chance.random() < 0.15:
        parts += [['--kms-key', 'k'], ['--kms-keyring=r'], ['--kms-location', 'l']]
    if chance.random() < 0.3:
        parts.append([chance.choice(SWITCHES)])
    if wrong and chance.random() < 0.05:
        parts.append([chance.choice(['extra', '--enable-web-access=true', '--display'])])
    has_config = chance.random() < (0.5 if is_custom else 0.97)
    if has_config:
        parts.append(['--config', 'job.yaml'] if chance.random() < 0.97 else ['--config='])
    chance.shuffle(parts)
    if is_custom and (not has_config or chance.random() < 0.3) and chance.random() > wrong / 6:
        first = True
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            parts.append(['--worker-pool-spec=' + pool_flag(chance, wrong, first)])
            first = False
    line = [word for part in parts for word in part]
    if wrong and chance.random() < 0.03:
        line += ['--', 'x']
    return line, has_config
