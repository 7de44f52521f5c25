"""The SavedModel: its signature takes the features as a CSV text, and does in the graph what encoding.Arrays does."""


def save_model(tensorflow, model, metadata, directory):
    """`metadata`: of the input, with all its columns."""
    serving = _Serving(tensorflow, model, metadata)
    module = tensorflow.Module()
    module.model, module.tables = model.module, serving.tables
    text = tensorflow.TensorSpec([None], tensorflow.string)

    @tensorflow.function(input_signature=[tensorflow.TensorSpec(text.shape, text.dtype, "csv_row"),
                                          tensorflow.TensorSpec(text.shape, text.dtype, "key")])
    def serve(csv_row, key):
        return dict(serving.outputs(csv_row), key=key)
    module.serve = serve
    tensorflow.saved_model.save(module, directory, signatures={"serving_default": serve})


class _Serving:
    def __init__(self, tensorflow, model, metadata):
        self._tf, self._model, self._metadata = tensorflow, model, metadata
        self.tables = [self._table(one) for one in metadata.categorical]

    def _table(self, feature):
        lookup = self._tf.lookup
        texts = feature.categories or [""]
        numbers = self._tf.range(len(texts), dtype=self._tf.int64)
        if not feature.categories:
            numbers = self._tf.constant([feature.width], self._tf.int64)
        return lookup.StaticHashTable(lookup.KeyValueTensorInitializer(self._tf.constant(texts), numbers), feature.width)

    def outputs(self, csv_row):
        tf, metadata = self._tf, self._metadata
        cells = tf.io.decode_csv(csv_row, [[""]] * (metadata.columns - 1))
        cells = [tf.strings.strip(one) for one in cells]
        numbers = [self._number(cells[one.place - 1], one) for one in metadata.numeric]
        codes = [self._code(cells[one.place - 1], table) for one, table in zip(metadata.categorical, self.tables)]
        count = tf.shape(csv_row)[0]
        numbers = tf.stack(numbers, 1) if numbers else tf.zeros([count, 0])
        codes = tf.stack(codes, 1) if codes else tf.zeros([count, 0], tf.int32)
        scores = self._model.scores(numbers, codes, False)
        if not metadata.classes:
            return {"predictions": scores[:, 0]}
        return {"classes": tf.gather(tf.constant(metadata.classes), tf.argmax(scores, axis=1)),
                "scores": tf.nn.softmax(scores)}

    def _number(self, cell, feature):
        tf = self._tf
        text = tf.where(cell == "", repr(float(feature.mean)), cell)
        value = (tf.strings.to_number(text, tf.float64) - feature.mean) / feature.deviation
        return tf.cast(feature_transform(tf, value, feature), tf.float32)

    def _code(self, cell, table):
        tf = self._tf
        return tf.cast(table.lookup(tf.where(cell == "", "missing", cell)), tf.int32)


def feature_transform(tensorflow, value, feature):
    """The transformation of Yeo and Johnson, where the feature has one."""
    power = feature.power
    if power is None:
        return value
    tf = tensorflow
    above, below = tf.maximum(value, 0.0), tf.maximum(-value, 0.0)
    raised = tf.math.log1p(above) if abs(power) < 1e-9 else (tf.pow(above + 1, power) - 1) / power
    other = 2 - power
    lowered = tf.math.log1p(below) if abs(other) < 1e-9 else (tf.pow(below + 1, other) - 1) / other
    return (raised - lowered - feature.center) / feature.spread
