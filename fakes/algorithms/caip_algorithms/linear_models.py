"""Linear learner, and wide and deep."""
import math

from .report import Failure, warning


def optimizer(tensorflow, arguments, prefix, rate):
    """Of Keras, from the arguments with this prefix."""
    kind = getattr(arguments, prefix + "optimizer_type")
    optimizers = tensorflow.keras.optimizers
    if kind == "adam":
        return optimizers.Adam(rate, beta_1=getattr(arguments, prefix + "beta_1"),
                               beta_2=getattr(arguments, prefix + "beta_2"))
    if kind == "sgd":
        return optimizers.SGD(rate)
    return optimizers.Ftrl(rate, l1_regularization_strength=getattr(arguments, prefix + "l1_regularization_strength"),
                           l2_regularization_strength=getattr(arguments, prefix + "l2_regularization_strength"),
                           l2_shrinkage_regularization_strength=getattr(
                               arguments, prefix + "l2_shrinkage_regularization_strength"))


class Model:
    """What tensorflow_trainer.train asks for. `groups` are pairs of an optimizer and its variables."""

    def __init__(self, tensorflow, metadata):
        self._tf = tensorflow
        self.outputs = len(metadata.classes) if metadata.classes else 1
        self._is_classification = bool(metadata.classes)
        self.module = tensorflow.Module()
        self.groups = []

    def build(self, rows):
        """Makes the variables of the optimizers, so that a checkpoint can be restored."""
        self.module.optimizers = [one for one, _ in self.groups]
        for one, variables in self.groups:
            one.build(variables)

    def loss(self, targets, scores):
        tf = self._tf
        if self._is_classification:
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=scores))
        return tf.reduce_mean(tf.square(tf.cast(targets, tf.float32) - scores[:, 0]))

    def training_loss(self, targets, scores):
        return self.loss(targets, scores)

    def apply(self, tape, loss):
        for one, variables in self.groups:
            gradients = tape.gradient(loss, variables)
            one.apply_gradients([pair for pair in zip(gradients, variables) if pair[0] is not None])


class Wide:
    """A weight for each number and for each category, the unknown one included."""

    def __init__(self, tensorflow, module, metadata, outputs, has_numbers):
        tf = self._tf = tensorflow
        widths = [one.width + 1 for one in metadata.categorical]
        self._offsets = [sum(widths[:i]) for i in range(len(widths))]
        self._has_numbers = has_numbers
        module.bias = tf.Variable(tf.zeros([outputs]), name="bias")
        self.variables = [module.bias]
        if has_numbers and metadata.numeric:
            module.numbers = tf.Variable(tf.zeros([len(metadata.numeric), outputs]), name="numbers")
            self.variables.append(module.numbers)
        if widths:
            module.categories = tf.Variable(tf.zeros([sum(widths), outputs]), name="categories")
            self.variables.append(module.categories)
        self._module = module

    def scores(self, numbers, codes):
        tf, module = self._tf, self._module
        total = tf.zeros([tf.shape(numbers)[0], 1]) + module.bias
        if hasattr(module, "numbers"):
            total += tf.matmul(numbers, module.numbers)
        if self._offsets:
            total += tf.reduce_sum(tf.gather(module.categories, codes + tf.constant(self._offsets)), axis=1)
        return total


class Linear(Model):
    def __init__(self, tensorflow, arguments, metadata):
        super().__init__(tensorflow, metadata)
        self._wide = Wide(tensorflow, self.module, metadata, self.outputs, True)
        self.groups = [(optimizer(tensorflow, arguments, "", arguments.learning_rate), self._wide.variables)]

    def scores(self, numbers, codes, is_training):
        return self._wide.scores(numbers, codes)


class WideDeep(Model):
    """A network over the numbers and, with --embed_categories, the categories; with --use_wide beside weights of the
    categories."""

    def __init__(self, tensorflow, arguments, metadata):
        super().__init__(tensorflow, metadata)
        tf, self._embeddings, self._wide = tensorflow, [], None
        keras = tensorflow.keras
        if arguments.use_wide:
            self._wide = Wide(tf, self.module, metadata, self.outputs, False)
            self.groups.append((optimizer(tf, arguments, "", arguments.learning_rate), self._wide.variables))
        if not (metadata.numeric or arguments.embed_categories):
            raise Failure("All columns are categorical, and the network would have no input. Set --embed_categories.")
        if metadata.categorical and not (arguments.use_wide or arguments.embed_categories):
            warning("The categorical columns are not used. Set --use_wide or --embed_categories.")
        if arguments.embed_categories:
            self._embeddings = [keras.layers.Embedding(one.width + 1, max(round(math.sqrt(one.width)), 1))
                                for one in metadata.categorical]
        self._layers = []
        for units in arguments.hidden_units:
            self._layers.append(keras.layers.Dense(units, activation="relu"))
            if arguments.dnn_dropout:
                self._layers.append(keras.layers.Dropout(arguments.dnn_dropout))
        self._layers.append(keras.layers.Dense(self.outputs))
        self.module.layers = self._layers + self._embeddings
        self._optimizer = optimizer(tf, arguments, "dnn_", arguments.dnn_learning_rate)

    def build(self, rows):
        self.scores(rows.numbers[:1], rows.codes[:1], False)
        variables = [one for layer in self.module.layers for one in layer.trainable_variables]
        self.groups.append((self._optimizer, variables))
        super().build(rows)

    def scores(self, numbers, codes, is_training):
        tf = self._tf
        found = [numbers] + [layer(codes[:, i]) for i, layer in enumerate(self._embeddings)]
        values = tf.concat(found, axis=1)
        for layer in self._layers:
            values = layer(values, training=is_training) if isinstance(layer, tf.keras.layers.Dropout) else layer(values)
        return values if self._wide is None else values + self._wide.scores(numbers, codes)
