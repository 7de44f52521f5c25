"""Proves that the tests of the built-in algorithms can fail: each row of the table breaks one line of the package, and
the named test must find it."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import algorithms
import support

DATA = 'tests/clients/algorithms_data.py'
ARGUMENTS = 'tests/algorithms/test_arguments.py'

# What is broken; the file, its text and the wrong text; the test that fails then.
MUTANTS = [
    ('the test part has the share of the validation part', 'splitting', 'self._shares[i]', 'self._shares[0]',
     DATA, 'Data.test_shares_of_the_split_are_arguments'),
    ('the first rows of a block are the validation part', 'splitting', 'self._random.shuffle(drawn)', 'pass',
     DATA, 'Data.test_rows_of_each_part_are_chosen_at_random'),
    ('a row with much missing is kept', 'splitting', 'parts[too_many] = DROPPED', 'pass',
     DATA, 'Data.test_missing_numbers_are_the_mean_and_rows_without_much_are_dropped'),
    ('a tenth of the columns is too much', 'splitting', '> MISSING_MAX', '>= MISSING_MAX',
     DATA, 'Data.test_bounds_belong_to_their_rules'),
    ('a row without a target is kept', 'splitting', 'parts[targetless] = DROPPED', 'pass',
     DATA, 'Data.test_missing_numbers_are_the_mean_and_rows_without_much_are_dropped'),
    ('means are those of all parts', 'columns', 'numerals.values[known & trained]', 'numerals.values[known]',
     DATA, 'Data.test_means_and_categories_are_those_of_the_training_part'),
    ('missing numbers are 0', 'encoding', 'filled = [number_text(one.mean) if', "filled = [b'0.0' if",
     DATA, 'Data.test_missing_numbers_are_the_mean_and_rows_without_much_are_dropped'),
    ('classes are in descending order', 'columns', 'return sorted(texts)', 'return sorted(texts, reverse=True)',
     DATA, 'Data.test_kinds_of_columns_are_detected'),
    ('a class has the number of its neighbour', 'encoding', 'b"%d" % i for i in', 'b"%d" % (1 - i) for i in',
     DATA, 'Data.test_processed_rows_have_the_cells_of_the_input'),
    ('a category has the column of its neighbour', 'encoding', '2 * sum(widths[:i]) + 1', '2 * sum(widths[:i]) + 3 - 4 * i',
     DATA, 'Data.test_processed_rows_have_the_cells_of_the_input'),
    ('an unknown category has a column', 'encoding', 'self.others = feature.width', 'self.others = feature.width - 1',
     DATA, 'Data.test_means_and_categories_are_those_of_the_training_part'),
    ('blank texts are unknown', 'encoding', 'if MISSING in feature.categories else', 'if False else',
     DATA, 'Data.test_blank_texts_are_a_category'),
    ('eleven integers are categories', 'columns', 'if text]) > FEW', 'if text]) > FEW + 1',
     DATA, 'Data.test_bounds_belong_to_their_rules'),
    ('ten integers are numbers', 'columns', 'if text]) > FEW', 'if text]) >= FEW',
     DATA, 'Data.test_bounds_belong_to_their_rules'),
    ('keys are features', 'columns', 'return len(np.unique(values)) == len(values)', 'return False',
     DATA, 'Data.test_kinds_of_columns_are_detected'),
    ('validation files become the test part', 'processing', 'parts[kept] = part', 'parts[kept] = TEST',
     DATA, 'Data.test_given_files_are_not_split'),
    ('fractions lose their leading zeros', 'numerals', '_POWERS[part] + right) / _POWERS[part]', '_POWERS[part] + right)',
     DATA, 'Data.test_cells_are_read_as_python_reads_them'),
    ('the accuracy has another threshold', 'xgboost_trainer', '"binary:logitraw" else 0.5', '"binary:logitraw" else 0.1',
     DATA, 'Data.test_metrics_are_reported_to_the_tuning_job'),
    ('a run continues after its first checkpoint', 'xgboost_trainer', '_checkpoints, names[-1])', '_checkpoints, names[0])',
     DATA, 'Restarts.test_a_run_continues_after_its_last_checkpoint'),
    ('a run never ends early', 'xgboost_trainer', 'self.step - self._best_step < patience', 'True',
     DATA, 'Data.test_a_run_ends_when_its_metric_does_not_become_better'),
    ('the accuracy of the model is a fraction', 'outcome', '100 * values["accuracy"]', 'values["accuracy"]',
     DATA, 'Data.test_the_model_and_its_description_are_written'),
    ('predictions swap the classes', 'predict', 'max(range(len(scores))', 'min(range(len(scores))',
     DATA, 'Predictions.test_have_classes_scores_and_keys'),
    ('batches are in the order of the file', 'tensorflow_data', 'permutation(self._count)',
     'randint(1) + np.arange(self._count)', DATA, 'Data.test_batches_and_measures_follow_their_definitions'),
    ('equal scores have no ranks of their own in the AUC', 'tensorflow_data', '(sizes + 1) / 2', 'sizes',
     DATA, 'Data.test_batches_and_measures_follow_their_definitions'),
    ('numbers are not standardized', 'encoding', 'feature.mean) / feature.deviation', 'feature.mean)',
     DATA, 'Data.test_arrays_have_standardized_numbers_and_places_of_categories'),
    ('the transformation of numbers is not the likeliest', 'tabnet', '(power - 1) * np.sum', 'np.sum',
     DATA, 'Data.test_batches_and_measures_follow_their_definitions'),
    ('the first one of a repeated argument counts', 'arguments', 'given[argument.name] = (argument, text)',
     'given.setdefault(argument.name, (argument, text))', ARGUMENTS, 'Values.test_have_both_forms_and_the_last_one_counts'),
    ('a bound that is open belongs to the range', 'arguments', '"(" not in self.open', 'True',
     ARGUMENTS, 'Faults.test_name_the_value_the_rule_and_the_remedy'),
    ('only the first fault is listed', 'arguments', 'faults.append("--%s=%s is not valid',
     'faults or faults.append("--%s=%s is not valid', ARGUMENTS, 'Faults.test_are_reported_all_at_once'),
]


class Mutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        algorithms.xgboost_python()  # or skip

    def broken_package(self, file, text, wrong):
        directory = Path(tempfile.mkdtemp(prefix='caip-mutant-'))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        package = directory / 'caip_algorithms'
        shutil.copytree(support.ROOT / 'fakes/algorithms/caip_algorithms', package,
                        ignore=shutil.ignore_patterns('__pycache__'))
        source = (package / f'{file}.py').read_text()
        self.assertEqual(source.count(text), 1, f'{file}.py has {text!r}')
        broken = source.replace(text, wrong)
        compile(broken, file, 'exec')
        (package / f'{file}.py').write_text(broken)
        return directory

    def assert_found(self, what, file, text, wrong, script, test):
        package = self.broken_package(file, text, wrong)
        done = support.run([sys.executable, '-B', support.ROOT / script, '-v', test], check=False, timeout=600,
                           env={**os.environ, 'CAIP_TEST_ALGORITHMS': str(package)})
        self.assertEqual(done.returncode, 1, f'{test} does not find that {what}.\n{done.stderr}')
        self.assertIn('FAILED (', done.stderr)


def test_of(row):
    def test(self):
        self.assert_found(*row)
    return test


for mutant in MUTANTS:
    setattr(Mutants, 'test_that_' + '_'.join(mutant[0].split()), test_of(mutant))


if __name__ == '__main__':
    support.main()
