"""TabNet, from its paper (Arik and Pfister, arxiv.org/abs/1908.07442)."""
import numpy as np

from .linear_models import Model
from .tensorflow_data import Rows

EPSILON = 1e-5
# Batch renormalization: after WARM_UP steps, the bounds of its corrections grow for GROWTH steps.
WARM_UP, GROWTH = 200, 800
RATIO_MOST, SHIFT_MOST = 3.0, 5.0
SAMPLE = 100_000  # rows from which a transformation is chosen
POWERS = np.arange(-2.0, 4.01, 0.1)


def sparsemax(tf, values):
    """The projection onto the simplex (Martins and Astudillo, arxiv.org/abs/1602.02068)."""
    ordered = tf.sort(values, axis=1, direction="DESCENDING")
    sums = tf.cumsum(ordered, axis=1)
    ranks = tf.range(1.0, tf.cast(tf.shape(values)[1], tf.float32) + 1)
    support = tf.reduce_sum(tf.cast(1 + ranks * ordered > sums, tf.int32), axis=1)
    chosen = tf.gather(sums, support - 1, batch_dims=1)
    return tf.maximum(values - ((chosen - 1) / tf.cast(support, tf.float32))[:, None], 0)


class GhostNormalization:
    """Batch normalization over parts of a batch. With the default settings a part has 25 rows, whose means and deviations are
    far from those that predictions use: batch renormalization (Ioffe, arxiv.org/abs/1702.03275) corrects the difference."""

    def __init__(self, tf, module, width, rows, momentum):
        self._tf, self._rows, self._momentum, self._module = tf, rows, momentum, module
        self.scale = tf.Variable(tf.ones([width]))
        self.shift = tf.Variable(tf.zeros([width]))
        self._mean = tf.Variable(tf.zeros([width]), trainable=False)
        self._variance = tf.Variable(tf.ones([width]), trainable=False)
        module.kept += [self.scale, self.shift, self._mean, self._variance]
        module.learned += [self.scale, self.shift]

    def __call__(self, values, is_training):
        tf = self._tf
        if not is_training:
            return tf.nn.batch_normalization(values, self._mean, self._variance, self.shift, self.scale, EPSILON)
        count, width = values.shape
        rows = self._rows if count % self._rows == 0 else count
        parts = tf.reshape(values, [-1, rows, width])
        mean, variance = tf.nn.moments(parts, axes=[1], keepdims=True)
        for kept, new in ((self._mean, mean), (self._variance, variance)):
            kept.assign(kept * self._momentum + tf.reduce_mean(new, axis=[0, 1]) * (1 - self._momentum))
        normal = tf.nn.batch_normalization(parts, mean, variance, None, None, EPSILON)
        ratio, shift = self._corrections(mean, variance)
        return tf.reshape((normal * ratio + shift) * self.scale + self.shift, [-1, width])

    def _corrections(self, mean, variance):
        """A factor and a summand that make the normal values of a part those of a prediction, within bounds."""
        tf = self._tf
        grown = tf.clip_by_value((self._module.steps - WARM_UP) / GROWTH, 0.0, 1.0)
        ratio_most, shift_most = 1 + (RATIO_MOST - 1) * grown, SHIFT_MOST * grown
        deviation = tf.sqrt(self._variance + EPSILON)
        ratio = tf.clip_by_value(tf.sqrt(variance + EPSILON) / deviation, 1 / ratio_most, ratio_most)
        shift = tf.clip_by_value((mean - self._mean) / deviation, -shift_most, shift_most)
        return tf.stop_gradient(ratio), tf.stop_gradient(shift)


class TabNet(Model):
    def __init__(self, tensorflow, arguments, metadata):
        super().__init__(tensorflow, metadata)
        self._arguments = arguments
        self.module.kept, self.module.learned = [], []
        self.module.steps = tensorflow.Variable(0.0, trainable=False)
        self._rows = max(int(round(arguments.batch_size * arguments.batch_size_ratio)), 1)
        dims = [arguments.large_category_dim if one.width >= arguments.large_category_thresh else 1
                for one in metadata.categorical]
        self._embeddings = [self._weights(one.width + 1, dim) for one, dim in zip(metadata.categorical, dims)]
        self._width = len(metadata.numeric) + sum(dims)
        self._out = max(min(int(round(arguments.feature_dim * arguments.feature_dim_ratio)), arguments.feature_dim - 1), 1)
        self._make_layers()

    def _weights(self, rows, columns):
        random = self._tf.keras.initializers.GlorotUniform(seed=len(self.module.kept) + 1)
        made = self._tf.Variable(random([rows, columns]))
        self.module.kept.append(made)
        self.module.learned.append(made)
        return made

    def _normal(self, width):
        return GhostNormalization(self._tf, self.module, width, self._rows, self._arguments.batch_momentum)

    def _make_layers(self):
        arguments = self._arguments
        dim, layers = arguments.feature_dim, arguments.num_transformer_layers
        shared = int(round(layers * arguments.num_transformer_layers_ratio))
        widths = [self._width] + [dim] * (layers - 1)
        common = [self._weights(width, 2 * dim) for width in widths[:shared]]
        self._first = GhostNormalization(self._tf, self.module, self._width, arguments.batch_size,
                                         arguments.batch_momentum)  # the paper: input features need whole batches
        self._steps, self._attention = [], []
        for _ in range(arguments.num_decision_steps):
            own = [self._weights(width, 2 * dim) for width in widths[shared:]]
            self._steps.append([(weights, self._normal(2 * dim)) for weights in common + own])
        for _ in range(arguments.num_decision_steps - 1):
            self._attention.append((self._weights(max(dim - self._out, 1), self._width), self._normal(self._width)))
        self._last = self._weights(self._out, self.outputs)

    def build(self, rows):
        tf, arguments = self._tf, self._arguments
        rate = tf.keras.optimizers.schedules.ExponentialDecay(arguments.learning_rate, arguments.decay_every,
                                                              arguments.decay_rate)
        self.groups = [(tf.keras.optimizers.Adam(rate), self.module.learned)]
        super().build(rows)

    def _transformed(self, values, layers, is_training):
        """The feature transformer: gated linear units with residual connections."""
        tf, dim = self._tf, self._arguments.feature_dim
        for i, (weights, normal) in enumerate(layers):
            linear = normal(tf.matmul(values, weights), is_training)
            gated = linear[:, :dim] * tf.sigmoid(linear[:, dim:])
            values = (values + gated) * np.sqrt(0.5).astype(np.float32) if i else gated
        return values

    def scores(self, numbers, codes, is_training):
        tf, arguments = self._tf, self._arguments
        if is_training:
            self.module.steps.assign_add(1.0)
        found = [numbers] + [tf.gather(one, codes[:, i]) for i, one in enumerate(self._embeddings)]
        features = self._first(tf.concat(found, axis=1), is_training)
        masked, prior, total, self._entropy = features, tf.ones_like(features), 0.0, 0.0
        for step in range(arguments.num_decision_steps):
            values = self._transformed(masked, self._steps[step], is_training)
            if step or arguments.num_decision_steps == 1:
                total += tf.nn.relu(values[:, :self._out])
            if step == arguments.num_decision_steps - 1:
                break
            weights, normal = self._attention[step]
            attended = values[:, self._out:] if arguments.feature_dim > 1 else values
            mask = sparsemax(tf, normal(tf.matmul(attended, weights), is_training) * prior)
            prior *= arguments.relaxation_factor - mask
            self._entropy += tf.reduce_mean(tf.reduce_sum(-mask * tf.math.log(mask + EPSILON), axis=1))
            masked = mask * features
        return tf.matmul(total, self._last)

    def training_loss(self, targets, scores):
        """With the term that makes the masks sparse."""
        steps = max(self._arguments.num_decision_steps - 1, 1)
        return self.loss(targets, scores) + self._arguments.sparsity_loss_weight * self._entropy / steps

    def loss(self, targets, scores):
        tf, arguments = self._tf, self._arguments
        kind = arguments.loss_function_type or ("cross_entropy" if self._is_classification else "mse")
        if not self._is_classification:
            error = tf.cast(targets, tf.float32) - scores[:, 0]
            if kind == "mae":
                return tf.reduce_mean(tf.abs(error))
            square = tf.reduce_mean(tf.square(error))
            return tf.sqrt(square + 1e-12) if kind == "rmse" else square
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=scores)
        others = tf.cast(targets > 0, tf.float32)  # all classes but the first
        if kind == "weighted_cross_entropy":
            losses *= 1 + others * (arguments.class_weight - 1)
        if kind == "focal_loss":
            alpha = others * arguments.alpha_focal_loss + (1 - others) * (1 - arguments.alpha_focal_loss)
            losses *= alpha * tf.pow(1 - tf.exp(-losses), arguments.gamma_focal_loss)
        return tf.reduce_mean(losses)

    def apply(self, tape, loss):
        bound = self._arguments.gradient_thresh
        for one, variables in self.groups:
            found = tape.gradient(loss, variables, unconnected_gradients=self._tf.UnconnectedGradients.ZERO)
            found = [self._tf.clip_by_value(self._tf.convert_to_tensor(gradient), -bound, bound) for gradient in found]
            one.apply_gradients(zip(found, variables))


def transform(metadata, parts):
    """The power transformation of Yeo and Johnson for each numeric feature, fitted to the training part."""
    for i, feature in enumerate(metadata.numeric):
        sample = parts[0].numbers[:SAMPLE, i].astype(np.float64)
        feature.power = float(max(POWERS, key=lambda power: _likelihood(sample, power)))
        values = _raised(sample, feature.power)
        feature.center, feature.spread = float(values.mean()), float(values.std()) or 1.0
    return [Rows(_all_raised(part.numbers, metadata.numeric), part.codes, part.targets) if part else None for part in parts]


def _all_raised(numbers, features):
    columns = [(_raised(numbers[:, i].astype(np.float64), one.power) - one.center) / one.spread
               for i, one in enumerate(features)]
    return np.stack(columns, 1).astype(np.float32) if columns else numbers


def _raised(values, power):
    above, below, other = np.maximum(values, 0), np.maximum(-values, 0), 2 - power
    raised = np.log1p(above) if abs(power) < 1e-9 else ((above + 1) ** power - 1) / power
    return raised - (np.log1p(below) if abs(other) < 1e-9 else ((below + 1) ** other - 1) / other)


def _likelihood(values, power):
    variance = _raised(values, power).var()
    if not variance or not np.isfinite(variance):
        return -np.inf
    return -0.5 * len(values) * np.log(variance) + (power - 1) * np.sum(np.sign(values) * np.log1p(np.abs(values)))
