"""An actor that changes settings: IAM policies, labels, access control lists, metadata of objects."""

import urllib.parse

from ledger import Ledger
from world import PROJECT, Refused

OBJECTS = 4
USERS = 5


class Settings:
    """Changes the settings of a bucket of its own, and of objects in it.

    The ledger has {('iam', ''): members}, {('labels', ''): labels}, {('metadata', object): metadata}
    and {('acl', object): {entity: role}}.
    """

    def __init__(self, client, chance, prefix):
        self.client, self.chance = client, chance
        self.bucket = f'storm-{prefix}'
        self.base = f'/storage/v1/b/{self.bucket}'
        self.ledger = Ledger()
        self.count, self.made = 0, False

    def act(self):
        if not self.made:
            self.make()
        else:
            self.chance.choice([self.set_policy, self.label, self.describe, self.describe, self.grant, self.grant,
                                self.revoke])()
            self.count += 1

    def make(self):
        self.client.json('POST', f'/storage/v1/b?project={PROJECT}', {'name': self.bucket}, expect=(200, 409))
        for number in range(OBJECTS):
            target = f'/upload{self.base}/o?uploadType=media&name=o{number}'
            status, _, text = self.client.send('POST', target, b'settings')
            if status != 200:
                raise Refused(f'{target}: {status} {text[:300]!r}')
        for key in [('iam', ''), ('labels', ''), *((kind, f'o{number}') for kind in ('metadata', 'acl')
                                                   for number in range(OBJECTS))]:
            self.ledger.keep({key: self.read(key)})
        self.made = True

    def some(self):
        return f'o{self.chance.randrange(OBJECTS)}'

    def user(self):
        return f'user-u{self.chance.randrange(USERS)}@example.com'

    def object(self, name):
        return f'{self.base}/o/{urllib.parse.quote(name, safe="")}'

    def set_policy(self):
        members = [f'user:u{self.count}@example.com', 'user:all@example.com']
        with self.ledger.changing({('iam', ''): members}):
            self.client.json('PUT', f'{self.base}/iam', {'bindings': [
                {'role': 'roles/storage.objectViewer', 'members': members}]})

    def label(self):
        labels = {'count': str(self.count)}
        with self.ledger.changing({('labels', ''): labels}):
            self.client.json('PATCH', self.base, {'labels': labels})

    def describe(self):
        name = self.some()
        value = {'contentType': f'text/x-{self.count}', 'metadata': {'count': str(self.count)}}
        with self.ledger.changing({('metadata', name): value}):
            self.client.json('PATCH', self.object(name), value)

    def grant(self):
        name, entity, role = self.some(), self.user(), self.chance.choice(['READER', 'OWNER'])
        with self.ledger.changing({('acl', name): {**self.ledger.kept['acl', name], entity: role}}):
            self.client.json('POST', f'{self.object(name)}/acl', {'entity': entity, 'role': role})

    def revoke(self):
        name = self.some()
        entries = dict(self.ledger.kept['acl', name])
        users = sorted(entity for entity in entries if entity.startswith('user-u'))
        if not users:
            return
        entity = self.chance.choice(users)
        del entries[entity]
        with self.ledger.changing({('acl', name): entries}):
            self.client.json('DELETE', f'{self.object(name)}/acl/{urllib.parse.quote(entity)}', expect=(200, 204))

    def read(self, key):
        kind, name = key
        if kind == 'iam':
            bindings = self.client.json('GET', f'{self.base}/iam').get('bindings', [])
            return [member for one in bindings if one['role'] == 'roles/storage.objectViewer'
                    for member in one['members']]
        if kind == 'labels':
            return self.client.json('GET', self.base).get('labels', {})
        if kind == 'metadata':
            found = self.client.json('GET', self.object(name))
            return {'contentType': found.get('contentType'), 'metadata': found.get('metadata', {})}
        entries = self.client.json('GET', f'{self.object(name)}/acl').get('items', [])
        return {entry['entity']: entry['role'] for entry in entries}

    def verify(self):
        if self.made:
            self.ledger.settle(self.read)
            for key in self.ledger.kept:
                self.ledger.compare(key, self.read(key))

    def clear(self):
        """The bucket stays: it takes no more room."""
