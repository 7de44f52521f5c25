"""Actors that use the other APIs: log entries, studies."""

from world import Lost, PROJECT

STUDIES = f'/v1/projects/{PROJECT}/locations/us-central1/studies'


class Logs:
    """Writes log entries with ids of its own."""

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.count, self.written, self.open = 0, set(), set()

    def act(self):
        ids = {f'{self.prefix}-{self.count + i}' for i in range(self.chance.randrange(1, 20))}
        self.count += len(ids)
        self.open |= ids
        self.client.json('POST', '/v2/entries:write', {
            'logName': f'projects/{PROJECT}/logs/{self.prefix}', 'resource': {'type': 'global'},
            'entries': [{'insertId': one, 'textPayload': one} for one in sorted(ids)]})
        self.written |= ids
        self.open -= ids

    def verify(self):
        seen, page = [], None
        while True:
            query = {'resourceNames': [f'projects/{PROJECT}'], 'pageSize': 1000,
                     'filter': f'logName="projects/{PROJECT}/logs/{self.prefix}"'}
            if page:
                query['pageToken'] = page
            answer = self.client.json('POST', '/v2/entries:list', query)
            seen += [entry['insertId'] for entry in answer.get('entries', [])]
            page = answer.get('nextPageToken')
            if not page:
                break
        if len(seen) != len(set(seen)):
            raise Lost(f'log entries of {self.prefix} are there twice')
        lost, unknown = self.written - set(seen), set(seen) - self.written - self.open
        if lost or unknown:
            raise Lost(f'log entries: lost {sorted(lost)[:5]}, unknown {sorted(unknown)[:5]}')
        self.written |= set(seen)
        self.open -= set(seen)  # a refused entry may come later

    def clear(self):
        self.client.json('DELETE', f'/v2/projects/{PROJECT}/logs/{self.prefix}')
        self.written = set()


class Studies:
    """Creates studies, adds trials, completes them, deletes some."""

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.count, self.studies, self.open = 0, {}, {}
        self.may_fail = False  # if the host had no room for a trial
        self.refused = {}  # counts with a trial that was refused: a kill may bring it back

    def act(self):
        kind = self.chance.random()
        if not self.studies or kind < 0.2:
            self.create()
        elif kind < 0.3:
            self.delete()
        else:
            self.add_trial()

    def create(self):
        self.count += 1
        name = f'{self.prefix}_{self.count}'
        self.open = {name: (None, 0)}
        self.client.json('POST', f'{STUDIES}?studyId={name}', {'studyConfig': {
            'algorithm': 'RANDOM_SEARCH', 'metrics': [{'goal': 'MAXIMIZE', 'metric': 'm'}],
            'parameters': [{'parameter': 'x', 'type': 'DOUBLE',
                            'doubleValueSpec': {'minValue': 0, 'maxValue': 1}}]}})
        self.studies[name] = 0
        self.open = {}

    def delete(self):
        name = self.chance.choice(sorted(self.studies))
        self.open = {name: (self.studies[name], None)}
        self.client.json('DELETE', f'{STUDIES}/{name}')
        del self.studies[name]
        self.open = {}

    def add_trial(self):
        name = self.chance.choice(sorted(self.studies))
        before = self.studies[name]
        self.open = {name: (before, before + 1)}
        self.client.json('POST', f'{STUDIES}/{name}/trials', {
            'parameters': [{'parameter': 'x', 'floatValue': 0.5}]})
        self.studies[name] = before + 1
        self.refused.pop(name, None)
        self.open = {}

    def trials(self, name):
        """The number of trials; None: there is no such study."""
        status, _, _ = self.client.send('GET', f'{STUDIES}/{name}')
        if status == 404:
            return None
        return len(self.client.json('GET', f'{STUDIES}/{name}/trials').get('trials', []))

    def verify(self):
        for name, states in self.open.items():
            seen = self.trials(name)
            if seen not in states:
                raise Lost(f'study {name} has {seen} trials, not one of {states}')
            self.studies.pop(name, None)
            if seen is not None:
                self.studies[name] = seen
            if self.may_fail and None not in (seen, states[1]) and seen < states[1]:
                self.refused[name] = states[1]
        self.open = {}
        listed = {study['name'].rsplit('/', 1)[1]
                  for study in self.client.json('GET', STUDIES).get('studies', [])}
        mine = {name for name in listed if name.startswith(self.prefix + '_')}
        if mine != set(self.studies):
            raise Lost(f'studies: {sorted(mine)} instead of {sorted(self.studies)}')
        for name, count in self.studies.items():
            seen = self.trials(name)
            if seen != count and seen == self.refused.get(name):
                self.studies[name] = seen
            elif seen != count:
                raise Lost(f'study {name} has {seen} trials instead of {count}')

    def clear(self):
        for name in sorted(self.studies):
            self.client.json('DELETE', f'{STUDIES}/{name}')
        self.studies = {}
