"""Bad data and arguments of the built-in algorithms: each ends the job with a sentence. This needs NumPy and XGBoost."""

import algorithms
import algorithms_data
import support


class BadData(algorithms_data.TrainTest):
    """Each wrong file ends the job with one sentence that names the place."""

    def assert_refused(self, data, *texts, words=('--objective=binary:logistic',)):
        outcome = self.train(data, *words)
        self.assertEqual(outcome.code, 1, outcome.out)
        self.assertEqual(len(outcome.err.splitlines()), 1, outcome.err)
        for text in texts:
            self.assertIn(text, outcome.err)
        self.assertFalse((outcome.job_dir / 'model').exists())

    def test_places_are_named(self):
        good = algorithms.table(100)
        lines = good.splitlines()
        for name, data, texts in [
            ('empty', '', ['data.csv, line 1: the file is empty', 'the target in column 1']),
            ('header', 'target,key,a,b,c,d\n' + good, ['data.csv, line 1, column 2: the line is a header', "'key'"]),
            ('ragged', '\n'.join([*lines[:40], lines[40] + ',9', *lines[41:]]) + '\n',
             ['data.csv, line 41, column 7: the row has 7 columns, but the first row has 6']),
            ('ragged after blank lines', '\n\n\n' + '\n'.join([*lines[:40], 'yes,1', *lines[41:]]) + '\n',
             ['data.csv, line 44, column 3: the row has 2 columns']),
            ('one column', 'a\nb\n', ['data.csv, line 1, column 2: the row has one column']),
            ('one class', good.replace('no,', 'yes,'), ["data.csv, line 1, column 1: the target is 'yes' in all rows"]),
            ('all missing', ''.join(line.split(',')[0] + ',,,,,\n' for line in lines),
             ['data.csv, line 1, column 2: the cell is blank, and no row of the file can be used', '100 rows have more']),
            ('no targets', ''.join(line[line.index(','):] + '\n' for line in lines),
             ['data.csv, line 1, column 1: the cell is blank', '100 rows have more than 10 %']),
            ('not UTF-8', good.encode() + b'yes,1,2.5,1,r\xe9d,3.5\n', ['data.csv, line 101, column 5: the byte 0xe9']),
            ('open quotation mark', good + '"yes,1,2,3,4,5\n', ['data.csv, line 101, column 2: the row has 1 columns']),
            ('keys alone', ''.join(f'{i % 2},{i}\n' for i in range(50)), ['no column to learn from']),
            ('three classes', good + 'maybe,1,2.5,1,red,3.5\n' * 30, ['column 1: the target has 3 classes (maybe, no, yes)']),
        ]:
            with self.subTest(name):
                self.assert_refused(data, *texts)

    def test_a_target_that_is_no_number_is_named(self):
        lines = ''.join(f'{i}.5,{i % 7}.5\n' for i in range(80)) + 'high,1.5\n'
        self.assert_refused(lines, "data.csv, line 81, column 1: 'high' is not a number", words=('--objective=reg:linear',))

    def test_a_quotation_mark_that_is_never_closed_is_named(self):
        lines = algorithms.table(100).splitlines(keepends=True)
        text = ''.join(lines[:40]) + 'yes,1,2.5,1,"red,3.5\n' + ''.join(lines[41:]) * 17000  # more than a row may have
        self.assert_refused(text, 'data.csv, line 41, column 5: the row has a quotation mark that is never closed')

    def test_targets_of_a_wrong_kind_are_named(self):
        good = ''.join(f'{i % 3},{i % 7}.5\n' for i in range(60))
        path = self.write('numbers.csv', good + '3,1.5\n')
        for words, text in [
            (('--objective=binary:logistic',), "line 3, column 1: the target '2' is not an integer between 0 and 1"),
            (('--objective=multi:softmax', '--num_class=3'),
             "line 61, column 1: the target '3' is not an integer between 0 and 2"),
            (('--objective=reg:logistic',), "line 3, column 1: the target '2' is not between 0 and 1"),
            (('--objective=reg:gamma',), "line 1, column 1: the target '0' is not above 0"),
        ]:
            with self.subTest(words):
                outcome = self.run_program(self.python, 'boosted_trees', f'--training_data_path={path}',
                                           f'--validation_data_path={path}', *words)
                self.assertEqual((outcome.code, len(outcome.err.splitlines())), (1, 1), outcome.err)
                self.assertIn(f'numbers.csv, {text}', outcome.err)

    def test_a_missing_file_is_named(self):
        outcome = self.run_program(self.python, 'boosted_trees', '--preprocess', '--training_data_path=/nowhere/x.csv')
        self.assertEqual((outcome.code, outcome.err), (1, (
            '/nowhere/x.csv does not exist. Set --training_data_path to a CSV file in Cloud Storage (gs://BUCKET/FILE) that '
            'exists.\n')))

    def test_a_column_without_values_is_named(self):
        lines = ''.join(f'{i % 2},' + ','.join(f'{(i + j) % 9}.5' for j in range(10)) + ',\n' for i in range(100))
        self.assert_refused(lines, 'data.csv, line 1, column 12: the column is blank in all rows')

    def test_without_preprocessing_every_cell_is_a_number(self):
        path = self.write('numbers.csv', '1,2.5,3\n0,1.5,x\n')
        outcome = self.run_program(self.python, 'boosted_trees', f'--training_data_path={path}', '--objective=binary:logistic',
                                   f'--validation_data_path={path}')
        self.assertEqual(outcome.code, 1)
        self.assertIn("numbers.csv, line 2, column 3: 'x' is not a number", outcome.err)

    def test_all_wrong_arguments_are_listed(self):
        outcome = self.run_program(self.python, 'boosted_trees', '--eta=9', '--max_depth=-1')
        self.assertEqual((outcome.code, len(outcome.err.splitlines())), (2, 3), outcome.err)

    def test_a_missing_library_is_named(self):
        empty = support.virtualenv('algorithms-empty')
        outcome = self.run_program(empty, 'boosted_trees', '--preprocess', '--training_data_path=x.csv')
        self.assertEqual(outcome.code, 1)
        self.assertIn('numpy is missing', outcome.err)
        self.assertIn('pip install numpy', outcome.err)

    def test_algorithms_that_cannot_run_say_why(self):
        for image in ('image_object_detection', 'bert', 'ncf'):
            outcome = self.run_program(self.python, image)
            self.assertEqual((outcome.code, len(outcome.err.splitlines())), (1, 1), outcome.err)
            self.assertIn('The job cannot run here.', outcome.err)


if __name__ == '__main__':
    support.main()
