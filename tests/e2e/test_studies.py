#!/usr/bin/env python3
"""The optimizer API under kill -9: every answered change is kept, and nothing exists twice."""

import json
import random
import sys
import threading
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

STUDIES = '/v1/projects/demo-project/locations/us-central1/studies'
TRIALS = STUDIES + '/s1/trials'
CONFIG = {'metrics': [{'goal': 'MINIMIZE', 'metric': 'loss'}],
          'parameters': [{'parameter': 'x', 'type': 'DOUBLE',
                          'doubleValueSpec': {'minValue': -1, 'maxValue': 2}},
                         {'parameter': 'n', 'type': 'INTEGER',
                          'integerValueSpec': {'minValue': '1', 'maxValue': '9'}}]}
GONE = (urllib.error.URLError, ConnectionError, TimeoutError, json.JSONDecodeError)


class Client:
    """A client that keeps working while the emulator is killed again and again."""

    def __init__(self, emulator, chance):
        self.emulator = emulator
        self.chance = chance
        self.kills = 0
        self.requests = 0

    def send(self, target, body=None):
        """The answer, or None if the emulator was killed during the request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.emulator.url + target, data,
                                         {'Content-Type': 'application/json'})
        self.requests += 1
        killer = None
        if body is not None and self.requests % 7 == 0 and self.kills < 12:
            process = self.emulator.process
            killer = threading.Timer(self.chance.random() * 0.02, process.kill)
            killer.start()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{target}: {error.code} {error.read()}') from None
        except GONE:
            return None
        finally:
            if killer is not None:
                killer.join()
                self.kills += 1
                self.emulator.restart(kill=True)

    def certainly(self, target, body=None, done=lambda: None):
        """Repeats a request until it is answered; `done` tests whether an unanswered one took effect."""
        while True:
            answer = self.send(target, body)
            if answer is not None:
                return answer
            answer = done()
            if answer is not None:
                return answer

    def get(self, target):
        return self.certainly(target)


class Killed(unittest.TestCase):
    def test_loses_no_finished_trial_and_repeats_no_measurement(self):
        with support.Emulator() as emulator:
            client = Client(emulator, random.Random(5))
            client.certainly(STUDIES + '?studyId=s1', {'studyConfig': CONFIG})
            finished = {}
            while len(finished) < 50:
                self.work(client, finished)
            self.assertGreaterEqual(client.kills, 10)
            shown = {trial['name']: trial for trial in client.get(TRIALS)['trials']}
            self.assertEqual(sorted(shown), sorted(finished))
            numbers = sorted(int(name.rsplit('/', 1)[1]) for name in shown)
            self.assertEqual(numbers, list(range(1, 51)))
            for name, trial in finished.items():
                self.assertEqual(shown[name], trial)
                steps = [measurement['stepCount'] for measurement in trial['measurements']]
                self.assertEqual(steps, ['1', '2'])
            best = client.certainly(TRIALS + ':listOptimalTrials', {})['trials']
            self.assertEqual([trial['name'] for trial in best],
                             [min(shown, key=lambda name: self.loss(shown[name]))])

    def work(self, client, finished):
        """Takes two suggestions, measures each twice and completes it."""
        operation = client.certainly(TRIALS + ':suggest',
                                     {'suggestionCount': 2, 'clientId': 'worker'})
        for trial in operation['response']['trials']:
            self.assertNotIn(trial['name'], finished, 'a finished trial was suggested again')
            name = '/v1/' + trial['name']
            values = {each['parameter']: each for each in trial['parameters']}
            loss = values['x']['floatValue'] ** 2 + int(values['n']['intValue'])
            for step in (1, 2):
                self.measure(client, name, step, loss)
            done = client.certainly(name + ':complete', {},
                                    lambda: self.state_is(client, name, 'COMPLETED'))
            self.assertEqual(done['state'], 'COMPLETED')
            finished[trial['name']] = done

    def measure(self, client, name, step, loss):
        def taken():
            trial = client.get(name)
            return trial if len(trial.get('measurements', [])) == step else None
        body = {'measurement': {'stepCount': str(step),
                                'metrics': [{'metric': 'loss', 'value': loss / step}]}}
        trial = client.certainly(name + ':addMeasurement', body, taken)
        self.assertEqual(len(trial['measurements']), step)

    @staticmethod
    def state_is(client, name, state):
        trial = client.get(name)
        return trial if trial['state'] == state else None

    @staticmethod
    def loss(trial):
        return trial['finalMeasurement']['metrics'][0]['value']


if __name__ == '__main__':
    support.main()
