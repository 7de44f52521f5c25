"""google-api-python-client calls the optimizer API, which it reads from the discovery document."""

import json
import tempfile
from pathlib import Path

import support

# Runs inside the client's own environment; prints one JSON object.
PROGRAM = '''
import json, sys
from google.auth.credentials import AnonymousCredentials
from googleapiclient import discovery, errors

place = sys.argv[1] + '/discovery/v1/apis/{api}/{apiVersion}/rest'
ml = discovery.build('ml', 'v1', discoveryServiceUrl=place, credentials=AnonymousCredentials(),
                     cache_discovery=False)
location = 'projects/demo/locations/us-central1'
studies = ml.projects().locations().studies()
trials = studies.trials()
operations = ml.projects().locations().operations()
answer = {}


def operation(request):
    started = request.execute()
    done = operations.get(name=started['name']).execute()
    assert done['done'] and 'error' not in done, done
    return done['response']


def measured(step, loss):
    return {'measurement': {'stepCount': str(step),
                            'metrics': [{'metric': 'loss', 'value': loss}]}}


config = {'metrics': [{'goal': 'MINIMIZE', 'metric': 'loss'}],
          'algorithm': 'GAUSSIAN_PROCESS_BANDIT',
          'automatedStoppingConfig': {'medianAutomatedStoppingConfig': {}},
          'parameters': [
              {'parameter': 'x', 'type': 'DOUBLE', 'scaleType': 'UNIT_LINEAR_SCALE',
               'doubleValueSpec': {'minValue': -2, 'maxValue': 3}},
              {'parameter': 'kind', 'type': 'CATEGORICAL',
               'categoricalValueSpec': {'values': ['good', 'bad']},
               'childParameterSpecs': [
                   {'parameter': 'depth', 'type': 'INTEGER',
                    'parentCategoricalValues': {'values': ['good']},
                    'integerValueSpec': {'minValue': '1', 'maxValue': '5'}}]}]}
created = studies.create(parent=location, studyId='s1', body={'studyConfig': config}).execute()
name = created['name']
answer['created'] = [name, created['state']]
answer['same'] = studies.get(name=name).execute() == created
answer['listed'] = [study['name'] for study in studies.list(parent=location).execute()['studies']]

losses = []
for worker in range(12):
    body = {'suggestionCount': 2, 'clientId': 'worker-' + str(worker % 3)}
    suggested = operation(trials.suggest(parent=name, body=body))
    for trial in suggested['trials']:
        values = {each['parameter']: each for each in trial['parameters']}
        good = values['kind']['stringValue'] == 'good'
        assert good == ('depth' in values), values
        loss = (values['x'].get('floatValue', 0) - 1) ** 2 + (
            abs(int(values['depth']['intValue']) - 3) if good else 5)
        for step in (1, 2):
            trials.addMeasurement(name=trial['name'], body=measured(step, loss * 2 / step)).execute()
        done = trials.complete(name=trial['name'], body={}).execute()
        assert done['state'] == 'COMPLETED', done
        losses.append(loss)
answer['best'] = min(losses)

own = trials.create(parent=name, body={'parameters': [
    {'parameter': 'x', 'floatValue': 2.5}, {'parameter': 'kind', 'stringValue': 'bad'}]}).execute()
answer['own'] = own['state']
trials.addMeasurement(name=own['name'], body=measured(1, 1000)).execute()
answer['should_stop'] = operation(
    trials.checkEarlyStoppingState(name=own['name'], body={})).get('shouldStop', False)
answer['stopping'] = trials.stop(name=own['name'], body={}).execute()['state']
infeasible = trials.complete(name=own['name'], body={'trialInfeasible': True,
                                                     'infeasibleReason': 'too far'}).execute()
answer['infeasible'] = [infeasible['state'], infeasible['infeasibleReason']]
best = trials.listOptimalTrials(parent=name, body={}).execute()['trials']
answer['optimal'] = [trial['finalMeasurement']['metrics'][0]['value'] for trial in best]
answer['trials'] = len(trials.list(parent=name).execute()['trials'])
trials.delete(name=own['name']).execute()
answer['left'] = len(trials.list(parent=name).execute()['trials'])
studies.delete(name=name).execute()
for gone in (trials.get(name=best[0]['name']), studies.get(name=name)):
    try:
        gone.execute()
    except errors.HttpError as error:
        answer.setdefault('gone', []).append(int(error.resp.status))
print(json.dumps(answer))
'''


class Optimizer(support.EmulatorTest):
    def test_a_study_from_its_creation_to_its_end(self):
        python = support.virtualenv('current', 'google-api-python-client')
        with tempfile.TemporaryDirectory(prefix='caip-client-') as directory:
            program = Path(directory) / 'program.py'
            program.write_text(PROGRAM)
            done = support.run([python, '-W', 'ignore', program, self.emulator.url],
                               env=self.emulator.env)
        answer = json.loads(done.stdout)
        name = 'projects/demo/locations/us-central1/studies/s1'
        self.assertEqual(answer['created'], [name, 'ACTIVE'])
        self.assertTrue(answer['same'])
        self.assertEqual(answer['listed'], [name])
        self.assertLess(answer['best'], 1.0)
        self.assertEqual(answer['optimal'], [answer['best']])
        self.assertTrue(answer['should_stop'])
        self.assertEqual((answer['own'], answer['stopping']), ('REQUESTED', 'STOPPING'))
        self.assertEqual(answer['infeasible'], ['COMPLETED', 'too far'])
        self.assertEqual((answer['trials'], answer['left']), (25, 24))
        self.assertEqual(answer['gone'], [404, 404])


if __name__ == '__main__':
    support.main()
