"""The arguments of the built-in algorithms: types, ranges and defaults, and all faults at once. Needs no library."""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get('CAIP_TEST_ALGORITHMS') or str(ROOT / 'fakes/algorithms'))

from caip_algorithms import tensorflow_arguments, xgboost_arguments  # noqa: E402
from caip_algorithms.arguments import ArgumentFaults, parse  # noqa: E402

DATA = ['--training_data_path=gs://b/t.csv', '--validation_data_path=gs://b/v.csv', '--job-dir=gs://b/j']


def xgboost(*words):
    return parse([*DATA, *words], xgboost_arguments.SINGLE, xgboost_arguments.check_single)


def linear(*words):
    return parse([*DATA, *words], tensorflow_arguments.LINEAR, tensorflow_arguments.check_linear)


class Values(unittest.TestCase):
    def test_have_both_forms_and_the_last_one_counts(self):
        values = xgboost('--max_depth=3', '--eta', '0.5', '--max_depth', '7')
        self.assertEqual((values.max_depth, values.eta, values.num_boost_round), (7, 0.5, 10))

    def test_flags_have_no_value_or_a_bool(self):
        for word, expected in (('--preprocess', True), ('--preprocess=true', True), ('--preprocess=False', False)):
            with self.subTest(word):
                self.assertIs(xgboost(word).preprocess, expected)

    def test_integers_of_tuning_may_be_written_as_doubles(self):
        self.assertEqual(xgboost('--max_depth', '5.0').max_depth, 5)

    def test_layers_have_commas_or_blanks(self):
        for text in ('64,32', '64 32', '64, 32'):
            values = parse([*DATA, '--model_type=regression', '--learning_rate=1', '--dnn_learning_rate=1',
                            '--hidden_units', text], tensorflow_arguments.WIDE_DEEP, tensorflow_arguments.check_wide_deep)
            self.assertEqual(values.hidden_units, [64, 32])

    def test_short_names_of_regularizations_are_known(self):
        values = linear('--model_type=classification', '--learning_rate=0.1', '--l1_reg_strength=0.5')
        self.assertEqual(values.l1_regularization_strength, 0.5)

    def test_job_dir_has_two_spellings(self):
        words = [*DATA[:2], '--job_dir', 'gs://b/other']
        self.assertEqual(parse(words, xgboost_arguments.SINGLE).job_dir, 'gs://b/other')


class Faults(unittest.TestCase):
    def faults(self, function, *words):
        with self.assertRaises(ArgumentFaults) as raised:
            function(*words)
        return raised.exception.faults

    def test_are_reported_all_at_once(self):
        found = self.faults(xgboost, '--max_depth=deep', '--eta=2', '--colour=red', 'stray', '--objective=best')
        self.assertEqual(len(found), 5, found)

    def test_name_the_value_the_rule_and_the_remedy(self):
        for words, text in [
            (['--max_depth=deep'], "--max_depth=deep is not valid. Use an integer of 0 or more."),
            (['--max_depth=1.5'], "--max_depth=1.5 is not valid. Use an integer of 0 or more."),
            (['--subsample=0'], "--subsample=0 is not valid. Use a number above 0 and of 1 or less."),
            (['--eta=nan'], "--eta=nan is not valid. Use a number of 0 or more and of 1 or less."),
            (['--booster=tree'], "--booster=tree is not valid. Use gbtree, gblinear or dart."),
            (['--preprocess=maybe'], "--preprocess=maybe is not valid. It is a flag: give it without a value, or with true "
                                     "or false."),
            (['--max_depth'], "--max_depth has no value. Write --max_depth=VALUE."),
            (['stray'], "'stray' is not an argument. Write --name=value or --name value."),
            (['--objective=multi:softmax'], "--num_class is missing. It is required with --objective=multi:softmax."),
            (['--num_class=3'], "--num_class=3 has no use with --objective=reg:linear. Remove it, or use multi:softmax."),
            (['--rate_drop=0.1'], "--rate_drop has no use with --booster=gbtree. Remove it, or use dart."),
            (['--tree_method=gpu_exact'],
             "--tree_method=gpu_exact is not valid: today's XGBoost has no such method. Use gpu_hist."),
            (['--eval_metric=best'], None),
            (['--preprocess', '--validation_split=0.3', '--test_split=0.2'],
             "--validation_split=0.3 and --test_split=0.2 are too large. Their sum may be 0.40 at most."),
        ]:
            with self.subTest(words):
                found = self.faults(xgboost, *words)
                self.assertEqual(len(found), 1, found)
                if text:
                    self.assertEqual(found[0], text)

    def test_name_what_is_missing(self):
        with self.assertRaises(ArgumentFaults) as raised:
            parse([], tensorflow_arguments.LINEAR, tensorflow_arguments.check_linear)
        self.assertEqual(raised.exception.faults, [f'--{name} is missing. The argument is required.' for name in (
            'training_data_path', 'job_dir', 'model_type', 'learning_rate')])
        with self.assertRaises(ArgumentFaults) as raised:
            parse([DATA[0], DATA[2]], xgboost_arguments.SINGLE, xgboost_arguments.check_single)
        self.assertEqual(raised.exception.faults,
                         ['--validation_data_path is missing. It is required without --preprocess.'])

    def test_an_unknown_argument_takes_its_value_along(self):
        found = self.faults(xgboost, '--colour', 'red', '--max_depth=3')
        self.assertEqual(len(found), 1, found)
        self.assertIn('--colour is not an argument of this algorithm. Use --alpha, ', found[0])

    def test_of_an_optimizer_that_is_not_chosen(self):
        found = self.faults(linear, '--model_type=regression', '--learning_rate=1', '--optimizer_type=adam',
                            '--l1_regularization_strength=1')
        self.assertEqual(found, ['--l1_regularization_strength has no use with --optimizer_type=adam. Remove it, or use ftrl.'])

    def test_a_loss_belongs_to_its_kind_of_model(self):
        words = [*DATA, '--model_type=regression', '--learning_rate=1', '--loss_function_type=focal_loss']
        with self.assertRaises(ArgumentFaults) as raised:
            parse(words, tensorflow_arguments.TABNET, tensorflow_arguments.check_tabnet)
        self.assertEqual(raised.exception.faults,
                         ['--loss_function_type=focal_loss is not valid with --model_type=regression. Use rmse, mae or mse.'])


class Parameters(unittest.TestCase):
    def test_are_those_that_the_job_sets(self):
        self.assertEqual(xgboost_arguments.parameters(xgboost('--max_depth=3')),
                         {'objective': 'reg:squarederror', 'booster': 'gbtree', 'seed': 1, 'max_depth': 3})

    def test_have_the_names_of_today(self):
        found = xgboost_arguments.parameters(xgboost('--tree_method=gpu_hist', '--objective=binary:logistic'))
        self.assertEqual((found['tree_method'], found['device']), ('hist', 'cuda'))

    def test_of_trees_are_not_given_to_a_linear_booster(self):
        found = xgboost_arguments.parameters(xgboost('--booster=gblinear', '--max_depth=3', '--alpha=1'))
        self.assertEqual(found, {'objective': 'reg:squarederror', 'booster': 'gblinear', 'seed': 1, 'alpha': 1.0})


if __name__ == '__main__':
    unittest.main()
