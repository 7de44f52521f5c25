"""Actors that run jobs: training jobs, tuning jobs and custom jobs of Vertex AI."""

import time

from world import IMAGE, LINES, Lost, PROJECT, Refused, STUDY_IMAGE

JOBS = f'/v1/projects/{PROJECT}/jobs'
REMOVALS = f'/emulator/v1/projects/{PROJECT}/jobs'  # ml v1 cannot delete jobs
LOCATION = f'projects/{PROJECT}/locations/us-central1'
FAULTS = ('No space left on device', 'Read-only file system', 'Too many open files')
ENDED = ('SUCCEEDED', 'FAILED', 'CANCELLED')
CANCELLED = ('CANCELLING', 'CANCELLED')
TRIALS = 2
CHECKED_AGAIN = 5  # jobs that ended, and jobs that were deleted, in each check


class Job:
    """What an actor knows of one job."""

    def __init__(self, name):
        self.name = name
        self.cancel_acknowledged = False
        self.state = None  # the newest that was seen
        self.trials = {}  # of a tuning job: (value, metric) of each trial that has succeeded


class JobActor:
    """Creates jobs, cancels some, deletes some that have ended.

    A subclass knows the API: `submit`, `find`, `get`, `cancel`, `delete` and `check_success`.
    """

    unfinished_max = 1_000  # further jobs are created when there are fewer

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.count = 0
        self.unfinished, self.ended = {}, {}  # {name: Job}
        self.deleted = []
        self.creating = None  # the label of a job that was not acknowledged
        self.deleting = None  # the name of a job whose deletion was not acknowledged
        self.may_fail = False  # if the host had no room for a replica

    def act(self):
        kind = self.chance.random()
        if self.unfinished and kind < 0.1:
            self.cancel_one(self.chance.choice(sorted(self.unfinished)))
        elif self.ended and kind < 0.2:
            self.delete_one(self.chance.choice(sorted(self.ended)))
        elif len(self.unfinished) < self.unfinished_max:
            self.create_one()
        else:
            self.look(self.unfinished[self.chance.choice(sorted(self.unfinished))])

    def create_one(self):
        self.count += 1
        self.creating = f'{self.prefix}_{self.count}'
        self.know(self.submit(self.creating))
        self.creating = None
        time.sleep(self.chance.choice([0, 0.01, 0.05]))  # moments before and after the process ends

    def know(self, name):
        self.unfinished[name] = Job(name)

    def cancel_one(self, name):
        job = self.unfinished[name]
        self.cancel(name)
        job.cancel_acknowledged = True
        self.look(job)

    def delete_one(self, name):
        self.deleting = name
        self.delete(name)
        self.forget_deleted()

    def forget_deleted(self):
        self.deleted.append(self.deleting)
        del self.ended[self.deleting]
        self.deleting = None

    def look(self, job):
        """Checks the present state of an unfinished job with what is known of it."""
        found = self.get(job.name)
        if found is None:
            raise Lost(f'{job.name} is gone')
        before, job.state = job.state, found['state'].removeprefix('JOB_STATE_')
        self.check_trials(job, found)
        if before == 'CANCELLING' and job.state not in CANCELLED:
            raise Lost(f'{job.name} is {job.state} after CANCELLING')
        if job.cancel_acknowledged and job.state not in (*ENDED, 'CANCELLING'):
            raise Lost(f'{job.name} is {job.state} though its cancellation was acknowledged')
        if job.state not in ENDED:
            return
        if job.state == 'FAILED' and not (self.may_fail and any(one in str(found) for one in FAULTS)):
            raise Lost(f'{job.name} is FAILED: {found.get("errorMessage") or found.get("error")}')
        if job.state == 'SUCCEEDED':
            self.check_success(job, found)
        self.ended[job.name] = self.unfinished.pop(job.name)

    def check_trials(self, job, found):
        """For tuning jobs: no trial that has succeeded is lost or has other values."""

    def check_success(self, job, found):
        """Checks what a job has left that has succeeded."""

    def verify(self):
        if self.creating:
            for name in self.find(self.creating):
                self.know(name)
            self.creating = None
        if self.deleting:
            if self.get(self.deleting) is None:
                self.forget_deleted()
            self.deleting = None
        for name in sorted(self.unfinished):
            self.look(self.unfinished[name])
        for name in self.chance.sample(sorted(self.ended), min(CHECKED_AGAIN, len(self.ended))):
            found = self.get(name)
            state = found and found['state'].removeprefix('JOB_STATE_')
            if state != self.ended[name].state:
                raise Lost(f'{name} is {state} instead of {self.ended[name].state}')
        for name in self.chance.sample(self.deleted, min(CHECKED_AGAIN, len(self.deleted))):
            if self.get(name) is not None:
                raise Lost(f'{name} exists though its deletion was acknowledged')

    def found(self, target):
        """The resource; None: it is missing."""
        found = self.client.json('GET', target, expect=(200, 404))
        return None if 'error' in found and 'state' not in found else found

    def drain(self):
        """Waits until all jobs have ended."""
        deadline = time.monotonic() + 120
        while self.unfinished:
            self.verify()
            if time.monotonic() > deadline:
                raise Lost(f'jobs do not end: {sorted(self.unfinished)}')
            time.sleep(0.05)

    def clear(self):
        self.drain()
        for name in sorted(self.ended):
            self.delete_one(name)
        self.deleted = []


class Jobs(JobActor):
    """Training jobs that print lines."""

    training_input = {'masterConfig': {'imageUri': IMAGE}}

    def submit(self, label):
        self.client.json('POST', JOBS, {'jobId': label, 'trainingInput': {
            'region': 'us-central1', 'scaleTier': 'CUSTOM', 'masterType': 'n1-standard-4', **self.training_input}})
        return label

    def find(self, label):
        return [label] if self.get(label) else []

    def get(self, name):
        return self.found(f'{JOBS}/{name}')

    def cancel(self, name):
        self.client.json('POST', f'{JOBS}/{name}:cancel', {})

    def delete(self, name):
        self.client.json('DELETE', f'{REMOVALS}/{name}')

    def check_success(self, job, found):
        lines = self.lines(job.name)
        missing = [i for i in range(1, LINES + 1) if f'storm line {i}' not in lines]
        if missing:
            raise Lost(f'{job.name} is SUCCEEDED without its lines {missing}')

    def lines(self, job_id):
        found, page = set(), None
        while True:
            query = {'resourceNames': [f'projects/{PROJECT}'], 'pageSize': 1000,
                     'filter': f'resource.labels.job_id="{job_id}" AND "storm line"'}
            if page:
                query['pageToken'] = page
            answer = self.client.json('POST', '/v2/entries:list', query)
            for entry in answer.get('entries', []):
                found.add(entry.get('textPayload') or entry.get('jsonPayload', {}).get('message'))
            page = answer.get('nextPageToken')
            if not page:
                return found


class TrialChecks:
    """Checks of tuning jobs. The trainer reports the value of its parameter as its metric."""

    unfinished_max = 1  # each trial is a process, or a machine

    def check_trials(self, job, found):
        now = {trial: values for trial, state, values in self.trials(found) if state == 'SUCCEEDED'}
        for trial, values in job.trials.items():
            if now.get(trial) != values:
                raise Lost(f'trial {trial} of {job.name} has {now.get(trial)} instead of {values}')
        for trial, (value, metric) in now.items():
            if value != metric:
                raise Lost(f'trial {trial} of {job.name} reported {value}, and has the metric {metric}')
        job.trials = now

    def check_success(self, job, found):
        states = [state for _, state, _ in self.trials(found)]
        wanted = ('SUCCEEDED', 'FAILED', 'INFEASIBLE') if self.may_fail else ('SUCCEEDED',)
        if len(states) != TRIALS or not set(states) <= set(wanted):
            raise Lost(f'{job.name} is SUCCEEDED with the trials {states}')


class TuningJobs(TrialChecks, Jobs):
    """Tuning jobs of ml v1."""

    training_input = {'masterConfig': {'imageUri': STUDY_IMAGE}, 'hyperparameters': {
        'goal': 'MAXIMIZE', 'hyperparameterMetricTag': 'm', 'maxTrials': TRIALS, 'maxParallelTrials': 1,
        'params': [{'parameterName': 'n', 'type': 'INTEGER', 'minValue': 1, 'maxValue': 9}]}}

    @staticmethod
    def trials(found):
        for trial in found.get('trainingOutput', {}).get('trials', []):
            yield trial['trialId'], trial.get('state'), (
                float(trial['hyperparameters']['n']), trial.get('finalMetric', {}).get('objectiveValue'))


POOLS = [{'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': 1}]


def pools(image):
    return {'workerPoolSpecs': [{**POOLS[0], 'containerSpec': {'imageUri': image}}]}


class CustomJobs(JobActor):
    """Custom jobs of Vertex AI, through v1 and v1beta1."""

    collection = 'customJobs'
    unfinished_max = 2

    def target(self, more):
        return f'/{self.chance.choice(["v1", "v1beta1"])}/{more}'

    def body(self):
        return {'jobSpec': pools(IMAGE)}

    def submit(self, label):
        made = self.client.json('POST', self.target(f'{LOCATION}/{self.collection}'),
                                {'displayName': label, **self.body()})
        return made['name']

    def find(self, label):
        found = self.client.json('GET', self.target(
            f'{LOCATION}/{self.collection}?filter=display_name%3D%22{label}%22')).get(self.collection, [])
        if len(found) > 1:
            raise Lost(f'{len(found)} jobs were made of one request: {label}')
        return [job['name'] for job in found]

    def get(self, name):
        return self.found(self.target(name))

    def cancel(self, name):
        self.client.json('POST', self.target(f'{name}:cancel'), {})

    def delete(self, name):
        self.client.json('DELETE', self.target(name))

    def verify(self):
        super().verify()
        listed = {job['name'] for job in self.listed() if not self.is_trial(job['displayName'])}
        known = set(self.unfinished) | set(self.ended)
        if listed != known:
            raise Lost(f'{self.collection}: lost {sorted(known - listed)}, unknown {sorted(listed - known)}')

    def is_trial(self, display_name):
        """Trials of tuning jobs are listed as custom jobs with longer names."""
        return not display_name.removeprefix(self.prefix + '_').isdigit()

    def listed(self):
        page = ''
        while True:
            answer = self.client.json('GET', self.target(
                f'{LOCATION}/{self.collection}?filter=display_name%3A%22{self.prefix}_*%22&pageToken={page}'))
            yield from answer.get(self.collection, [])
            page = answer.get('nextPageToken')
            if not page:
                return


class VertexTuningJobs(TrialChecks, CustomJobs):
    """Tuning jobs of Vertex AI, through v1 and v1beta1."""

    collection = 'hyperparameterTuningJobs'

    def body(self):
        return {'studySpec': {'metrics': [{'metricId': 'm', 'goal': 'MAXIMIZE'}], 'parameters': [
            {'parameterId': 'n', 'integerValueSpec': {'minValue': 1, 'maxValue': 9}}]},
                'maxTrialCount': TRIALS, 'parallelTrialCount': 1, 'trialJobSpec': pools(STUDY_IMAGE)}

    @staticmethod
    def trials(found):
        for trial in found.get('trials', []):
            metrics = trial.get('finalMeasurement', {}).get('metrics', [{}])
            yield trial['id'], trial.get('state'), (float(trial['parameters'][0]['value']), metrics[0].get('value'))
