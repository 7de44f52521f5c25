"""Preprocessing of the built-in algorithms: kinds of columns, splits, filled cells and artifacts. XGBoost trains one round,
which needs NumPy and XGBoost. Bad data: algorithms_bad_data.py."""

import json
import shutil

import algorithms
import support

NUMBERS = '''
import random, sys
import numpy as np
from caip_algorithms.categories import Categories, keys_of
from caip_algorithms.cells import read_cells
from caip_algorithms.numerals import Numerals

chance = random.Random(7)
texts = []
for _ in range(20000):
    kind = chance.randrange(6)
    if kind == 0: texts.append(str(chance.randrange(-10**chance.randrange(1, 20), 10**chance.randrange(1, 20))))
    elif kind == 1: texts.append(repr(chance.uniform(-1e6, 1e6)))
    elif kind == 2: texts.append('%.*f' % (chance.randrange(8), chance.uniform(-1e5, 1e5)))
    elif kind == 3: texts.append(chance.choice(['.5', '5.', '-.25', '+7', '0', '-0', '1e5', '2E-3', '00012', '']))
    elif kind == 4: texts.append(chance.choice(['abc', '1_000', 'nan', 'inf', '-', '.', '1.2.3', '--5', '12a45678', 'x' * 30]))
    else: texts.append(chance.choice('abc') * chance.randrange(1, 40))
open('cells.csv', 'w').write(''.join('t,%s\\n' % text for text in texts))
found = list(read_cells('cells.csv', 'cells.csv'))
numerals = [Numerals(cells, 1) for cells in found]
values = np.concatenate([one.values for one in numerals])
wrong = np.concatenate([one.wrong for one in numerals])
def expected(text):
    try:
        return None if text.strip('0123456789+-.eE') else float(text)
    except ValueError:
        return None
for text, value, is_wrong in zip(texts, values, wrong):
    right = expected(text)
    assert is_wrong == (text != '' and right is None), text
    assert (right is None and np.isnan(value)) or (value == right), (text, value, right)
categories = Categories(10**6)
codes = np.concatenate([categories.codes(cells, 1) for cells in found])
assert [categories.texts[code] for code in codes] == texts
assert len(categories.texts) == len(set(texts))
some = sorted(set(texts))[::2]
known = Categories.of(some)
places = {text: i for i, text in enumerate(some)}
codes = np.concatenate([known.codes(cells, 1) for cells in found])
assert codes.tolist() == [places.get(text, -1) for text in texts]
print('compared', len(texts))
'''


BATCHES = '''
import itertools
import numpy as np
from caip_algorithms.tabnet import POWERS, _likelihood
from caip_algorithms.tensorflow_data import Batches, auc

batches = Batches(103, 10)
first = [batches.at(step).tolist() for step in range(10)]
rows = list(itertools.chain(*first))
assert len(set(rows)) == 100 and rows != sorted(rows), rows
assert batches.at(10).tolist() != first[0]  # another order in the next round through the rows
assert Batches(103, 10).at(7).tolist() == first[7]  # whatever was asked before
random = np.random.RandomState(1)
for _ in range(20):
    scores, positive = random.randint(0, 20, 60) / 7, random.rand(60) < 0.3
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive] for b in scores[~positive]]
    assert abs(auc(scores, positive) - np.mean(pairs)) < 1e-12
assert np.isnan(auc(scores, np.zeros(60, bool)))
for values, power in ((random.normal(size=4000), 1.0), (np.exp(random.normal(size=4000)) - 1, 0.0)):
    assert abs(max(POWERS, key=lambda one: _likelihood(values, one)) - power) < 0.25, power
'''
ARRAYS = '''
import sys
import numpy as np
from caip_algorithms.cells import read_cells
from caip_algorithms.encoding import Arrays
from caip_algorithms.metadata import Metadata

metadata = Metadata.from_json(open(sys.argv[1] + "/artifacts/metadata.json").read())
cells = next(read_cells(sys.argv[2], "x"))
numbers, codes = Arrays(metadata).features(cells, "x")
number, score = (np.array([float(line.split(",")[i]) for line in open(sys.argv[2])]) for i in (2, 5))
for column, values, feature in zip(numbers.T, (number, score), metadata.numeric):
    assert np.allclose(column, (values - feature.mean) / feature.deviation, atol=1e-5)
    assert 0.8 < column.std() < 1.2
texts = [line.split(",")[4] for line in open(sys.argv[2])]
known = metadata.categorical[1].categories
assert [known[code] for code in codes[:, 1]] == texts
assert Arrays(metadata).targets(cells, "x").tolist() == [int(line.startswith("yes")) for line in open(sys.argv[2])]
'''


class TrainTest(algorithms.ProgramTest):
    """Trains one round on a file."""

    @classmethod
    def setUpClass(cls):
        cls.python = algorithms.xgboost_python()

    def train(self, data, *words, name='data.csv'):
        path = self.write(name, data)
        return self.run_program(self.python, 'boosted_trees', '--preprocess', f'--training_data_path={path}',
                                '--num_boost_round=1', *words)

    def classify(self, data, *words):
        return self.train(data, '--objective=binary:logistic', *words)


class Data(TrainTest):
    def test_cells_are_read_as_python_reads_them(self):
        done = support.run([self.python, '-B', '-c', NUMBERS], cwd=self.directory,
                           env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)})
        self.assertEqual(done.stdout, 'compared 20000\n')

    def run_script(self, script, *words):
        return support.run([self.python, '-B', '-c', script, *words], cwd=self.directory,
                           env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)})

    def test_batches_and_measures_follow_their_definitions(self):
        self.run_script(BATCHES)

    def test_arrays_have_standardized_numbers_and_places_of_categories(self):
        outcome = self.classify(algorithms.table())
        self.run_script(ARRAYS, outcome.job_dir, self.directory / 'data.csv')

    def test_processed_rows_have_the_cells_of_the_input(self):
        expected = []
        for line in algorithms.table().splitlines():
            target, _, number, few, colour, last = line.split(',')
            expected.append([str(int(target == 'yes')), number, last, *(str(int(int(few) == i)) for i in range(4)),
                             *(str(int(colour == one)) for one in ('blue', 'green', 'red'))])
        outcome = self.classify(algorithms.table())
        rows = [row for part in ('training', 'validation', 'test') for row in outcome.rows(part)]
        self.assertEqual(len(rows), len(expected))
        for row, right in zip(sorted(rows), sorted(expected)):
            self.assertEqual(row, right)

    def test_rows_of_each_part_are_chosen_at_random(self):
        outcome = self.classify(algorithms.table())
        places = {line.split(',')[2]: i for i, line in enumerate(algorithms.table().splitlines())}
        for part in ('training', 'validation', 'test'):
            chosen = [places[row[1]] for row in outcome.rows(part)]
            self.assertTrue(200 < sum(chosen) / len(chosen) < 400, part)

    def test_means_and_categories_are_those_of_the_training_part(self):
        lines = [f'{i % 2},{i % 7}.5,{"ab"[i % 2]}' for i in range(400)]
        outcome = self.classify('\n'.join(lines))
        values = [float(row[1]) for row in outcome.rows('training')]
        self.assertAlmostEqual(outcome.metadata()['features'][0]['mean'], sum(values) / len(values), places=9)
        other = self.write('other.csv', '0,1.5,unseen\n1,,a\n')
        outcome = self.classify('\n'.join(lines), f'--validation_data_path={other}')
        mean = outcome.metadata()['features'][0]['mean']
        self.assertEqual(outcome.rows('validation'), [['0', '1.5', '0', '0']])  # one cell of three is too many
        self.assertAlmostEqual(mean, sum(float(line.split(',')[1]) for line in lines) / 400, places=9)

    def test_bounds_belong_to_their_rules(self):
        """A tenth of the columns may be missing; ten integers are categories, eleven are numbers."""
        lines = [','.join([str(i % 2), str(i % 10), str(i % 11), *(f'{(i + j) % 9}.5' for j in range(7))])
                 for i in range(220)]
        lines[0] = lines[0][:lines[0].rindex(',') + 1]
        outcome = self.classify('\n'.join(lines) + '\n')
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([one['kind'] for one in outcome.metadata()['features'][:2]], ['categorical', 'numeric'])
        self.assertIn('dropped 0 rows', outcome.out)

    def test_metrics_are_reported_to_the_tuning_job(self):
        file = self.directory / 'metrics'
        path = self.write('data.csv', algorithms.table())
        self.run_program(self.python, 'boosted_trees', '--preprocess', f'--training_data_path={path}', '--num_boost_round=20',
                         '--objective=binary:logistic', env={'CLOUD_ML_HP_METRIC_FILE': str(file), 'CLOUD_ML_TRIAL_ID': '3'})
        reports = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual({one['global_step'] for one in reports}, {str(step) for step in range(2, 21, 2)})
        self.assertEqual({one['trial'] for one in reports}, {'3'})
        last = {tag: float(one[tag]) for one in reports if one['global_step'] == '20' for tag in one}
        self.assertEqual(set(last), {'logloss', 'error', 'auc', 'loss', 'accuracy', 'global_step', 'timestamp', 'trial'})
        self.assertEqual(last['loss'], last['logloss'])
        self.assertAlmostEqual(last['accuracy'], 1 - last['error'], places=5)

    def test_a_run_ends_when_its_metric_does_not_become_better(self):
        outcome = self.classify(algorithms.table(), '--num_boost_round=400', '--early_stopping_rounds=3',
                                '--eval_metric=logloss')
        losses = [float(line.split('logloss ')[1].split(',')[0]) for line in outcome.out.splitlines() if line.startswith('Step')]
        best = losses.index(min(losses)) + 1
        self.assertEqual(len(losses), best + 3)
        self.assertIn(f'Stopped after round {best + 3}: logloss has not become better since round {best}.', outcome.out)

    def test_kinds_of_columns_are_detected(self):
        outcome = self.classify(algorithms.table())
        self.assertEqual(outcome.code, 0, outcome.err)
        kinds = {one['column']: one['kind'] for one in outcome.metadata()['features']}
        self.assertEqual(kinds, {3: 'numeric', 4: 'categorical', 5: 'categorical', 6: 'numeric'})
        self.assertEqual(outcome.metadata()['classes'], ['no', 'yes'])
        self.assertIn('Columns 2 hold keys', outcome.out)

    def test_the_split_is_exact_and_repeatable(self):
        first = self.classify(algorithms.table())
        counts = [len(first.rows(part)) for part in ('training', 'validation', 'test')]
        self.assertEqual(counts, [360, 120, 120])
        parts = [first.text(f'processed_data/{part}.csv') for part in ('training', 'validation', 'test')]
        again = self.classify(algorithms.table())
        self.assertEqual(parts, [again.text(f'processed_data/{part}.csv') for part in ('training', 'validation', 'test')])
        numbers = {row[1] for part in ('training', 'validation', 'test') for row in first.rows(part)}
        self.assertEqual(len(numbers), len({line.split(',')[2] for line in algorithms.table().splitlines()}))

    def test_shares_of_the_split_are_arguments(self):
        outcome = self.classify(algorithms.table(), '--validation_split=0.1', '--test_split=0')
        self.assertEqual([len(outcome.rows(part)) for part in ('training', 'validation', 'test')], [540, 60, 0])

    def test_given_files_are_not_split(self):
        other = self.write('other.csv', algorithms.table(50, seed=2))
        outcome = self.classify(algorithms.table(), f'--validation_data_path={other}', f'--test_data_path={other}')
        self.assertEqual([len(outcome.rows(part)) for part in ('training', 'validation', 'test')], [600, 50, 50])
        self.assertEqual(outcome.rows('validation'), outcome.rows('test'))

    def test_texts_become_columns_of_0_and_1(self):
        outcome = self.classify(algorithms.table())
        row = outcome.rows('training')[0]
        self.assertEqual(len(row), 1 + 2 + 4 + 3)
        self.assertIn(row[0], ('0', '1'))
        self.assertEqual([sum(map(int, row[3:7])), sum(map(int, row[7:]))], [1, 1])

    def test_many_categories_are_hashed(self):
        lines = ''.join(f'{i % 2},{i % 7}.5,word{i % 301}\n' for i in range(2000))
        outcome = self.classify(lines)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual({len(row) for row in outcome.rows('training')}, {1 + 1 + 100})
        self.assertTrue(outcome.metadata()['features'][1]['hashed'])

    def test_missing_numbers_are_the_mean_and_rows_without_much_are_dropped(self):
        columns = 11  # one missing cell of twelve is below a tenth, two are above
        lines = []
        for i in range(300):
            cells = [str(i % 2)] + [f'{(i + j) % 50}.25' for j in range(columns)]
            if i % 10 == 0:
                cells[3] = ''
            if i % 30 == 0:
                cells[4] = ' '
            lines.append(','.join(cells))
        lines.append(',' + ','.join(['1.25'] * columns))
        outcome = self.classify('\n'.join(lines) + '\n', '--validation_split=0', '--test_split=0')
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn('dropped 11 rows (10 with more than 10 % of their columns missing, 1 without a target)', outcome.out)
        values = [float(row[3]) for row in outcome.rows('training')]
        self.assertEqual(len(values), 290)
        mean = outcome.metadata()['features'][2]['mean']
        self.assertEqual(sum(value == mean for value in values), 20)
        present = [value for value in values if value != mean]
        self.assertAlmostEqual(mean, sum(present) / len(present))

    def test_blank_texts_are_a_category(self):
        colours = ['red', 'blue']
        lines = ''.join(f'{i % 2},' + ','.join(f'{(i + j) % 9}.5' for j in range(10)) + f',{colours[i % 2] * (i % 5 > 0)}\n'
                        for i in range(200))
        outcome = self.classify(lines)
        self.assertEqual(outcome.metadata()['features'][-1]['categories'], ['blue', 'missing', 'red'])
        rows = [row for part in ('training', 'validation', 'test') for row in outcome.rows(part)]
        self.assertEqual([sum(row[place] == '1' for row in rows) for place in (-3, -2, -1)], [80, 40, 80])

    def test_files_of_every_kind_are_read_alike(self):
        plain = algorithms.table(200)
        expected = self.classify(plain).rows('training')
        for name, text in [
            ('line ends of Windows', plain.replace('\n', '\r\n')), ('a mark of UTF-8', '\ufeff' + plain),
            ('no last line end', plain[:-1]), ('blanks around cells', plain.replace(',', ' , ')),
            ('blank lines', plain.replace('\n', '\n\n')),
            ('quotation marks', ''.join('"' + line.replace(',', '","') + '"\n' for line in plain.splitlines())),
        ]:
            with self.subTest(name):
                outcome = self.classify(text)
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertEqual(outcome.rows('training'), expected)

    def test_cells_with_commas_and_line_ends_stay_whole(self):
        lines = ''.join(f'{i % 2},{i % 13}.5,"a,{i % 3}"\n' for i in range(150)) + '0,1.5,"two\nlines"\n' * 20
        outcome = self.classify(lines)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.metadata()['features'][1]['categories'], ['a,0', 'a,1', 'a,2', 'two\nlines'])

    def test_a_column_that_becomes_text_late_is_read_again(self):
        lines = ''.join(f'{i % 2},{i % 10}.5,{i % 100}\n' for i in range(900000)) + '1,2.5,late\n' * 50
        outcome = self.classify(lines)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.metadata()['features'][1]['kind'], 'categorical')

    def test_a_glob_names_several_files(self):
        self.write('part-1.csv', algorithms.table(100))
        self.write('part-2.csv', algorithms.table(100, seed=3))
        outcome = self.run_program(self.python, 'boosted_trees', '--preprocess', '--objective=binary:logistic',
                                   f'--training_data_path={self.directory}/part-*.csv', '--num_boost_round=1')
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(sum(len(outcome.rows(part)) for part in ('training', 'validation', 'test')), 200)

    def test_the_model_and_its_description_are_written(self):
        outcome = self.classify(algorithms.table(), '--num_boost_round=20')
        self.assertTrue((outcome.job_dir / 'model/model.bst').stat().st_size > 1000)
        text = outcome.text('model/deployment_config.yaml')
        self.assertRegex(text, r"framework: XGBOOST\nlabels:\n  accuracy: '9\d\.\d+'\n  global_step: '20'\n  job_id: 'local'\n")
        self.assertFalse((outcome.job_dir / 'checkpoints/local').exists() and
                         any((outcome.job_dir / 'checkpoints/local').iterdir()))


STOPPED = '''
import sys
import caip_algorithms.xgboost_trainer as trainer
from caip_algorithms.__main__ import run
keep = trainer.Training._keep
def keep_and_stop(self, rounds):
    keep(self, rounds)
    if self.step == 10:
        sys.exit(9)
trainer.Training._keep = keep_and_stop
sys.exit(run('boosted_trees', sys.argv[1:]))
'''


STREAMED = '''
import sys
import caip_algorithms.cells as cells
import caip_algorithms.xgboost_trainer as trainer
from caip_algorithms.__main__ import run
prepare = trainer.prepare
def prepare_and_read_small_blocks(*words):
    data = prepare(*words)
    cells.BLOCK = 1 << 12  # afterwards, because the split depends on blocks
    return data
trainer.prepare = prepare_and_read_small_blocks
trainer.WHOLE_MAX = 1
sys.exit(run('boosted_trees', sys.argv[1:]))
'''


class LargeTables(TrainTest):
    def test_are_read_block_by_block_and_train_the_same_model(self):
        words = ['--preprocess', f'--training_data_path={self.write("data.csv", algorithms.table(4000))}',
                 '--objective=binary:logistic', '--num_boost_round=20']
        whole = self.run_program(self.python, 'boosted_trees', *words)
        done = support.run([self.python, '-B', '-c', STREAMED, *words, f'--job-dir={whole.job_dir}'],
                           env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)})
        self.assertEqual(done.stdout.count('The table is large: XGBoost reads it block by block.'), 3)
        for name, value in algorithms.test_part(done.stdout).items():
            self.assertAlmostEqual(value, algorithms.test_part(whole.out)[name], delta=0.01)


class Restarts(TrainTest):
    def test_a_run_continues_after_its_last_checkpoint(self):
        words = ['--preprocess', f'--training_data_path={self.write("data.csv", algorithms.table())}',
                 '--objective=binary:logistic', '--num_boost_round=20']
        whole = self.run_program(self.python, 'boosted_trees', *words)
        shutil.rmtree(whole.job_dir)
        stopped = support.run([self.python, '-B', '-c', STOPPED, *words, f'--job-dir={whole.job_dir}'], check=False,
                              env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)})
        self.assertEqual(stopped.returncode, 9, stopped.stderr)
        self.assertFalse((whole.job_dir / 'model').exists())
        rest = self.run_program(self.python, 'boosted_trees', *words)
        self.assertIn('Continues after round 10', rest.out)
        steps = [line for line in whole.out.splitlines() if line.startswith(('Step', 'Test'))]
        self.assertEqual([line for line in rest.out.splitlines() if line.startswith(('Step', 'Test'))], steps[5:])


class Predictions(TrainTest):
    def test_have_classes_scores_and_keys(self):
        outcome = self.classify(algorithms.table(), '--num_boost_round=30')
        found = self.predict(self.python, outcome.job_dir, {'csv_row': '1,2.5,3,red,1.5', 'key': 'first'},
                             '1,-2.5,0,blue,1.5', {'csv_row': '1,,,unseen,', 'key': 'blanks'})
        self.assertEqual([one['classes'] for one in found[:2]], ['yes', 'no'])
        self.assertEqual([one.get('key') for one in found], ['first', None, 'blanks'])
        self.assertAlmostEqual(sum(found[0]['scores']), 1, places=5)

    def test_equal_those_of_the_processed_rows(self):
        outcome = self.classify(algorithms.table(), '--num_boost_round=30')
        script = ('import sys, xgboost, numpy as np\n'
                  'rows = np.loadtxt(sys.argv[1] + "/processed_data/test.csv", delimiter=",")\n'
                  'booster = xgboost.Booster(); booster.load_model(bytearray(open(sys.argv[1] + "/model/model.bst", "rb").read()))\n'
                  'found = booster.predict(xgboost.DMatrix(rows[:, 1:])) > 0.5\n'
                  'print((found == rows[:, 0]).mean())')
        done = support.run([self.python, '-c', script, outcome.job_dir], env=support.clean_environment())
        logged = [line for line in outcome.out.splitlines() if line.startswith('Test part')][0]
        self.assertAlmostEqual(float(done.stdout), float(logged.split('accuracy ')[1].rstrip('.')), places=5)

    def refusal(self, model_dir, text, *flags):
        """The sentence with which a prediction for a file of this text fails. `flags` stand before the file."""
        *others, last = flags or ['--json-instances']
        done = support.run([self.python, '-B', '-m', 'caip_algorithms', 'predict', f'--model-dir={model_dir}', *others,
                            f'{last}={self.write("instances", text)}'], check=False,
                           env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)})
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        return done.stderr.strip()

    def test_of_wrong_instances_fail_with_a_sentence(self):
        model = self.classify(algorithms.table()).job_dir / 'model'
        for text, flags, expected in [
            ('{"row": "1"}\n', (), 'Instance 1 is not a row. An instance is'),
            ('"1,2.5,3,red,1.5"\n"1,2.5"\n', (), 'Instance 2 has 2 features, but the model takes 5 features'),
            (r'"1,2.5,3,red,1.5\n1,2.5,3,red,1.5"' '\n', (), 'Instance 1 has a line break'),
            ('"1,high,3,red,1.5"\n', (), "line 1, column 3: 'high' is not a number"),
            ('not JSON\n', (), 'Input instances are not in JSON format.'),
            ('1,2.5,3,red,1.5\n\n', ('--text-instances',), 'Empty line is not allowed in the instances file.'),
            ('', (), 'No valid instance was found in input file.'),
            ('[]', ('--json-request',), 'Invalid JSON request: missing "instances" attribute'),
            ('{"instances": 1}', ('--json-request',), 'Invalid JSON request: "instances" must be a list'),
            ('"1,2.5,3,red,1.5"\n', ('--framework=tensorflow', '--json-instances'), '--framework=tensorflow does not fit'),
            ('"1,2.5,3,red,1.5"\n', ('--signature-name=x', '--json-instances'), '--signature-name=x has no use'),
        ]:
            with self.subTest(text=text, flags=flags):
                self.assertIn(f'ERROR: (caip.local.predict) {expected}'
                              if not expected.startswith('line') else expected, self.refusal(model, text, *flags))
        self.assertIn('job/processed_data has no model', self.refusal(model.parent / 'processed_data', '"1"\n'))
        (model.parent / 'artifacts/metadata.json').unlink()
        self.assertIn('job/artifacts/metadata.json does not exist.', self.refusal(model, '"1,2.5,3,red,1.5"\n'))

    def test_of_a_request_equal_those_of_its_instances(self):
        outcome = self.classify(algorithms.table(), '--num_boost_round=30')
        rows = ['1,2.5,3,red,1.5', '1,-2.5,0,blue,1.5']
        expected = self.predict(self.python, outcome.job_dir, *rows)
        for flag, text in (('--json-request', json.dumps({'instances': rows})), ('--text-instances', '\r\n'.join(rows))):
            done = support.run([self.python, '-B', '-m', 'caip_algorithms', 'predict', f'--model-dir={outcome.job_dir}/model',
                                f'{flag}=-'], env={**support.clean_environment(), 'PYTHONPATH': str(algorithms.PACKAGE)},
                               stdin=text)
            self.assertEqual(json.loads(done.stdout)['predictions'], expected)


DIRECT = '''
import sys, numpy as np, xgboost
parts = [np.loadtxt(f"{sys.argv[1]}/processed_data/{part}.csv", delimiter=",") for part in ("training", "test")]
training, test = (xgboost.DMatrix(rows[:, 1:], rows[:, 0]) for rows in parts)
found = xgboost.train({"objective": "binary:logistic", "seed": 1}, training, 10).predict(test) > 0.5
print((found == test.get_label()).mean())
'''


class Census(algorithms.CensusTest):
    def test_10_rounds_are_those_of_the_library(self):
        outcome = self.assert_reaches(algorithms.xgboost_python(), 'boosted_trees', 0.86, 0.913, '--objective=binary:logistic')
        done = support.run([algorithms.xgboost_python(), '-c', DIRECT, outcome.job_dir], env=support.clean_environment())
        self.assertAlmostEqual(float(done.stdout), algorithms.test_part(outcome.out)['accuracy'], delta=0.003)

    def test_50_rounds(self):
        self.assert_reaches(algorithms.xgboost_python(), 'boosted_trees', 0.866, 0.922, '--objective=binary:logistic',
                            '--num_boost_round=50')


if __name__ == '__main__':
    support.main()
